/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.nio;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;

import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import org.jrsocket.stream.LentMemory;
import org.jrsocket.stream.RdmaStream;
import org.junit.jupiter.api.Test;

/** OP_CONNECT of a connected channel: what a transport that lends memory waits with. */
class AcknowledgementReadinessTest extends LoopbackChannelTests {

    @Test
    void shouldNeverBeReadyForAProgramThatKnowsOnlyNio() throws Exception {
        Pair pair = pair();
        pair.client().configureBlocking(false);
        Selector selector = selector();
        pair.client().register(selector, SelectionKey.OP_CONNECT);
        pair.client().write(bytes(100));
        read(pair.server(), 100);
        assertEquals(0, selector.selectNow());
        pair.server().close();
        assertEquals(0, selector.select(20));
    }

    @Test
    void shouldWakeASelectorThatWaitsForNothingElse() throws Exception {
        Pair pair = pair();
        pair.client().configureBlocking(false);
        Selector selector = selector();
        SelectionKey key = pair.client().register(selector, 0);
        RdmaStream stream = ChannelAccess.streamOf(pair.client());
        assertNotNull(stream);
        kind.verbs.faults().holdAcks(true);
        LentMemory memory = stream.register(ByteBuffer.allocateDirect(8192));
        stream.awaitAcknowledged(stream.writeLent(memory, 0, 8192));
        key.interestOps(SelectionKey.OP_CONNECT);
        assertEquals(0, selector.selectNow());
        var selection = background(() -> selector.select());
        kind.verbs.faults().holdAcks(false);
        assertEquals(1, get(selection));
        assertEquals(SelectionKey.OP_CONNECT, key.readyOps());
        read(pair.server(), 8192);
    }

    @Test
    void shouldBeReadyWhenTheConnectionFails() throws Exception {
        Pair pair = pair();
        pair.client().configureBlocking(false);
        Selector selector = selector();
        RdmaStream stream = ChannelAccess.streamOf(pair.client());
        stream.awaitAcknowledged(1);
        pair.client().register(selector, SelectionKey.OP_CONNECT);
        assertEquals(0, selector.selectNow());
        pair.server().socket().setSoLinger(true, 0);
        pair.server().close();
        assertEquals(1, selector.select());
    }

    @Test
    void shouldHaveNoStreamOverTcp() throws Exception {
        assertNull(ChannelAccess.streamOf(open()));
        assertNull(ChannelAccess.streamOf(closing(JdkChannels.defaultProvider().openSocketChannel())));
    }
}
