/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.aio;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.net.SocketOption;
import java.net.StandardSocketOptions;
import java.nio.channels.AsynchronousServerSocketChannel;
import java.nio.channels.AsynchronousSocketChannel;
import java.nio.channels.ClosedChannelException;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Options of sockets. */
abstract class AioOptionSuite extends AioSuite {

    @Test
    void shouldHaveTheOptionsOfTheJdk() throws Exception {
        var jdk = AioKind.plainProvider();
        try (AsynchronousSocketChannel client = jdk.openAsynchronousSocketChannel(null);
                AsynchronousServerSocketChannel server = jdk.openAsynchronousServerSocketChannel(null)) {
            assertEquals(client.supportedOptions(), open().supportedOptions());
            assertEquals(server.supportedOptions(), openServer(null).supportedOptions());
            Pair pair = pair();
            assertEquals(client.supportedOptions(), pair.server().supportedOptions());
        }
    }

    @Test
    void shouldKeepOptions() throws Exception {
        Pair pair = pair();
        for (AsynchronousSocketChannel channel : List.of(open(), pair.client(), pair.server())) {
            for (boolean on : new boolean[] {true, false}) {
                channel.setOption(StandardSocketOptions.TCP_NODELAY, on)
                        .setOption(StandardSocketOptions.SO_KEEPALIVE, on)
                        .setOption(StandardSocketOptions.SO_REUSEADDR, on);
                assertEquals(on, channel.getOption(StandardSocketOptions.TCP_NODELAY));
                assertEquals(on, channel.getOption(StandardSocketOptions.SO_KEEPALIVE));
                assertEquals(on, channel.getOption(StandardSocketOptions.SO_REUSEADDR));
            }
            for (SocketOption<Integer> size :
                    List.of(StandardSocketOptions.SO_RCVBUF, StandardSocketOptions.SO_SNDBUF)) {
                int before = channel.getOption(size);
                channel.setOption(size, 65536);
                int now = channel.getOption(size);
                boolean settled = kind().isRdma() && channel.getRemoteAddress() != null; // when it connected
                assertTrue(settled ? now == before : now >= 65536, size + ": " + before + ", then " + now);
            }
        }
        AsynchronousServerSocketChannel server = openServer(null);
        server.setOption(StandardSocketOptions.SO_RCVBUF, 65536).setOption(StandardSocketOptions.SO_REUSEADDR, false);
        assertFalse(server.getOption(StandardSocketOptions.SO_REUSEADDR));
    }

    @Test
    void shouldRefuseOptionsItDoesNotHave() throws Exception {
        AsynchronousSocketChannel client = open();
        assertThrows(UnsupportedOperationException.class, () -> client.setOption(StandardSocketOptions.SO_LINGER, 1));
        assertThrows(UnsupportedOperationException.class, () -> client.getOption(StandardSocketOptions.SO_LINGER));
        assertThrows(UnsupportedOperationException.class, () -> client.getOption(StandardSocketOptions.IP_TOS));
        assertThrows(NullPointerException.class, () -> client.setOption(null, 1));
        AsynchronousServerSocketChannel server = openServer(null);
        assertThrows(
                UnsupportedOperationException.class, () -> server.setOption(StandardSocketOptions.TCP_NODELAY, true));
        client.close();
        server.close();
        assertThrows(ClosedChannelException.class, () -> client.setOption(StandardSocketOptions.TCP_NODELAY, true));
        assertThrows(ClosedChannelException.class, () -> client.getOption(StandardSocketOptions.TCP_NODELAY));
        assertThrows(ClosedChannelException.class, () -> server.getOption(StandardSocketOptions.SO_RCVBUF));
    }

    @Test
    void shouldSetNoOptionsAfterItsOutputWasShut() throws Exception {
        Pair pair = pair();
        pair.client().shutdownOutput();
        assertThrows(IOException.class, () -> pair.client().setOption(StandardSocketOptions.TCP_NODELAY, true));
        pair.client().getOption(StandardSocketOptions.TCP_NODELAY);
    }
}
