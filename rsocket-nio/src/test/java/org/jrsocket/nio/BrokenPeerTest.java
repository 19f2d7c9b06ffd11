/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.nio;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.ArrayList;
import java.util.List;
import org.jrsocket.stream.RdmaStream;
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

    /** The key of the one that is broken does not know yet that its descriptor is closed. */
    @Test
    void shouldWatchTheConnectionThatHasTheDescriptorOfARegisteredOneNow() throws Exception {
        Selector selector = selector();
        SocketChannel channel = nonBlockingPair().server();
        SelectionKey key = channel.register(selector, SelectionKey.OP_READ);
        assertEquals(0, selector.selectNow());
        ServerSocketChannel listener = listening();
        List<SocketChannel> later = List.of(open(), open(), open()); // whose TCP channels have their descriptors
        RdmaStream stream = stream(channel);
        int live = kind.transport.liveStreams();
        StreamFaults.breakProtocol(stream);
        while (kind.transport.liveStreams() == live) { // then its descriptor is closed
            pause(1);
        }
        List<SocketChannel> ends = new ArrayList<>(later);
        for (SocketChannel each : later) {
            each.connect(listener.getLocalAddress());
            ends.add(closing(listener.accept()));
        }
        assertTrue(ends.stream().anyMatch(each -> stream(each).completionFd() == stream.completionFd()));
        for (SocketChannel each : ends) {
            nonBlocking(each).register(selector, SelectionKey.OP_READ);
        }
        assertNull(((RSelectionKey) key).watched, "its close would take the descriptor's events from the other one");
        assertEquals(1, selector.select(30_000));
        assertTrue(selector.selectedKeys().remove(key));
        channel.close();
        assertEquals(0, selector.selectNow()); // from here on only its descriptor tells of each of them
        for (int i = 0; i < ends.size(); i++) {
            SocketChannel end = ends.get(i);
            ends.get((i + later.size()) % ends.size()).write(text("here"));
            await(selector, end.keyFor(selector), SelectionKey.OP_READ);
            assertEquals("here", read(end, 4));
        }
    }

    private static RdmaStream stream(SocketChannel channel) {
        return ((RSocketChannel) channel).stream();
    }
}
