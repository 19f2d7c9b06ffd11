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
import java.util.Collections;
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
        return closing(
                new RSelector(provider.services(), JdkChannels.defaultProvider().openSelector(), FOR_EVER));
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

    /** More than it polls, all of them active a moment ago. */
    private List<Pair> activeTogether(Selector selector, int n) throws IOException {
        List<Pair> pairs = new ArrayList<>();
        for (int i = 0; i < n; i++) {
            Pair p = nonBlockingPair();
            p.client().register(selector, SelectionKey.OP_READ);
            p.server().write(text("a"));
            pairs.add(p);
        }
        awaitSelected(selector, n);
        for (Pair p : pairs) {
            assertEquals("a", read(p.client(), 1));
        }
        selector.selectedKeys().clear();
        assertEquals(0, selector.selectNow());
        return pairs;
    }

    /** Until so many keys were reported. */
    private static void awaitSelected(Selector selector, int n) throws IOException {
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(30);
        while (selector.selectedKeys().size() < n) {
            selector.select(10_000);
            assertTrue(
                    System.nanoTime() - deadline < 0,
                    () -> n + " keys were to be reported, not "
                            + selector.selectedKeys().size());
        }
    }

    @Test
    void shouldSeeStreamsThatItHasNoRoomToPoll() throws Exception {
        Selector selector = spinning();
        List<Pair> pairs = activeTogether(selector, BusyPollSet.MAX + 6);
        Collections.reverse(pairs); // which found room depends on the order
        for (int turn = 0; turn < 2; turn++) {
            for (Pair p : pairs.subList(0, 12)) {
                Future<Integer> selection = selecting(selector);
                p.server().write(text("b"));
                assertEquals(1, get(selection));
                assertEquals("b", read(p.client(), 1));
                selector.selectedKeys().clear();
            }
            Collections.reverse(pairs);
        }
    }

    @Test
    void shouldSeeTheStreamThatMadeRoomForAnother() throws Exception {
        Selector selector = spinning();
        List<Pair> pairs = activeTogether(selector, BusyPollSet.MAX + 1);
        for (int i = 0; i < 3; i++) {
            assertEquals(0, selector.selectNow()); // all that it polls were quiet for some time
        }
        for (Pair active : List.of(pairs.get(0), pairs.get(BusyPollSet.MAX))) { // one of these it did not poll
            active.server().write(text("b"));
            assertEquals(1, selector.select(30_000));
            assertEquals("b", read(active.client(), 1));
            selector.selectedKeys().clear();
            assertEquals(0, selector.selectNow());
        }
        for (Pair p : pairs) {
            p.server().write(text("c"));
        }
        awaitSelected(selector, pairs.size());
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
