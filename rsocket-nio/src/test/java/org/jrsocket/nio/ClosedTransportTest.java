/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.nio;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.channels.spi.SelectorProvider;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.Future;
import org.jrsocket.connect.Rules;
import org.jrsocket.connect.Settings;
import org.jrsocket.connect.TransportContext;
import org.jrsocket.connect.TransportHolder;
import org.jrsocket.stream.RdmaTransport;
import org.jrsocket.verbs.loopback.LoopbackConfig;
import org.jrsocket.verbs.loopback.LoopbackProvider;
import org.jrsocket.verbs.loopback.Reachability;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Channels that outlive the RDMA transport of their program use TCP. */
class ClosedTransportTest extends NioSuite {

    private final LoopbackProvider verbs = new LoopbackProvider(new LoopbackConfig().cmTimeoutMillis(3_600_000));
    private TransportHolder holder;
    private RSelectorProvider ours;

    @BeforeEach
    void openTransport() throws Exception {
        holder = TransportHolder.of(RdmaTransport.over(verbs));
        Settings settings = Settings.read("policy=auto,connect.timeout=50s", new Properties(), Map.of());
        ours = new RSelectorProvider(new TransportContext(settings, Rules.NONE, holder), holder);
    }

    @AfterEach
    void nothingIsLeft() {
        holder.close();
        verbs.assertClean();
        verbs.close();
    }

    @Override
    NioKind kind() {
        return new NioKind() {
            @Override
            public RSelectorProvider provider() {
                return ours;
            }
        };
    }

    private void assertAccepts(ServerSocketChannel server, Future<SocketChannel> accepting) throws Exception {
        try (SocketChannel client = SocketChannel.open(server.getLocalAddress())) {
            assertEquals(client.getLocalAddress(), closing(get(accepting)).getRemoteAddress());
        }
    }

    @Test
    void shouldGoOnAcceptingWithAThreadThatWaits() throws Exception {
        ServerSocketChannel server = listening();
        assertInstanceOf(RServerSocketChannel.class, server);
        Future<SocketChannel> accepting = blocked(server::accept);
        holder.close();
        assertAccepts(server, accepting);
        assertAccepts(server, blocked(server::accept));
    }

    @Test
    void shouldAcceptWhereNobodyHadWaitedBefore() throws Exception {
        ServerSocketChannel server = listening();
        holder.close();
        assertAccepts(server, blocked(server::accept));
    }

    @Test
    void shouldConnectAllThatWaitForOneHost() throws Exception {
        InetAddress silent = InetAddress.getByName("127.0.0.2");
        verbs.place(silent, Reachability.SILENT);
        try (ServerSocket tcp = new ServerSocket(0, 50, silent)) {
            List<SocketChannel> clients = new ArrayList<>();
            List<SelectionKey> keys = new ArrayList<>();
            Selector selector = selector();
            for (int i = 0; i < 4; i++) {
                SocketChannel client = nonBlocking(open());
                client.connect(new InetSocketAddress(silent, tcp.getLocalPort()));
                clients.add(client);
                keys.add(client.register(selector, SelectionKey.OP_CONNECT));
            }
            holder.close();
            for (int i = 0; i < 4; i++) {
                await(selector, keys.get(i), SelectionKey.OP_CONNECT);
                assertTrue(clients.get(i).finishConnect());
                keys.get(i).cancel();
            }
        }
    }

    /** As virtual threads do, and where the JDK's selector has no epoll descriptor for us. */
    @Test
    void shouldGoOnSelectingInTheJdksSelector() throws Exception {
        SelectorProvider polling = Class.forName("sun.nio.ch.PollSelectorProvider")
                .asSubclass(SelectorProvider.class)
                .getConstructor()
                .newInstance();
        Pair p = pair();
        assertNotNull(ChannelAccess.streamOf(p.server()));
        try (Selector selector = new RSelector(ours.services(), polling.openSelector())) {
            SelectionKey key = nonBlocking(p.server()).register(selector, 0);
            assertEquals(0, selector.select(1));
            holder.close();
            assertEquals(0, selector.select(1));
            key.interestOps(SelectionKey.OP_READ);
            assertEquals(1, selector.select());
        }
    }
}
