/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.nio;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assertions.fail;

import java.io.InputStream;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.net.SocketTimeoutException;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.AlreadyBoundException;
import java.nio.channels.AsynchronousCloseException;
import java.nio.channels.ClosedByInterruptException;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.NotYetBoundException;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.channels.spi.SelectorProvider;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/**
 * One thread waits in a channel, another waits for that one, to change the mode or to bind; and a third is not held up,
 * least of all in a close.
 */
abstract class ContentionSuite extends NioSuite {

    @Test
    void shouldCloseWhileAReaderHoldsUpAChangeOfMode() throws Exception {
        Pair p = pair();
        Failing reader = new Failing(() -> p.client().read(bytes(1)));
        Failing changer = new Failing(() -> p.client().configureBlocking(false));
        get(background(p.client()::close));
        assertFails(AsynchronousCloseException.class, reader);
        assertFails(ClosedChannelException.class, changer);
        assertEquals(-1, p.server().read(bytes(1)));
    }

    @Test
    void shouldCloseWhileAnAcceptedReaderHoldsUpAChangeOfMode() throws Exception {
        Pair p = pair();
        Failing reader = new Failing(() -> p.server().read(bytes(1)));
        Failing changer = new Failing(() -> p.server().configureBlocking(false));
        get(background(p.server()::close));
        assertFails(AsynchronousCloseException.class, reader);
        assertFails(ClosedChannelException.class, changer);
    }

    @Test
    void shouldCloseWhileAWriterHoldsUpAChangeOfMode() throws Exception {
        for (int i = 0; i < 50; i++) {
            if (closedDuringAWriteThatHeldUpAChangeOfMode()) {
                return;
            }
        }
        fail("no write stood still until the close");
    }

    /**
     * A kernel may find some room after all. Between two writes nobody holds anything up, and the write that begins
     * after the close fails as any on a closed channel.
     *
     * @return false if that was so, which says nothing
     */
    private boolean closedDuringAWriteThatHeldUpAChangeOfMode() throws Exception {
        Pair p = pair();
        full(p.client());
        AtomicInteger begun = new AtomicInteger();
        Failing writer = new Failing(() -> {
            while (true) {
                begun.incrementAndGet();
                p.client().write(bytes(1)); // of one byte none is written when it waits
            }
        });
        int last = begun.get();
        awaitWaiting(writer.thread); // in this write, if no other begins until the end
        Failing changer = new Failing(() -> p.client().configureBlocking(false));
        get(background(p.client()::close));
        Throwable thrown = writer.join();
        if (begun.get() != last) {
            assertTrue(thrown instanceof ClosedChannelException, String.valueOf(thrown));
            return false;
        }
        assertFails(AsynchronousCloseException.class, writer);
        assertFails(ClosedChannelException.class, changer);
        return true;
    }

    @Test
    void shouldCloseWhileAStreamReaderHoldsUpAChangeOfMode() throws Exception {
        for (int timeout : new int[] {0, 60_000}) {
            Pair p = pair();
            p.client().socket().setSoTimeout(timeout);
            InputStream in = p.client().socket().getInputStream();
            Failing reader = new Failing(in::read);
            Failing changer = new Failing(() -> p.client().configureBlocking(false));
            get(background(p.client().socket()::close));
            assertFails(AsynchronousCloseException.class, reader);
            assertFails(ClosedChannelException.class, changer);
        }
    }

    @Test
    void shouldInterruptAReaderThatHoldsUpAChangeOfMode() throws Exception {
        Pair p = pair();
        Failing reader = new Failing(() -> p.client().read(bytes(1)));
        Failing changer = new Failing(() -> p.client().configureBlocking(false));
        reader.thread.interrupt();
        assertFails(ClosedByInterruptException.class, reader);
        assertFails(ClosedChannelException.class, changer);
    }

    @Test
    void shouldAnswerWhileAReaderHoldsUpAChangeOfMode() throws Exception {
        Pair p = pair();
        byte[] got = new byte[1];
        Failing reader = new Failing(() -> p.client().read(ByteBuffer.wrap(got)));
        Failing changer = new Failing(() -> p.client().configureBlocking(false));
        get(background(() -> {
            assertTrue(p.client().isConnected());
            assertTrue(p.client().isBlocking());
            assertEquals(p.server().getLocalAddress(), p.client().getRemoteAddress());
            assertEquals(p.server().getLocalAddress(), p.client().socket().getRemoteSocketAddress());
            p.client().setOption(StandardSocketOptions.SO_KEEPALIVE, true);
            p.client().write(text("w"));
            p.client().shutdownOutput();
        }));
        assertEquals("w", read(p.server(), 1));
        p.server().write(ByteBuffer.wrap(new byte[] {7}));
        assertSame(null, reader.join());
        assertEquals(7, got[0]);
        assertSame(null, changer.join());
        assertFalse(p.client().isBlocking());
        assertEquals(0, p.client().read(ByteBuffer.allocate(1)));
    }

    @Test
    void shouldCloseAListenerWhileAnAcceptHoldsUpAChangeOfMode() throws Exception {
        for (int timeout : new int[] {0, 60_000}) {
            ServerSocketChannel listener = listening();
            listener.socket().setSoTimeout(timeout);
            Failing acceptor = new Failing(
                    timeout == 0 ? listener::accept : () -> listener.socket().accept());
            Failing changer = new Failing(() -> listener.configureBlocking(false));
            get(background(listener::close));
            assertFails(AsynchronousCloseException.class, acceptor);
            assertFails(ClosedChannelException.class, changer);
        }
    }

    @Test
    void shouldAnswerWhileAnAcceptHoldsUpAChangeOfMode() throws Exception {
        ServerSocketChannel listener = listening();
        SocketChannel[] accepted = new SocketChannel[1];
        Failing acceptor = new Failing(() -> accepted[0] = closing(listener.accept()));
        Failing changer = new Failing(() -> listener.configureBlocking(false));
        SocketChannel client = open();
        get(background(() -> {
            assertTrue(listener.isBlocking());
            assertFails(AlreadyBoundException.class, new Failing(() -> listener.bind(anyPort())));
            listener.setOption(StandardSocketOptions.SO_RCVBUF, 65536);
            client.connect(listener.socket().getLocalSocketAddress());
        }));
        assertSame(null, acceptor.join());
        assertEquals(client.getLocalAddress(), accepted[0].getRemoteAddress());
        assertSame(null, changer.join());
        assertFalse(listener.isBlocking());
        assertSame(null, listener.accept());
    }

    @Test
    void shouldCloseWhileAConnectHoldsUpABind() throws Exception {
        SocketChannel client = open();
        InetSocketAddress silent = SilentPort.address();
        Failing connecting = new Failing(() -> client.connect(silent));
        Failing binding = new Failing(() -> client.bind(anyPort()));
        get(background(client::close));
        assertFails(AsynchronousCloseException.class, connecting);
        assertFails(ClosedChannelException.class, binding);
    }

    @Test
    void shouldReadAndWriteOnceAConnectThatIsUnderWayIsDone() throws Exception {
        SelectorProvider plain = NioKind.plainProvider();
        try (ServerSocketChannel full = plain.openServerSocketChannel().bind(anyPort(), 1)) {
            fill(full);
            SocketChannel client = open().bind(anyPort());
            SocketAddress address = client.getLocalAddress();
            byte[] got = new byte[1];
            Failing connecting = new Failing(() -> client.connect(full.getLocalAddress()));
            Failing reader = new Failing(() -> client.read(ByteBuffer.wrap(got)));
            Failing writer = new Failing(() -> client.write(text("b")));
            Future<String> served = background(() -> {
                SocketChannel accepted;
                do {
                    accepted = closing(full.accept());
                } while (!accepted.getRemoteAddress().equals(address));
                accepted.write(text("a"));
                return read(accepted, 1);
            });
            assertSame(null, connecting.join());
            assertSame(null, reader.join());
            assertSame(null, writer.join());
            assertEquals('a', got[0]);
            assertEquals("b", get(served));
        }
    }

    /** Until one more has to wait. */
    private void fill(ServerSocketChannel server) throws Exception {
        for (int i = 0; i < 100; i++) {
            SocketChannel one = closing(NioKind.plainProvider().openSocketChannel());
            try {
                one.socket().connect(server.getLocalAddress(), 500);
            } catch (SocketTimeoutException e) {
                return;
            }
        }
        throw new AssertionError("the backlog of " + server + " does not fill up");
    }

    @Test
    void shouldBindWhileAnotherTriesToAccept() throws Exception {
        for (int i = 0; i < 40; i++) {
            ServerSocketChannel listener = openServer();
            CountDownLatch tried = new CountDownLatch(1);
            Failing acceptor = new Failing(
                    () -> {
                        while (true) {
                            try {
                                listener.accept();
                            } catch (NotYetBoundException e) {
                                tried.countDown();
                            }
                        }
                    },
                    tried);
            get(background(() -> listener.bind(anyPort())));
            get(background(listener::close));
            assertTrue(acceptor.join() instanceof ClosedChannelException, String.valueOf(acceptor.thrown));
        }
    }
}
