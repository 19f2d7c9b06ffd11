/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.nio;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import org.junit.jupiter.api.Test;

/**
 * A channel that two selectors have, of which one takes the stream's event and arms it no more. With the messages of
 * these verbs, which arrive at once: over real ones, what another thread does every few seconds hides that a selector
 * was told nothing.
 */
class SharedChannelTest extends LoopbackChannelTests {

    /** More selections without anything than a selector polls a key for. */
    private static void settle(Selector selector) throws IOException {
        for (int i = 0; i < 100; i++) {
            assertEquals(0, selector.selectNow());
        }
    }

    /** The peer reads, and says what it has room for. That is an event, and nothing to read. */
    private static void haveAnEvent(Pair p) throws IOException {
        ByteBuffer much = ByteBuffer.allocate(128 * 1024);
        int read = 0;
        while (read < much.capacity()) {
            p.client().write(much);
            read += p.server().read(ByteBuffer.allocate(much.capacity()));
        }
    }

    @Test
    void shouldReportToOneSelectorWhatCameAfterAnotherWasWokenForNothing() throws IOException {
        Selector without = selector();
        Selector with = selector();
        Pair p = nonBlockingPair();
        p.client().register(without, 0);
        SelectionKey key = p.client().register(with, SelectionKey.OP_READ);
        for (int i = 0; i < 3; i++) {
            settle(with);
            haveAnEvent(p);
            assertEquals(0, without.select(30));
            p.server().write(text("a"));
            assertEquals(1, with.selectNow());
            assertTrue(key.isReadable());
            assertEquals("a", read(p.client(), 1));
            with.selectedKeys().clear();
        }
    }
}
