/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.connect;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.net.InetSocketAddress;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class PeerMemoryTest {

    private final AtomicLong now = new AtomicLong(Long.MAX_VALUE - 50); // it wraps, as nanoTime may
    private final PeerMemory memory = new PeerMemory(1000, 100, now::get);
    private final InetSocketAddress web = new InetSocketAddress("10.0.0.1", 80);
    private final InetSocketAddress tls = new InetSocketAddress("10.0.0.1", 443);
    private final InetSocketAddress other = new InetSocketAddress("10.0.0.2", 80);

    @Test
    void shouldKnowNobodyAtFirst() {
        assertFalse(memory.knows(web));
    }

    @Test
    void shouldRememberAWholeHostThatDidNotAnswer() {
        memory.unanswered(web);
        assertTrue(memory.knows(web));
        assertTrue(memory.knows(tls));
        assertFalse(memory.knows(other));
    }

    @Test
    void shouldRememberOnlyThePortThatRefused() {
        memory.rejected(web);
        assertTrue(memory.knows(web));
        assertFalse(memory.knows(tls));
    }

    @Test
    void shouldForgetInTime() {
        memory.unanswered(web);
        memory.rejected(other);
        now.addAndGet(99);
        assertTrue(memory.knows(other));
        now.addAndGet(1);
        assertFalse(memory.knows(other));
        assertTrue(memory.knows(web));
        now.addAndGet(900);
        assertFalse(memory.knows(web));
        assertEquals(0, memory.size());
    }

    @Test
    void shouldForgetAPeerThatWorkedAfterAll() {
        memory.unanswered(web);
        memory.rejected(web);
        memory.worked(web);
        assertFalse(memory.knows(web));
    }

    @Test
    void shouldGiveAHostThatAnsweredBeforeASecondChance() {
        memory.worked(web);
        memory.unanswered(web);
        assertTrue(memory.knows(web));
        assertFalse(memory.knows(tls));
        now.addAndGet(100);
        assertFalse(memory.knows(web));
        memory.unanswered(web);
        now.addAndGet(999);
        assertTrue(memory.knows(tls));
    }

    @Test
    void shouldTakeARefusalAsAnAnswer() {
        memory.rejected(web);
        memory.unanswered(tls);
        now.addAndGet(100);
        assertFalse(memory.knows(tls));
    }

    @Test
    void shouldNotAvoidAHostForLongThatHadLittleTime() {
        memory.cutShort(web);
        assertTrue(memory.knows(web));
        assertFalse(memory.knows(tls));
        now.addAndGet(100);
        assertFalse(memory.knows(web));
    }

    @Test
    void shouldRememberNothingWhenTimesAreZero() {
        PeerMemory none = new PeerMemory(0, 0, now::get);
        none.unanswered(web);
        none.rejected(web);
        assertFalse(none.knows(web));
    }

    @Test
    void shouldStayBounded() {
        for (int i = 0; i < 3 * PeerMemory.CAPACITY; i++) {
            memory.rejected(new InetSocketAddress("10.0." + (i >> 8 & 255) + "." + (i & 255), 1 + (i >> 16)));
            assertTrue(memory.size() <= PeerMemory.CAPACITY);
        }
        now.addAndGet(100);
        memory.rejected(web);
        assertEquals(1, memory.size());
    }
}
