/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.nio;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.channels.SelectionKey;
import java.util.concurrent.TimeUnit;
import org.jrsocket.os.Epoll;
import org.jrsocket.stream.RdmaStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Whose events the descriptors of a selector's streams are. */
class SelectorEpollSetTest extends LoopbackChannelTests {

    private static final long PATIENCE = TimeUnit.SECONDS.toNanos(20);

    private final SelectorEpollSet set = new SelectorEpollSet(-1);
    private Pair pair;
    private RdmaStream stream;
    private RSelectionKey key;

    @BeforeEach
    void watchOne() throws IOException {
        pair = pair();
        stream = ((RSocketChannel) pair.client()).stream();
        key = key((RSelector) selector());
        set.add(key, stream);
    }

    private RSelectionKey key(RSelector selector) {
        return new RSelectionKey(selector, selector.selection(), (RSocketChannel) pair.client());
    }

    @AfterEach
    void closeSet() {
        set.close();
    }

    /** Sends something that the stream was armed for. */
    private void send() throws IOException {
        stream.arm(false);
        pair.server().write(text("a"));
    }

    /** Whether the stream's descriptor is readable still. */
    private boolean hasEvent() throws IOException {
        try (Epoll another = new Epoll(1)) {
            assertTrue(stream.watchedBy(another, 0));
            return another.await(0) > 0;
        }
    }

    @Test
    void shouldTakeTheEventOfAKey() throws IOException {
        send();
        assertEquals(1, set.await(PATIENCE));
        assertSame(key, set.take(0));
        assertFalse(hasEvent());
        assertEquals(0, set.await(0));
    }

    /** The channel may be blocking by now. A selector that was told again and again would never sleep. */
    @Test
    void shouldLeaveToAReaderWhatComesAfterTheKeyWasCancelled() throws IOException {
        key.cancel();
        send();
        assertEquals(1, set.await(PATIENCE));
        assertNull(set.take(0));
        assertTrue(hasEvent());
        assertEquals(0, set.await(0));
        assertTrue(set.isEmpty());
    }

    @Test
    void shouldHearNothingOfAKeyThatWasRemoved() throws IOException {
        set.remove(key);
        send();
        assertTrue(hasEvent());
        assertEquals(0, set.await(0));
        assertTrue(set.isEmpty());
    }

    @Test
    void shouldTakeAgainAStreamThatWasRemoved() throws IOException {
        set.remove(key);
        set.remove(key);
        RSelectionKey next = key((RSelector) key.selector());
        set.add(next, stream);
        set.remove(key); // late, and it has nothing any more
        send();
        assertEquals(1, set.await(PATIENCE));
        assertSame(next, set.take(0));
    }

    /** Once the channel has let go of the key, a close does not find it, and the number may become another's. */
    @Test
    void shouldHaveNothingOfAKeyThatItsChannelHasLetGo() throws IOException {
        SelectionKey registered = nonBlocking(pair.client()).register(key.selector(), SelectionKey.OP_READ);
        assertSame(stream, ((RSelectionKey) registered).watched);
        ((RSocketChannel) pair.client()).leave((RSelectionKey) registered);
        assertNull(((RSelectionKey) registered).watched);
    }
}
