/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.nio;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.channels.AsynchronousCloseException;
import java.nio.channels.ClosedByInterruptException;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.HashSet;
import java.util.Set;
import org.jrsocket.connect.TcpReason;
import org.jrsocket.verbs.loopback.Reachability;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Channels that wait for what another one hears of a host of which nothing is known. */
@Timeout(60)
class ManyConnectsAtOnceTest {

    private static final int COUNT = 200;

    private NioKind.OverLoopback kind;
    private InetAddress silent;

    private void open(String settings) throws Exception {
        kind = new NioKind.OverLoopback("policy=auto," + settings, NioKind.rules("bind * * tcp\n"));
        silent = InetAddress.getByName("127.0.0.2");
        kind.verbs.place(silent, Reachability.SILENT);
    }

    @AfterEach
    void everythingIsGivenBack() throws IOException {
        kind.close();
    }

    private SocketChannel connecting(int port) throws IOException {
        SocketChannel client = kind.provider().openSocketChannel();
        client.configureBlocking(false);
        assertFalse(client.connect(new InetSocketAddress(silent, port)));
        return client;
    }

    @Test
    void shouldSelectAllThatGoToASilentHostAfterOneHasAsked() throws Exception {
        open("connect.timeout=200ms");
        Set<SocketChannel> clients = new HashSet<>();
        try (ServerSocketChannel listener =
                        kind.provider().openServerSocketChannel().bind(new InetSocketAddress(silent, 0), 2 * COUNT);
                Selector selector = kind.provider().openSelector()) {
            int port = listener.socket().getLocalPort();
            for (int i = 0; i < COUNT; i++) {
                SocketChannel client = kind.provider().openSocketChannel();
                clients.add(client);
                client.configureBlocking(false);
                client.connect(new InetSocketAddress(silent, port));
                client.register(selector, SelectionKey.OP_CONNECT);
            }
            Set<SocketChannel> connected = new HashSet<>();
            while (connected.size() < COUNT) {
                selector.select(key -> connected.add(finished(key)));
            }
            assertEquals(clients, connected);
            for (SocketChannel each : connected) {
                assertNull(((RSocketChannel) each).stream());
            }
        } finally {
            for (SocketChannel client : clients) {
                client.close();
            }
        }
        assertEquals(1, kind.verbs.qpsMade());
        assertEquals(
                COUNT,
                kind.context.counts().tcpChosen(TcpReason.TIMEOUT)
                        + kind.context.counts().tcpChosen(TcpReason.REMEMBERED));
    }

    private static SocketChannel finished(SelectionKey key) {
        SocketChannel channel = (SocketChannel) key.channel();
        try {
            key.interestOps(0);
            assertTrue(channel.isConnected() || channel.finishConnect());
        } catch (IOException e) {
            throw new AssertionError(e);
        }
        return channel;
    }

    @Test
    void shouldCloseOneThatWaits() throws Exception {
        open("connect.timeout=1h");
        try (SocketChannel first = connecting(9)) {
            connecting(9).close();
            SocketChannel blocking = kind.provider().openSocketChannel();
            NioSuite.Failing connecting =
                    new NioSuite.Failing(() -> blocking.connect(new InetSocketAddress(silent, 9)));
            NioSuite.pause(30);
            blocking.close();
            assertInstanceOf(AsynchronousCloseException.class, connecting.join());
            assertFalse(first.finishConnect());
        }
        assertTrue(kind.verbs.qpsMade() <= 1);
    }

    @Test
    void shouldInterruptOneThatWaits() throws Exception {
        open("connect.timeout=1h");
        try (SocketChannel first = connecting(9);
                SocketChannel blocking = kind.provider().openSocketChannel()) {
            NioSuite.Failing connecting =
                    new NioSuite.Failing(() -> blocking.connect(new InetSocketAddress(silent, 9)));
            NioSuite.pause(30);
            connecting.thread.interrupt();
            assertInstanceOf(ClosedByInterruptException.class, connecting.join());
            assertFalse(blocking.isOpen());
            assertFalse(first.finishConnect());
        }
        assertTrue(kind.verbs.qpsMade() <= 1);
    }
}
