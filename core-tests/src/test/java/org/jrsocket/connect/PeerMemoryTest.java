/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.connect;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.net.InetSocketAddress;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.jrsocket.stream.PendingConnect.Answer;
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

    private boolean knows(InetSocketAddress peer) {
        return knows(memory, peer);
    }

    private static boolean knows(PeerMemory memory, InetSocketAddress peer) {
        return memory.objection(peer) != null;
    }

    /** A connection that is over RDMA after so long. */
    private void connects(InetSocketAddress peer, long nanos) {
        memory.asked(peer);
        pass(nanos);
        memory.answered(peer, Answer.OURS, nanos);
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
        assertFalse(knows(web));
    }

    // ---- how long an attempt lasts ----

    @Test
    void shouldGiveAnUnknownHostTheHeadStart() {
        assertEquals(HEAD_START, memory.left(web, 30 * MILLI, 0, true));
        memory.asked(web);
        pass(99 * MILLI);
        assertEquals(MILLI, memory.left(web, 200 * MILLI, 99 * MILLI, true));
        pass(MILLI);
        assertEquals(0, memory.left(web, 201 * MILLI, 100 * MILLI, true));
    }

    @Test
    void shouldNotTakeThisHostsOwnWorkForThePeersSilence() {
        assertEquals(200 * MILLI, memory.left(web, 300 * MILLI, NOT_ASKED, true));
        assertEquals(HEAD_START, memory.left(web, 499 * MILLI, 0, true));
        assertEquals(0, memory.left(web, 500 * MILLI, NOT_ASKED, true));
    }

    @Test
    void shouldLetOnlyTheFirstWaitForAnUnknownHost() {
        assertTrue(memory.asked(web));
        pass(10 * MILLI);
        assertFalse(memory.asked(tls));
        assertEquals(15 * MILLI, memory.left(tls, 0, 0, false));
        assertEquals(15 * MILLI, memory.left(tls, 0, NOT_ASKED, false));
        assertEquals(90 * MILLI, memory.left(web, 10 * MILLI, 10 * MILLI, true));
        assertFalse(knows(tls));
        pass(15 * MILLI);
        assertEquals(0, memory.left(tls, 15 * MILLI, 15 * MILLI, false));
        assertTrue(knows(tls), "those that begin now use TCP at once");
        assertEquals(75 * MILLI, memory.left(web, 25 * MILLI, 25 * MILLI, true));
        assertEquals(HEAD_START, memory.left(other, 0, 0, true));
        memory.answered(web, Answer.OURS, 25 * MILLI);
        assertFalse(knows(tls));
    }

    /** A moment's pause there would send all that connect at that moment to TCP, for as long as they last. */
    @Test
    void shouldLetAllWaitForAHostThatHasAnsweredBefore() {
        connects(web, 5 * MILLI);
        pass(SECOND);
        memory.asked(web);
        pass(60 * MILLI);
        assertFalse(memory.asked(tls));
        assertEquals(40 * MILLI, memory.left(tls, 0, 0, false));
        assertFalse(knows(tls));
    }

    @Test
    void shouldGiveAHostThatAnswersItsUsualTimeWithAMargin() {
        connects(web, 80 * MILLI);
        assertEquals(320 * MILLI, memory.left(tls, SECOND, 80 * MILLI, true));
        pass(SECOND);
        memory.asked(web);
        assertEquals(220 * MILLI, memory.left(tls, 100 * MILLI, 100 * MILLI, true));
    }

    @Test
    void shouldGiveNobodyMoreThanTwoSeconds() {
        connects(web, 5 * SECOND);
        pass(SECOND);
        assertEquals(SECOND, memory.left(web, SECOND, SECOND, true));
        assertEquals(10 * MILLI, memory.left(web, 1990 * MILLI, 100 * MILLI, true));
        memory.asked(web);
        pass(2 * SECOND - 1);
        memory.reached(web);
        assertFalse(knows(web));
        pass(1);
        memory.reached(web);
        assertTrue(knows(web));
    }

    @Test
    void shouldForgetASlowAnswerSlowly() {
        connects(web, 400 * MILLI);
        for (int i = 0; i < 50; i++) {
            connects(web, MILLI);
            if (i == 3) {
                assertTrue(memory.left(web, 0, 0, true) > 900 * MILLI);
            }
        }
        pass(SECOND);
        assertEquals(HEAD_START, memory.left(web, 0, 0, true));
    }

    @Test
    void shouldWaitForAHostThatIsAnsweringOthers() {
        connects(web, 5 * MILLI);
        pass(90 * MILLI);
        assertEquals(10 * MILLI, memory.left(web, 400 * MILLI, 400 * MILLI, true));
        assertEquals(410 * MILLI, memory.left(web, 600 * MILLI, NOT_ASKED, true));
        memory.answered(web, Answer.REFUSED, MILLI); // a refusal is a sign of life too
        assertEquals(HEAD_START, memory.left(web, 400 * MILLI, 400 * MILLI, true));
    }

    // ---- hosts that are silent ----

    @Test
    void shouldRememberAWholeHostThatDidNotAnswer() {
        meetsSilence(web);
        assertTrue(knows(web));
        assertTrue(knows(tls));
        assertFalse(knows(other));
    }

    @Test
    void shouldNotBlameAHostThatHadLessThanTheHeadStart() {
        memory.asked(web);
        pass(50 * MILLI);
        memory.reached(web);
        assertTrue(memory.arrangeProbe(web) < 0, "it is in doubt, not silent");
        pass(KnownHost.DOUBT_NANOS);
        assertFalse(knows(web));
    }

    @Test
    void shouldDoubtAHostThatLeftTheRequestOfAClosedChannelUnanswered() {
        memory.asked(web);
        pass(20 * MILLI);
        assertFalse(knows(web));
        memory.asked(web); // the next try
        pass(80 * MILLI);
        assertTrue(knows(web));
        memory.reached(web);
        pass(REJECTED - 1);
        assertTrue(knows(web));
    }

    @Test
    void shouldLearnNothingFromAHostThatIsDown() {
        memory.asked(web);
        pass(HEAD_START);
        assertTrue(knows(web));
        memory.down(web);
        assertFalse(knows(web));
    }

    @Test
    void shouldNotDoubtForEver() {
        memory.asked(web);
        pass(KnownHost.DOUBT_NANOS);
        assertFalse(knows(web));
        assertEquals(HEAD_START, memory.left(web, 0, 0, true));
        memory.asked(web);
        pass(HEAD_START);
        assertTrue(knows(web));
    }

    /** So none waits for a silent host again. */
    @Test
    void shouldProbeASilentHostLessAndLessOftenAndNotHaveAConnectionAskIt() {
        meetsSilence(web);
        long pause = KnownHost.FIRST_PAUSE_NANOS;
        for (int i = 0; i < 100; i++) {
            pass(SECOND);
            assertTrue(knows(tls));
            assertEquals(pause - SECOND, memory.arrangeProbe(tls), "silence " + i);
            assertTrue(memory.arrangeProbe(web) < 0, "one is enough");
            pass(pause - SECOND);
            assertTrue(memory.beginProbe(tls));
            assertTrue(knows(web), "silence " + i);
            pause = Math.min(2 * pause, UNANSWERED);
        }
        pass(UNANSWERED + SECOND); // in which nobody wanted it
        assertTrue(knows(web));
        assertEquals(0, memory.arrangeProbe(web));
        assertTrue(memory.beginProbe(web));
        memory.answered(web, Answer.OURS, MILLI);
        assertFalse(knows(web));
        assertTrue(memory.arrangeProbe(web) < 0);
    }

    @Test
    void shouldNotProbeAHostThatHasAnsweredMeanwhile() {
        meetsSilence(web);
        assertTrue(memory.arrangeProbe(web) > 0);
        memory.answered(web, Answer.OURS, MILLI);
        pass(KnownHost.FIRST_PAUSE_NANOS);
        assertFalse(memory.beginProbe(web));
        assertTrue(memory.arrangeProbe(other) < 0);
        assertFalse(memory.beginProbe(other));
    }

    /** A program on plain rsocket may see a probe as a connection. */
    @Test
    void shouldHaveOneConnectionAskASilentHostThatDoesNotKnowProbes() {
        memory.asked(web);
        memory.answered(web, Answer.FOREIGN, MILLI);
        pass(SECOND);
        for (int i = 0; i < 3; i++) {
            meetsSilence(web);
            assertTrue(memory.arrangeProbe(web) < 0);
            pass(KnownHost.FIRST_PAUSE_NANOS << i);
            assertFalse(knows(web), "silence " + i);
            assertTrue(knows(web), "one asks");
            assertTrue(knows(tls), "one asks");
        }
        pass(KnownHost.MOST_NANOS);
        assertFalse(knows(web), "the one that was to ask left without an outcome");
    }

    @Test
    void shouldForgetTheSilenceOfAHostThatAnswersAfterAll() {
        meetsSilence(web);
        memory.answered(web, Answer.OURS, 300 * MILLI);
        assertFalse(knows(web));
        pass(SECOND);
        assertEquals(1200 * MILLI, memory.left(web, 0, 0, true));
        meetsSilence(web);
        pass(1100 * MILLI);
        memory.reached(web);
        assertEquals(KnownHost.FIRST_PAUSE_NANOS, memory.arrangeProbe(web), "counted from the start");
    }

    @Test
    void shouldRememberAHostWithoutARoute() {
        memory.unreachable(web);
        assertTrue(knows(tls));
        assertEquals(KnownHost.FIRST_PAUSE_NANOS, memory.arrangeProbe(tls));
    }

    @Test
    void shouldCountOneSilenceOfAHostToWhichManyFindNoRouteAtOnce() {
        for (int i = 0; i < 200; i++) {
            memory.unreachable(web);
        }
        assertEquals(KnownHost.FIRST_PAUSE_NANOS, memory.arrangeProbe(tls));
    }

    /** Of many that begin at once, some may ask only when the first have given up: their device had no time. */
    @Test
    void shouldCountOneSilenceOfAHostThatSomeAskLate() {
        connects(web, MILLI);
        meetsSilence(web);
        PeerState first = memory.states().get(0);
        memory.asked(web);
        pass(HEAD_START);
        memory.reached(web);
        assertEquals(first.avoidedNanos() - HEAD_START, memory.states().get(0).avoidedNanos());
    }

    @Test
    void shouldCountOneSilenceOfAForeignHostToWhichManyFindNoRouteAtOnce() {
        memory.asked(web);
        memory.answered(web, Answer.FOREIGN, MILLI);
        for (int i = 0; i < 200; i++) {
            memory.unreachable(web);
        }
        pass(KnownHost.FIRST_PAUSE_NANOS);
        assertFalse(knows(web), "one asks");
        for (int i = 0; i < 200; i++) {
            memory.unreachable(web);
        }
        pass(2 * KnownHost.FIRST_PAUSE_NANOS - 1);
        assertTrue(knows(web), "a second silence");
        pass(1);
        assertFalse(knows(web), "and no third one");
    }

    // ---- paths that break connections ----

    @Test
    void shouldAvoidAHostWhoseConnectionsAreLostOnTheWay() {
        connects(web, MILLI);
        memory.lost(web);
        memory.lost(tls); // at the same time
        assertEquals(TcpReason.PATH, memory.objection(tls));
        memory.answered(web, Answer.OURS, MILLI); // the handshake is not what the path breaks
        pass(10 * SECOND - 1);
        assertEquals(TcpReason.PATH, memory.objection(web));
        pass(1);
        assertFalse(knows(web), "one tries it");
        assertEquals(TcpReason.PATH, memory.objection(web));
        memory.lost(web);
        memory.lost(tls);
        pass(20 * SECOND - 1);
        assertEquals(TcpReason.PATH, memory.objection(web));
        pass(1);
        assertFalse(knows(web));
        pass(BrokenPath.TRIAL_NANOS);
        assertFalse(knows(web), "it lasted");
        assertFalse(knows(web));
        memory.lost(web);
        pass(40 * SECOND - 1);
        assertEquals(TcpReason.PATH, memory.objection(web));
    }

    @Test
    void shouldAvoidAHostForLongerWhenAnOldConnectionIsLostAfterThePause() {
        memory.lost(web);
        pass(10 * SECOND);
        memory.lost(web);
        pass(20 * SECOND - 1);
        assertEquals(TcpReason.PATH, memory.objection(web));
    }

    @Test
    void shouldAvoidAHostForTenMinutesAtMostHoweverOftenItsConnectionsAreLost() {
        for (int i = 0; i < 100; i++) {
            memory.lost(web);
            pass(600 * SECOND - 1);
            if (i >= 6) {
                assertEquals(TcpReason.PATH, memory.objection(web));
            }
            pass(1);
            assertFalse(knows(web), "one tries it");
        }
    }

    /** Otherwise nobody would ask a silent C peer for two seconds after the pause of its path. */
    @Test
    void shouldNotChooseAConnectionThatUsesTcpToAskASilentHost() {
        memory.asked(web);
        memory.answered(web, Answer.FOREIGN, MILLI);
        pass(SECOND);
        meetsSilence(web);
        pass(KnownHost.FIRST_PAUSE_NANOS / 2);
        memory.lost(web);
        pass(10 * SECOND - 1);
        assertEquals(TcpReason.PATH, memory.objection(web));
        pass(1);
        assertFalse(knows(web), "one asks");
        assertTrue(knows(web), "one asks");
    }

    @Test
    void shouldTakeALossAfterALongTimeForAnotherStory() {
        for (int i = 0; i < 5; i++) {
            memory.lost(web);
            pass(1000 * SECOND);
            assertFalse(knows(web));
            pass(1000 * SECOND);
            assertFalse(knows(web));
        }
        memory.lost(web);
        pass(10 * SECOND);
        assertFalse(knows(web));
    }

    @Test
    void shouldLetEachAttemptHaveItsOwnHeadStartWhenNothingIsToBeRemembered() {
        PeerMemory none = new PeerMemory(HEAD_START, 0, 0, now::get);
        none.asked(web);
        pass(HEAD_START);
        none.reached(web);
        none.rejected(tls);
        none.unreachable(web);
        none.lost(web);
        assertFalse(knows(none, web));
        assertFalse(knows(none, web));
        assertFalse(knows(none, tls));
        assertEquals(HEAD_START, none.left(web, 0, 0, true));
    }

    // ---- ports that refuse ----

    @Test
    void shouldRememberOnlyThePortThatRefused() {
        memory.rejected(web);
        assertTrue(knows(web));
        assertFalse(knows(tls));
        pass(REJECTED - 1);
        assertTrue(knows(web));
        pass(1);
        assertFalse(knows(web));
    }

    @Test
    void shouldForgetARefusalWhenRdmaWorks() {
        memory.rejected(web);
        memory.worked(web);
        assertFalse(knows(web));
    }

    @Test
    void shouldAskAPortSoonAgainThatTookRdmaBefore() {
        memory.worked(web);
        memory.rejected(web); // its server begins to listen in this moment
        assertFalse(knows(web));
        pass(PeerMemory.FIRST_REFUSAL_NANOS);
        long pause = PeerMemory.FIRST_REFUSAL_NANOS;
        for (int i = 0; i < 10; i++) {
            memory.rejected(web); // it is slow
            pass(Math.min(pause, REJECTED) - 1);
            assertTrue(knows(web), "refusal " + i);
            pass(1);
            assertFalse(knows(web), "refusal " + i);
            pause *= 2;
        }
        memory.rejected(web);
        pass(2 * REJECTED);
        assertFalse(knows(web));
        memory.rejected(web); // that is another story
        assertFalse(knows(web));
    }

    @Test
    void shouldForgetWhichPortsTookRdmaWithAllElse() {
        memory.worked(web);
        memory.clear();
        memory.rejected(web);
        pass(REJECTED - 1);
        assertTrue(knows(web));
    }

    /** Those that are refused together were asked together. */
    @Test
    void shouldCountOneRefusalOfAServerThatRefusesManyAtOnce() {
        memory.worked(web);
        for (int i = 0; i < 16; i++) {
            memory.rejected(web);
            pass(PeerMemory.FIRST_REFUSAL_NANOS / 16 - 1);
            assertFalse(knows(web));
        }
        pass(PeerMemory.FIRST_REFUSAL_NANOS / 2);
        for (int i = 0; i < 16; i++) {
            memory.rejected(web);
            assertTrue(knows(web));
        }
        pass(PeerMemory.FIRST_REFUSAL_NANOS);
        assertFalse(knows(web));
    }

    @Test
    void shouldRememberARefusalForTheShortestTime() {
        PeerMemory brief = new PeerMemory(HEAD_START, UNANSWERED, MILLI, now::get);
        brief.worked(web);
        brief.rejected(web);
        pass(PeerMemory.FIRST_REFUSAL_NANOS + MILLI);
        assertNull(brief.objection(web));
        brief.rejected(web);
        assertEquals(TcpReason.REMEMBERED, brief.objection(web));
        pass(MILLI);
        assertNull(brief.objection(web));
    }

    @Test
    void shouldRememberNoRefusalWhereNoneIsToBeRemembered() {
        PeerMemory none = new PeerMemory(HEAD_START, UNANSWERED, 0, now::get);
        none.rejected(web);
        none.unserved(tls);
        none.worked(web);
        none.rejected(web);
        pass(PeerMemory.FIRST_REFUSAL_NANOS);
        none.rejected(web);
        assertEquals(0, none.size());
    }

    /** Whoever is asked now stays, however many were asked before and never again. */
    @Test
    void shouldForgetThoseFirstThatNobodyHasAskedForTheLongestTime() {
        for (int i = 0; i < PeerMemory.CAPACITY; i++) {
            memory.asked(new InetSocketAddress("10.0." + (16 + i / 256) + '.' + i % 256, 80));
        }
        InetSocketAddress a = new InetSocketAddress("10.0.10.0", 80);
        InetSocketAddress b = new InetSocketAddress("10.0.10.1", 80);
        meetsSilence(a);
        meetsSilence(b);
        assertEquals(TcpReason.REMEMBERED, memory.objection(a));
        assertEquals(TcpReason.REMEMBERED, memory.objection(b));
        assertEquals(PeerMemory.CAPACITY, memory.size());
    }

    @Test
    void shouldKeepARefusalThatOthersAskAfter() {
        memory.rejected(web);
        for (int i = 0; i < PeerMemory.CAPACITY; i++) {
            assertTrue(knows(web));
            memory.rejected(new InetSocketAddress("10.0." + (16 + i / 256) + '.' + i % 256, 80));
        }
        assertTrue(knows(web));
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
