/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.nio;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import org.junit.jupiter.api.Test;

/** An interest that changes while a selection is under way. */
class InterestRaceTest extends LoopbackChannelTests {

    private static final int BOTH = SelectionKey.OP_READ | SelectionKey.OP_WRITE;

    private SelectionKey losingInterestDuringALook(Selector selector, int remaining) throws IOException {
        ScriptedChannel channel = nonBlocking(closing(new ScriptedChannel(kind.provider())));
        SelectionKey key = channel.register(selector, BOTH);
        channel.ready = BOTH;
        channel.meanwhile = () -> key.interestOps(remaining);
        return key;
    }

    @Test
    void shouldNotCallReadyWhatIsNoLongerOfInterest() throws IOException {
        Selector selector = selector();
        SelectionKey key = losingInterestDuringALook(selector, SelectionKey.OP_READ);
        assertEquals(1, selector.selectNow());
        assertEquals(SelectionKey.OP_READ, key.readyOps());
    }

    @Test
    void shouldNotTellAnActionWhatIsNoLongerOfInterest() throws IOException {
        Selector selector = selector();
        losingInterestDuringALook(selector, SelectionKey.OP_WRITE);
        assertEquals(1, selector.selectNow(key -> assertEquals(SelectionKey.OP_WRITE, key.readyOps())));
    }

    @Test
    void shouldNotAddToAKeyThatIsSelectedWhatIsNoLongerOfInterest() throws IOException {
        Selector selector = selector();
        ScriptedChannel channel = nonBlocking(closing(new ScriptedChannel(kind.provider())));
        SelectionKey key = channel.register(selector, BOTH);
        channel.ready = SelectionKey.OP_READ;
        assertEquals(1, selector.selectNow());
        channel.ready = BOTH;
        channel.meanwhile = () -> key.interestOps(SelectionKey.OP_READ);
        assertEquals(0, selector.selectNow());
        assertEquals(SelectionKey.OP_READ, key.readyOps());
    }
}
