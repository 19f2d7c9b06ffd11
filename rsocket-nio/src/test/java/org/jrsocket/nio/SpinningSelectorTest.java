/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.nio;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.channels.Pipe;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A selector that polls, for longer than any test takes, sees everything that one which sleeps is woken by. */
@Tag("slow")
class SpinningSelectorTest extends LoopbackChannelTests {

    private static final long FOR_EVER = TimeUnit.HOURS.toNanos(1);

    private Selector spinning() throws IOException {
        RSelectorProvider provider = (RSelectorProvider) kind.provider();
        return closing(new RSelector(provider, provider.jdk().openSelector(), FOR_EVER));
    }

    /** A key that was active a moment ago, which is what makes a selector poll. */
    private Pair active(Selector selector) throws IOException {
        Pair p = nonBlockingPair();
        SelectionKey key = p.client().register(selector, SelectionKey.OP_READ);
        p.server().write(text("a"));
        await(selector, key, SelectionKey.OP_READ);
        assertEquals("a", read(p.client(), 1));
        selector.selectedKeys().clear();
        assertEquals(0, selector.selectNow());
        return p;
    }

    /** Selects on another thread, which has begun to poll; what came before it did would be seen anyway. */
    private Future<Integer> selecting(Selector selector) {
        Future<Integer> selection = background(() -> selector.select());
        pause(50);
        return selection;
    }

    @Test
    void shouldSeeTheJdksChannels() throws Exception {
        Selector selector = spinning();
        active(selector);
        Pipe pipe = kind.provider().openPipe();
        closing(pipe.sink());
        SelectionKey key = nonBlocking(closing(pipe.source())).register(selector, SelectionKey.OP_READ);
        Future<Integer> selection = selecting(selector);
        pipe.sink().write(text("a"));
        assertEquals(1, get(selection));
        assertTrue(key.isReadable());
    }

    @Test
    void shouldSeeStreamsThatItDoesNotPollAnyMore() throws Exception {
        Selector selector = spinning();
        List<Pair> pairs = new ArrayList<>();
        for (int i = 0; i < 40; i++) {
            pairs.add(active(selector));
        }
        for (Pair p : pairs) {
            Future<Integer> selection = selecting(selector);
            p.server().write(text("b"));
            assertEquals(1, get(selection));
            assertEquals("b", read(p.client(), 1));
            selector.selectedKeys().clear();
        }
    }

    @Test
    void shouldSeeAStreamThatWasNeverActive() throws Exception {
        Selector selector = spinning();
        active(selector);
        Pair p = nonBlockingPair();
        p.client().register(selector, SelectionKey.OP_READ);
        assertEquals(0, selector.selectNow());
        Future<Integer> selection = selecting(selector);
        p.server().write(text("b"));
        assertEquals(1, get(selection));
    }

    @Test
    void shouldSeeAWakeUp() throws Exception {
        Selector selector = spinning();
        active(selector);
        Future<Integer> selection = selecting(selector);
        selector.wakeup();
        assertEquals(0, get(selection));
    }
}
