/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.connect;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.net.InetSocketAddress;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class PeerMemoryTest {

    private static final long MILLI = TimeUnit.MILLISECONDS.toNanos(1);
    private static final long SECOND = TimeUnit.SECONDS.toNanos(1);
    private static final long HEAD_START = 100 * MILLI;
    private static final long UNANSWERED = 300 * SECOND;
    private static final long REJECTED = 10 * SECOND;
    private static final long NOT_ASKED = -1;

    private final AtomicLong now = new AtomicLong(Long.MAX_VALUE - 50); // it wraps, as nanoTime may
    private final PeerMemory memory = new PeerMemory(HEAD_START, UNANSWERED, REJECTED, now::get);
    private final InetSocketAddress web = new InetSocketAddress("10.0.0.1", 80);
    private final InetSocketAddress tls = new InetSocketAddress("10.0.0.1", 443);
    private final InetSocketAddress other = new InetSocketAddress("10.0.0.2", 80);

    private void pass(long nanos) {
        now.addAndGet(nanos);
    }

    /** A connection that is over RDMA after so long. */
    private void connects(InetSocketAddress peer, long nanos) {
        memory.asked(peer);
        pass(nanos);
        memory.answered(peer, nanos);
        memory.worked(peer);
    }

    /** A connection that is over TCP after the head start. */
    private void meetsSilence(InetSocketAddress peer) {
        memory.asked(peer);
        pass(HEAD_START);
        memory.reached(peer);
    }

    @Test
    void shouldKnowNobodyAtFirst() {
        assertFalse(memory.knows(web));
    }

    // ---- how long an attempt lasts ----

    @Test
    void shouldGiveAnUnknownHostTheHeadStart() {
        assertEquals(HEAD_START, memory.left(web, 30 * MILLI, 0));
        memory.asked(web);
        pass(99 * MILLI);
        assertEquals(MILLI, memory.left(web, 200 * MILLI, 99 * MILLI));
        pass(MILLI);
        assertEquals(0, memory.left(web, 201 * MILLI, 100 * MILLI));
    }

    @Test
    void shouldNotTakeThisHostsOwnWorkForThePeersSilence() {
        assertEquals(200 * MILLI, memory.left(web, 300 * MILLI, NOT_ASKED));
        assertEquals(HEAD_START, memory.left(web, 499 * MILLI, 0));
        assertEquals(0, memory.left(web, 500 * MILLI, NOT_ASKED));
    }

    @Test
    void shouldEndTheAttemptsOfAllWhenTheFirstHadNoAnswer() {
        memory.asked(web);
        pass(60 * MILLI);
        memory.asked(tls);
        assertEquals(40 * MILLI, memory.left(tls, 0, 0));
        assertEquals(40 * MILLI, memory.left(tls, 0, NOT_ASKED));
        assertEquals(HEAD_START, memory.left(other, 0, 0));
    }

    @Test
    void shouldGiveAHostThatAnswersItsUsualTimeWithAMargin() {
        connects(web, 80 * MILLI);
        assertEquals(320 * MILLI, memory.left(tls, SECOND, 80 * MILLI));
        pass(SECOND);
        memory.asked(web);
        assertEquals(220 * MILLI, memory.left(tls, 100 * MILLI, 100 * MILLI));
    }

    @Test
    void shouldGiveNobodyMoreThanTwoSeconds() {
        connects(web, 5 * SECOND);
        pass(SECOND);
        assertEquals(SECOND, memory.left(web, SECOND, SECOND));
        assertEquals(10 * MILLI, memory.left(web, 1990 * MILLI, 100 * MILLI));
    }

    @Test
    void shouldForgetASlowAnswerSlowly() {
        connects(web, 400 * MILLI);
        for (int i = 0; i < 50; i++) {
            connects(web, MILLI);
        }
        pass(SECOND);
        assertEquals(HEAD_START, memory.left(web, 0, 0));
    }

    @Test
    void shouldWaitForAHostThatIsAnsweringOthers() {
        connects(web, 5 * MILLI);
        pass(90 * MILLI);
        assertEquals(10 * MILLI, memory.left(web, 400 * MILLI, 400 * MILLI));
        assertEquals(410 * MILLI, memory.left(web, 600 * MILLI, NOT_ASKED));
        memory.answered(web, -1); // a refusal is a sign of life too
        assertEquals(HEAD_START, memory.left(web, 400 * MILLI, 400 * MILLI));
    }

    // ---- hosts that are silent ----

    @Test
    void shouldRememberAWholeHostThatDidNotAnswer() {
        meetsSilence(web);
        assertTrue(memory.knows(web));
        assertTrue(memory.knows(tls));
        assertFalse(memory.knows(other));
    }

    @Test
    void shouldNotBlameAHostThatHadLessThanTheHeadStart() {
        memory.asked(web);
        pass(50 * MILLI);
        memory.reached(web);
        assertFalse(memory.knows(web));
    }

    @Test
    void shouldDoubtAHostThatLeftTheRequestOfAClosedChannelUnanswered() {
        memory.asked(web);
        pass(50 * MILLI);
        assertFalse(memory.knows(web));
        memory.asked(web); // the next try
        pass(50 * MILLI);
        assertTrue(memory.knows(web));
        memory.reached(web);
        pass(REJECTED - 1);
        assertTrue(memory.knows(web));
    }

    @Test
    void shouldLearnNothingFromAHostThatIsDown() {
        memory.asked(web);
        pass(HEAD_START);
        assertTrue(memory.knows(web));
        memory.down(web);
        assertFalse(memory.knows(web));
    }

    @Test
    void shouldNotDoubtForEver() {
        memory.asked(web);
        pass(PeerMemory.DOUBT_NANOS);
        assertFalse(memory.knows(web));
        assertEquals(HEAD_START, memory.left(web, 0, 0));
        memory.asked(web);
        pass(HEAD_START);
        assertTrue(memory.knows(web));
    }

    @Test
    void shouldAskASilentHostAgainByOneConnectionAndLessAndLessOften() {
        long pause = PeerMemory.FIRST_PAUSE_NANOS;
        for (int i = 0; i < 10; i++) {
            meetsSilence(web);
            pass(Math.min(pause, UNANSWERED) - 1);
            assertTrue(memory.knows(web), "silence " + i);
            pass(1);
            assertFalse(memory.knows(web), "silence " + i);
            assertTrue(memory.knows(web), "one asks");
            assertTrue(memory.knows(tls), "one asks");
            pause *= 2;
        }
    }

    @Test
    void shouldAskAgainAfterOneThatLeftWithoutAnOutcome() {
        meetsSilence(web);
        pass(PeerMemory.FIRST_PAUSE_NANOS);
        assertFalse(memory.knows(web));
        pass(PeerMemory.MOST_NANOS);
        assertFalse(memory.knows(web));
    }

    @Test
    void shouldForgetTheSilenceOfAHostThatAnswersAfterAll() {
        meetsSilence(web);
        memory.answered(web, 300 * MILLI);
        assertFalse(memory.knows(web));
        pass(SECOND);
        assertEquals(1200 * MILLI, memory.left(web, 0, 0));
        meetsSilence(web);
        pass(1100 * MILLI);
        memory.reached(web);
        pass(PeerMemory.FIRST_PAUSE_NANOS);
        assertFalse(memory.knows(web), "counted from the start");
    }

    @Test
    void shouldRememberAHostWithoutARoute() {
        memory.unreachable(web);
        assertTrue(memory.knows(tls));
        pass(PeerMemory.FIRST_PAUSE_NANOS);
        assertFalse(memory.knows(tls));
    }

    @Test
    void shouldLetEachAttemptHaveItsOwnHeadStartWhenNothingIsToBeRemembered() {
        PeerMemory none = new PeerMemory(HEAD_START, 0, 0, now::get);
        none.asked(web);
        pass(HEAD_START);
        none.reached(web);
        none.rejected(tls);
        none.unreachable(web);
        assertFalse(none.knows(web));
        assertFalse(none.knows(web));
        assertFalse(none.knows(tls));
        assertEquals(HEAD_START, none.left(web, 0, 0));
    }

    // ---- ports that refuse ----

    @Test
    void shouldRememberOnlyThePortThatRefused() {
        memory.rejected(web);
        assertTrue(memory.knows(web));
        assertFalse(memory.knows(tls));
        pass(REJECTED - 1);
        assertTrue(memory.knows(web));
        pass(1);
        assertFalse(memory.knows(web));
    }

    @Test
    void shouldForgetARefusalWhenRdmaWorks() {
        memory.rejected(web);
        memory.worked(web);
        assertFalse(memory.knows(web));
    }

    @Test
    void shouldAskAPortSoonAgainThatTookRdmaBefore() {
        memory.worked(web);
        long pause = PeerMemory.FIRST_REFUSAL_NANOS;
        for (int i = 0; i < 10; i++) {
            memory.rejected(web); // its server is starting: TCP comes first
            pass(Math.min(pause, REJECTED) - 1);
            assertTrue(memory.knows(web), "refusal " + i);
            pass(1);
            assertFalse(memory.knows(web), "refusal " + i);
            pause *= 2;
        }
        memory.rejected(web);
        pass(2 * REJECTED);
        assertFalse(memory.knows(web));
        memory.rejected(web); // that is another story
        pass(PeerMemory.FIRST_REFUSAL_NANOS);
        assertFalse(memory.knows(web));
    }

    @Test
    void shouldStayBounded() {
        for (int i = 0; i < 3 * PeerMemory.CAPACITY; i++) {
            InetSocketAddress peer = new InetSocketAddress("10.0." + (i >> 8 & 255) + "." + (i & 255), 1 + (i >> 16));
            memory.rejected(peer);
            memory.asked(peer);
            assertTrue(memory.size() <= PeerMemory.CAPACITY);
        }
    }
}
