/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.nio;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import org.jrsocket.stream.StreamFaults;
import org.junit.jupiter.api.Test;

/**
 * A stream whose peer broke the protocol is freed while its channel is open: its descriptor is nobody's, or another's
 * by then.
 */
class BrokenPeerTest extends LoopbackChannelTests {

    private SocketChannel broken() throws Exception {
        SocketChannel channel = nonBlockingPair().server();
        StreamFaults.breakProtocol(((RSocketChannel) channel).stream());
        return channel;
    }

    @Test
    void shouldBeRegisteredAndReportedAsAnyConnectionThatWasReset() throws Exception {
        SocketChannel channel = broken();
        Selector selector = selector();
        SelectionKey key = channel.register(selector, SelectionKey.OP_READ);
        for (int i = 0; i < 3; i++) {
            assertEquals(1, selector.select(30_000));
            assertTrue(selector.selectedKeys().remove(key));
        }
        assertEquals(
                "Connection reset",
                assertThrows(IOException.class, () -> channel.read(bytes(1))).getMessage());
        channel.close();
        assertEquals(0, selector.selectNow());
        assertTrue(selector.keys().isEmpty());
    }

    @Test
    void shouldLeaveTheConnectionAloneThatHasItsDescriptorNow() throws Exception {
        SocketChannel channel = broken();
        Pair next = nonBlockingPair();
        Selector selector = selector();
        SelectionKey key = channel.register(selector, SelectionKey.OP_READ);
        SelectionKey nextKey = next.client().register(selector, SelectionKey.OP_READ);
        assertEquals(1, selector.select(30_000));
        assertTrue(selector.selectedKeys().remove(key));
        channel.close();
        next.server().write(text("here"));
        await(selector, nextKey, SelectionKey.OP_READ);
        assertEquals("here", read(next.client(), 4));
    }
}
