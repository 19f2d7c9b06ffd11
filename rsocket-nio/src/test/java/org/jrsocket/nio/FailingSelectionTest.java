/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.nio;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.channels.ClosedSelectorException;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** A selection that fails at one key, as for lack of memory: the selections after it know of all of them. */
class FailingSelectionTest extends LoopbackChannelTests {

    private static final int TIMEOUT = 10_000; // milliseconds, of which none is needed
    private final OutOfMemoryError outOfMemory = new OutOfMemoryError("says a test");

    private ScriptedChannel scripted() throws IOException {
        return nonBlocking(closing(new ScriptedChannel(kind.provider())));
    }

    private void assertFails(Selector selector) {
        assertSame(outOfMemory, assertThrows(OutOfMemoryError.class, () -> selector.select(TIMEOUT)));
    }

    /** On either side of the listener, in whatever order it looks. */
    @Test
    void shouldLookAtAllKeysAgainWhenALookAtANewOneHasFailed() throws IOException {
        Selector selector = selector();
        ServerSocketChannel listener = nonBlocking(listening());
        ScriptedChannel one = scripted();
        ScriptedChannel other = scripted();
        SelectionKey first = one.register(selector, SelectionKey.OP_READ);
        SelectionKey accepts = listener.register(selector, SelectionKey.OP_ACCEPT);
        SelectionKey last = other.register(selector, SelectionKey.OP_READ);
        one.failure = outOfMemory;
        other.failure = outOfMemory;
        assertFails(selector);
        assertFails(selector);
        assertEquals(0, selector.selectNow());
        open().connect(listener.getLocalAddress());
        await(selector, accepts, SelectionKey.OP_ACCEPT);
        one.failure = outOfMemory;
        one.ready = SelectionKey.OP_READ;
        ((RSelectionKey) first).refresh();
        other.failure = outOfMemory;
        other.ready = SelectionKey.OP_READ;
        ((RSelectionKey) last).refresh();
        assertFails(selector);
        assertFails(selector);
        selector.selectedKeys().clear();
        assertEquals(3, selector.select(TIMEOUT));
    }

    private List<ScriptedChannel> registered(Selector selector, int count) throws IOException {
        List<ScriptedChannel> all = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            ScriptedChannel channel = scripted();
            channel.register(selector, SelectionKey.OP_READ);
            all.add(channel);
        }
        return all;
    }

    /** What is left would keep its descriptor for as long as the selector is open. */
    @Test
    void shouldEndEveryCancelledKeyAlthoughOneFails() throws IOException {
        Selector selector = selector();
        List<ScriptedChannel> channels = registered(selector, 4);
        ScriptedChannel fragile = channels.get(1);
        fragile.leaving = outOfMemory;
        channels.forEach(each -> each.keyFor(selector).cancel());
        assertFails(selector);
        assertEquals(Set.of(fragile.keyFor(selector)), selector.keys());
        assertEquals(0, selector.selectNow());
        assertEquals(Set.of(), selector.keys());
        assertFalse(fragile.isRegistered());
    }

    /** Before it has forgotten a channel, that one's descriptor must not be closed. */
    @Test
    void shouldEndCancelledKeysLaterIfTheJdksSelectorFails() throws IOException {
        SelectorRaceTest.EventfulSelector jdk = new SelectorRaceTest.EventfulSelector(JdkChannels.defaultProvider());
        RSelector selector = closing(new RSelector(((RSelectorProvider) kind.provider()).services(), jdk, 0));
        ScriptedChannel channel = registered(selector, 1).get(0);
        selector.selection().innerInterest(0, 0); // as a key in there that is cancelled
        channel.keyFor(selector).cancel();
        List<String> asked = new ArrayList<>();
        jdk.event = () -> {
            asked.add("fails");
            throw new IOException("as the test wants");
        };
        assertThrows(IOException.class, selector::selectNow);
        assertTrue(channel.isRegistered());
        jdk.event = () -> asked.add("forgets");
        selector.selectNow();
        assertEquals(List.of("fails", "forgets"), asked);
        assertFalse(channel.isRegistered());
    }

    @Test
    void shouldEndEveryKeyWhenItIsClosedAlthoughSomeFail() throws IOException {
        Selector selector = selector();
        List<ScriptedChannel> channels = registered(selector, 6);
        channels.get(1).leaving = outOfMemory;
        channels.get(2).leaving = new OutOfMemoryError("says the test as well");
        Error first = assertThrows(OutOfMemoryError.class, selector::close);
        assertEquals(1, first.getSuppressed().length);
        List<ScriptedChannel> left = new ArrayList<>(channels);
        left.removeIf(each -> !each.isRegistered());
        assertEquals(channels.subList(1, 3), left);
    }

    /** A logger may, or a thread's own interrupt(). What the selection still needs is freed when it is over. */
    @Test
    void shouldEndWhenItsOwnThreadClosesTheSelector() throws IOException {
        Selector selector = selector();
        Pair pair = pair();
        pair.client().configureBlocking(false);
        SelectionKey stream = pair.client().register(selector, SelectionKey.OP_READ);
        ScriptedChannel closer = scripted();
        SelectionKey key = closer.register(selector, SelectionKey.OP_READ);
        List<Boolean> valid = new ArrayList<>();
        closer.meanwhile = () -> {
            closer.meanwhile = () -> {};
            assertDoesNotThrow(selector::close);
            valid.add(selector.isOpen());
            valid.add(stream.isValid());
        };
        assertEquals(0, selector.select(TIMEOUT));
        assertEquals(List.of(false, true), valid);
        assertFalse(stream.isValid());
        assertFalse(key.isValid());
        assertFalse(pair.client().isRegistered());
        assertThrows(ClosedSelectorException.class, selector::selectNow);
        selector.close();
    }

    @Test
    void shouldLookAtAllKeysAgainWhenALookAtAReadyOneHasFailed() throws IOException {
        Selector selector = selector();
        ScriptedChannel fragile = scripted();
        fragile.ready = SelectionKey.OP_READ;
        fragile.register(selector, SelectionKey.OP_READ);
        assertEquals(1, selector.selectNow());
        ServerSocketChannel listener = nonBlocking(listening());
        SelectionKey accepts = listener.register(selector, SelectionKey.OP_ACCEPT);
        open().connect(listener.getLocalAddress());
        await(selector, accepts, SelectionKey.OP_ACCEPT);
        fragile.failure = outOfMemory; // before it looks at the listener
        assertFails(selector);
        selector.selectedKeys().clear();
        assertEquals(2, selector.select(TIMEOUT));
    }
}
