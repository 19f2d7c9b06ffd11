/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.nio;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import org.jrsocket.connect.TcpPort;
import org.junit.jupiter.api.Test;

/** A TCP channel that gives way to another one while its port is settled. */
class ServerPortTest extends LoopbackChannelTests {

    private final Object lock = new Object();
    private final ChannelKeys keys = new ChannelKeys();

    private void changesItsPort(boolean blocking) throws IOException {
        RSelectorProvider provider = (RSelectorProvider) kind.provider();
        ServerSocketChannel first = closing(provider.openTcpServer(null)).bind(anyPort());
        first.configureBlocking(blocking);
        ServerPort port = new ServerPort(provider, first, null, lock, keys);
        TcpPort bound = port.bound(anyPort(), 1);
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
        selector.jdk().close(); // which is closed first
        key.cancelInner();
        changesItsPort(false);
    }
}
