/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.nio;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.net.BindException;
import java.net.ConnectException;
import java.net.InetSocketAddress;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.ArrayList;
import java.util.List;
import org.jrsocket.connect.DualListener;
import org.jrsocket.connect.TcpPort;
import org.jrsocket.stream.StreamConfig;
import org.junit.jupiter.api.Test;

/** A TCP channel that gives way to another one while its port is settled. */
class ServerPortTest extends LoopbackChannelTests {

    private final Object lock = new Object();
    private final ChannelKeys keys = new ChannelKeys();

    private void changesItsPort(boolean blocking) throws IOException {
        ProviderServices services = ((RSelectorProvider) kind.provider()).services();
        ServerSocketChannel first = closing(services.openTcpServer(null)).bind(anyPort());
        first.configureBlocking(blocking);
        ServerPort port = new ServerPort(services, first, null, lock, keys);
        TcpPort bound = port.new BoundPort(anyPort(), 1);
        synchronized (lock) {
            bound.change();
        }
        assertNotSame(first, closing(port.tcp()));
        assertFalse(first.isOpen());
        assertTrue(port.tcp().isOpen());
        assertEquals(port.tcp().getLocalAddress(), bound.address());
    }

    @Test
    void shouldChangeItsPortBesideAKeyThatIsCancelled() throws IOException {
        Selector selector = selector();
        RSelectionKey key = (RSelectionKey) nonBlocking(openServer()).register(selector, SelectionKey.OP_ACCEPT);
        keys.add(key);
        key.cancel(); // since then the channel may block
        changesItsPort(true);
    }

    @Test
    void shouldChangeItsPortWhileASelectorCloses() throws IOException {
        RSelector selector = (RSelector) selector();
        RSelectionKey key = (RSelectionKey) nonBlocking(openServer()).register(selector, SelectionKey.OP_ACCEPT);
        keys.add(key);
        selector.selection().jdk().close(); // which is closed first
        key.cancelInner();
        changesItsPort(false);
    }

    /** Those of a server that comes back wait for its port, and would use TCP for as long as they are connected. */
    @Test
    void shouldLetNoClientFindTcpBeforeRdma() throws Exception {
        ProviderServices services = ((RSelectorProvider) kind.provider()).services();
        InetSocketAddress free = deadPort();
        List<SocketChannel> clients = new ArrayList<>();
        ServerSocketChannel tcp = new BindingChannel(services.openTcpServer(null), () -> {
            SocketChannel client = open();
            client.connect(free);
            clients.add(client);
        });
        ServerPort port = new ServerPort(services, closing(tcp), null, lock, keys);
        synchronized (lock) {
            DualListener opened = port.bind(free, 1, StreamConfig.DEFAULT);
            closing(opened::close);
        }
        assertNotNull(ChannelAccess.streamOf(clients.get(0)));
        try (SocketChannel client = NioKind.plainProvider().openSocketChannel()) {
            assertTrue(client.connect(free), "over TCP");
        }
    }

    /** What listens over RDMA by then is nobody's. */
    @Test
    void shouldStopListeningOverRdmaWhereTcpCannotListen() throws Exception {
        ProviderServices services = ((RSelectorProvider) kind.provider()).services();
        InetSocketAddress free = deadPort();
        ServerSocketChannel tcp = new BindingChannel(services.openTcpServer(null), () -> {
            throw new BindException("somebody was faster");
        });
        ServerPort port = new ServerPort(services, closing(tcp), null, lock, keys);
        synchronized (lock) {
            assertEquals(
                    "somebody was faster",
                    assertThrows(BindException.class, () -> port.bind(free, 1, StreamConfig.DEFAULT))
                            .getMessage());
        }
        assertFalse(port.isBound());
        assertThrows(ConnectException.class, () -> open().connect(free));
        openServer().bind(free); // nobody has the port, over RDMA or TCP
    }

    /** Whatever goes wrong once both listen. */
    @Test
    void shouldStopListeningOverRdmaWhereTheTcpChannelCannotBeSetUp() throws Exception {
        ProviderServices services = ((RSelectorProvider) kind.provider()).services();
        InetSocketAddress free = deadPort();
        ServerSocketChannel tcp = new BindingChannel(services.openTcpServer(null), () -> {}) {
            @Override
            protected void implConfigureBlocking(boolean block) {
                throw new IllegalStateException("says a test");
            }
        };
        ServerSocketChannel server = closing(new RServerSocketChannel(services, tcp, null));
        assertThrows(IllegalStateException.class, () -> server.bind(free));
        assertFalse(server.isOpen());
        assertThrows(ConnectException.class, () -> open().connect(free));
        openServer().bind(free);
    }
}
