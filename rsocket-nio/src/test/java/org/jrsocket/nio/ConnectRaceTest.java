/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.nio;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrowsExactly;

import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.AsynchronousCloseException;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.jrsocket.connect.OutgoingConnection;
import org.jrsocket.stream.RdmaStream;
import org.jrsocket.stream.StreamConfig;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * A non-blocking connect is decided by one thread while another asks for the outcome: whoever is first, there is one
 * connection.
 */
@Tag("slow")
@Tag("once")
class ConnectRaceTest extends LoopbackChannelTests {

    private static final int ROUNDS = 600;

    /**
     * Connects without ever leaving the outcome alone; a connection too many would be accepted in the next round, and
     * have nothing to read.
     */
    private void connectAgainAndAgain() throws Exception {
        ServerSocketChannel server = listening();
        for (int i = 0; i < ROUNDS; i++) {
            try (SocketChannel client = kind.provider().openSocketChannel()) {
                client.configureBlocking(false);
                client.connect(server.getLocalAddress());
                while (!client.finishConnect()) {
                    Thread.onSpinWait();
                }
                client.configureBlocking(true);
                try (SocketChannel accepted = server.accept()) {
                    client.write(ByteBuffer.allocate(1));
                    assertEquals(1, accepted.read(ByteBuffer.allocate(1)));
                    kind.check(client);
                    kind.check(accepted);
                }
            }
        }
        kind.assertUsed(0);
    }

    private static final class NoTcp implements OutgoingConnection.Tcp {

        @Override
        public boolean connect(int millis) {
            throw new AssertionError("RDMA connects");
        }

        @Override
        public InetSocketAddress localAddress() {
            throw new AssertionError("RDMA connects");
        }
    }

    /** What happens when {@code finishConnect} comes between the decision and the one who decided. */
    @Test
    void shouldNotTakeAConnectionThatIsGoneForOneThatFailed() throws Exception {
        InetSocketAddress server = (InetSocketAddress) listening().getLocalAddress();
        OutgoingConnection connect = ((RSelectorProvider) kind.provider())
                .services()
                .context()
                .connector()
                .connect(null, server, StreamConfig.DEFAULT, 0, new NoTcp());
        CompletableFuture<Boolean> needsTcp = new CompletableFuture<>();
        connect.start(() -> {
            RdmaStream stream = connect.takeStream();
            needsTcp.complete(connect.needsTcp());
            stream.close();
        });
        assertFalse(needsTcp.get(60, TimeUnit.SECONDS));
        assertFalse(connect.isLeftToTcp());
    }

    @Test
    void shouldConnectOnceOverRdma() throws Exception {
        connectAgainAndAgain();
    }

    @Test
    void shouldConnectOnceOverTcpWhereRdmaIsRefused() throws Exception {
        use(NioKind.fallback());
        connectAgainAndAgain();
    }

    /** What happens when a close comes while {@code finishConnect} looks at the outcome. */
    @Test
    void shouldSayThatItIsClosedWhenTheCloseWasTheOutcome() throws Exception {
        InetSocketAddress nobody = SilentPort.address();
        kind.silence(nobody);
        RSocketChannel client = (RSocketChannel) nonBlocking(open());
        client.connect(nobody);
        OutgoingConnection pending = client.connecting().pending();
        client.close();
        while (!pending.isDecided()) {
            Thread.onSpinWait();
        }
        assertThrowsExactly(
                AsynchronousCloseException.class, () -> client.connecting().finish(pending));
    }
}
