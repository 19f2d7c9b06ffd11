/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.connect;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.Mockito.atLeastOnce;
import static org.mockito.Mockito.doThrow;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.verify;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;
import org.jrsocket.HopelessError;
import org.jrsocket.connect.Ways.Way;
import org.jrsocket.stream.PendingConnect;
import org.jrsocket.stream.PendingConnect.Answer;
import org.jrsocket.stream.RdmaConnectException;
import org.jrsocket.stream.RdmaConnectException.Reason;
import org.jrsocket.stream.RdmaStream;
import org.jrsocket.threads.ServiceLoop;
import org.jrsocket.verbs.VerbsUnavailableException;
import org.junit.jupiter.api.Test;

/** An attempt that waits for another one to ask: how long, and what it says of its failure. */
class WayAttemptTest {

    private static final InetSocketAddress PEER = new InetSocketAddress("10.0.0.1", 80);
    private static final long HOUR = TimeUnit.HOURS.toNanos(1);

    private final AtomicLong now = new AtomicLong();
    private final PeerMemory memory = new PeerMemory(HOUR, HOUR, HOUR, now::get);
    private final Way way = new Way(null, memory);
    private final List<Runnable> tasks = new ArrayList<>();
    private final List<Runnable> timers = new ArrayList<>();
    private final List<PendingConnect> made = new ArrayList<>();
    private Error refusal; // to make one; null makes it
    private VerbsUnavailableException unavailable; // likewise
    private Error notWatched; // likewise, if its end cannot be watched for
    private Error noTask; // what handing a task over fails with; null if it does not fail
    private Error noTimer; // what scheduling fails with; null if it does not fail
    private int eventsTaken;
    private boolean onServiceThread;

    private final WayAttempt.Maker maker = new WayAttempt.Maker() {
        @Override
        public PendingConnect connect(Way way, PendingConnect.Observer observer) throws VerbsUnavailableException {
            if (refusal != null) {
                throw refusal;
            }
            if (unavailable != null) {
                throw unavailable;
            }
            PendingConnect pending = mock(PendingConnect.class);
            if (notWatched != null) {
                doThrow(notWatched).when(pending).onDone(any());
            }
            made.add(pending);
            return pending;
        }

        @Override
        public boolean mayUse(Way way, String device, InetAddress from) {
            return true;
        }

        @Override
        public ServiceLoop service() {
            return new ServiceLoop() {
                @Override
                public void execute(Runnable task) {
                    if (noTask != null) {
                        throw noTask;
                    }
                    tasks.add(task);
                }

                @Override
                public Timer schedule(Runnable task, long nanos) {
                    if (noTimer != null) {
                        throw noTimer;
                    }
                    timers.add(task);
                    return () -> timers.remove(task);
                }

                @Override
                public Watch watch(int fd, Runnable onReadable) {
                    throw new AssertionError("nothing to watch");
                }

                @Override
                public boolean isCurrent() {
                    return onServiceThread;
                }
            };
        }

        @Override
        public void takeCmEvents() {
            eventsTaken++;
        }
    };

    private WayAttempt attempt(long limit) throws Exception {
        AttemptTime time = new AttemptTime(memory, PEER, 1, limit, true);
        WayAttempt attempt = new WayAttempt(way, PEER, time, true);
        attempt.start(maker);
        return attempt;
    }

    private static RdmaConnectException why(Reason reason) {
        return new RdmaConnectException(reason, "as the test wants", null);
    }

    private static void runAll(List<Runnable> tasks) {
        List<Runnable> all = List.copyOf(tasks);
        tasks.clear();
        all.forEach(Runnable::run);
    }

    @Test
    void shouldNotBlameAHostThatAnsweredWhenTheCallersTimeWasUsedUpByWaiting() throws Exception {
        WayAttempt asking = attempt(0);
        WayAttempt waiting = attempt(HOUR);
        assertEquals(1, made.size());
        asking.asked();
        asking.answered(Answer.OURS);
        way.firstContacts().over(asking, null);
        waiting.onDone(() -> {});
        assertEquals(2, made.size());
        assertEquals(TcpReason.TIMEOUT, waiting.reason(why(Reason.TIMEOUT)));
        assertEquals(TcpReason.UNREACHABLE, waiting.reason(why(Reason.UNREACHABLE)));
    }

    /** It would be counted as another silence. */
    @Test
    void shouldLeaveItToTheFirstToSayWhatItMet() throws Exception {
        WayAttempt asking = attempt(0);
        WayAttempt waiting = attempt(0);
        RdmaConnectException unresolved = why(Reason.UNRESOLVED);
        way.firstContacts().over(asking, unresolved);
        assertSame(unresolved, waiting.failure());
        assertEquals(TcpReason.UNRESOLVED, asking.reason(unresolved));
        assertEquals(TcpReason.TIMEOUT, waiting.reason(unresolved));
    }

    @Test
    void shouldSayThatOneThatHadItsTimeAloneFoundNoRoute() throws Exception {
        assertEquals(TcpReason.UNRESOLVED, attempt(1).reason(why(Reason.TIMEOUT)));
    }

    /** No connection would be tried over RDMA for a while, though nothing is wrong with the way to the host. */
    @Test
    void shouldNotBlameTheRouteForASlowDevice() throws Exception {
        WayAttempt attempt = attempt(1);
        attempt.routed();
        assertEquals(TcpReason.TIMEOUT, attempt.reason(why(Reason.TIMEOUT)));
    }

    /** Lack of memory, say: nobody would ask the host, and everybody wait for that. */
    @Test
    void shouldLetAnotherOneAskIfTheFirstCannotBegin() throws Exception {
        refusal = new OutOfMemoryError("says a test");
        assertThrows(OutOfMemoryError.class, () -> attempt(0));
        refusal = null;
        attempt(0);
        assertEquals(1, made.size());
    }

    @Test
    void shouldLetThoseThatWaitGoOnIfTheNextOneCannotBegin() throws Exception {
        WayAttempt asking = attempt(0);
        WayAttempt next = attempt(0);
        WayAttempt last = attempt(0);
        way.firstContacts().over(asking, why(Reason.CANCELLED));
        refusal = new OutOfMemoryError("says a test");
        assertThrows(OutOfMemoryError.class, () -> next.onDone(() -> {}));
        refusal = null;
        last.onDone(() -> {});
        assertEquals(2, made.size());
    }

    /** Nobody else would: a channel would be connecting for ever. */
    @Test
    void shouldTellACallerThatDoesNotBlockIfItsTurnComesAndItCannotBegin() throws Exception {
        WayAttempt asking = attempt(0);
        WayAttempt next = attempt(0);
        List<WayAttempt> told = new ArrayList<>();
        next.onDone(() -> told.add(next));
        way.firstContacts().over(asking, why(Reason.CANCELLED));
        refusal = new InternalError("says a test");
        runAll(tasks);
        assertEquals(List.of(next), told);
        assertEquals(Reason.RESOURCES, next.failure().reason());
        assertSame(refusal, next.failure().getCause());
    }

    @Test
    void shouldSayThatRdmaHasEndedWhileItWaited() throws Exception {
        WayAttempt asking = attempt(0);
        WayAttempt waiting = attempt(0);
        way.firstContacts().over(asking, why(Reason.CANCELLED));
        unavailable = new VerbsUnavailableException(VerbsUnavailableException.Reason.NO_DEVICE, "says a test", null);
        RdmaConnectException e = assertThrows(RdmaConnectException.class, waiting::await);
        assertEquals(Reason.RESOURCES, e.reason());
        assertEquals("says a test", e.getMessage());
    }

    /** It is told with the others, whether or not its caller has given it up. */
    @Test
    void shouldTellThoseThatWaitAlthoughOneGotNoTimer() throws Exception {
        WayAttempt asking = attempt(0);
        WayAttempt next = attempt(0);
        WayAttempt last = attempt(0);
        noTimer = new OutOfMemoryError("says a test");
        assertThrows(OutOfMemoryError.class, () -> next.onDone(() -> {}));
        noTimer = null;
        last.onDone(() -> {});
        asking.asked();
        asking.answered(Answer.OURS);
        way.firstContacts().over(asking, null);
        runAll(tasks);
        assertEquals(2, made.size(), "the first, and the last");
    }

    /** A logger's appender that connects, say: what it waits for would be told on its own thread. */
    @Test
    void shouldNotHaveTheServiceThreadWaitForAnotherOne() throws Exception {
        attempt(0);
        WayAttempt waiting = attempt(HOUR);
        onServiceThread = true;
        assertEquals(
                Reason.RESOURCES,
                assertThrows(RdmaConnectException.class, waiting::await).reason());
        assertEquals(1, made.size());
    }

    /** Threads and channels. */
    @Test
    void shouldEndAllThatWaitInOnePassWhenTheHostHasBeenSilent() throws Exception {
        WayAttempt asking = attempt(0);
        List<WayAttempt> waiting = new ArrayList<>();
        List<WayAttempt> told = new ArrayList<>();
        for (int i = 0; i < 100; i++) {
            waiting.add(attempt(0));
        }
        asking.asked();
        for (int i = 0; i < 100; i++) {
            waiting.add(attempt(0));
        }
        assertEquals(1, timers.size());
        waiting.subList(0, 50).forEach(each -> each.onDone(() -> told.add(each)));
        now.set(HOUR / 4);
        timers.remove(0).run();
        assertEquals(1, eventsTaken, "the answer may be among them");
        assertEquals(0, timers.size());
        runAll(tasks);
        assertEquals(waiting.subList(0, 50), told);
        RdmaConnectException why = waiting.get(0).failure();
        assertEquals(Reason.TIMEOUT, why.reason());
        assertEquals("it did not answer the request of another connection", why.getMessage());
        for (WayAttempt each : waiting) {
            assertSame(why, assertThrows(RdmaConnectException.class, each::await));
        }
        assertEquals(1, made.size());
    }

    /** The host owes nothing any more when the service thread gets to it. */
    @Test
    void shouldNotWaitForAHostThatHasTurnedOutToBeSilent() throws Exception {
        WayAttempt asking = attempt(0);
        WayAttempt waiting = attempt(0);
        asking.asked();
        assertNull(waiting.failure());
        memory.unreachable(PEER); // which counts as a silence
        runAll(timers);
        assertNotNull(waiting.failure());
    }

    @Test
    void shouldNotBeginIfTheHostHasTurnedOutToBeSilentSinceItWasChosen() throws Exception {
        memory.unreachable(PEER);
        WayAttempt late = attempt(0);
        assertEquals(Reason.TIMEOUT, late.failure().reason());
        assertSame(late.failure(), assertThrows(RdmaConnectException.class, late::await));
        assertEquals(0, made.size());
    }

    /** Each of them would wait as long for its route in its turn. */
    @Test
    void shouldEndThoseThatWaitIfTheFirstFoundNoRouteInItsTime() throws Exception {
        WayAttempt asking = attempt(0);
        WayAttempt waiting = attempt(0);
        now.set(asking.time().left());
        RdmaConnectException noRoute = why(Reason.TIMEOUT);
        way.firstContacts().over(asking, noRoute);
        assertSame(noRoute, waiting.failure());
    }

    @Test
    void shouldBeginIfTheFirstHadLessTimeThanThoseThatWait() throws Exception {
        WayAttempt asking = attempt(1);
        WayAttempt waiting = attempt(0);
        now.set(asking.time().left());
        way.firstContacts().over(asking, why(Reason.TIMEOUT));
        assertNull(waiting.failure());
        waiting.onDone(() -> {});
        assertEquals(2, made.size());
    }

    @Test
    void shouldGoOnIfTheHostHasAnsweredThoughItWasForgottenMeanwhile() throws Exception {
        WayAttempt asking = attempt(0);
        WayAttempt waiting = attempt(0);
        asking.asked();
        memory.clear();
        asking.answered(Answer.OURS);
        way.firstContacts().over(asking, null);
        waiting.onDone(() -> {});
        assertEquals(2, made.size());
        assertEquals(KnownHost.Standing.KNOWN, memory.standing(PEER));
    }

    /** Nobody knows any more of the request that is out. */
    @Test
    void shouldAskIfTheHostWasForgottenBeforeTheFirstGaveUp() throws Exception {
        WayAttempt asking = attempt(0);
        WayAttempt next = attempt(0);
        WayAttempt last = attempt(0);
        asking.asked();
        memory.clear();
        way.firstContacts().over(asking, why(Reason.TIMEOUT));
        next.onDone(() -> {});
        last.onDone(() -> {});
        assertEquals(2, made.size());
    }

    /** What is open is somebody else's request, of whom nothing else is left. */
    @Test
    void shouldNotWaitLongerThanUsualForTheAnswerToARequestThatWasOutBefore() throws Exception {
        memory.asked(PEER);
        WayAttempt waiting = attempt(0);
        assertEquals(0, made.size());
        now.set(HOUR / 4);
        runAll(timers);
        assertEquals(Reason.TIMEOUT, waiting.failure().reason());
    }

    /** The one that asked is gone, and TCP has found the host down. */
    @Test
    void shouldAskWhenTheRequestThatWasOutBeforeSaysNothingAnyMore() throws Exception {
        memory.asked(PEER);
        WayAttempt waiting = attempt(0);
        memory.down(PEER);
        runAll(timers);
        waiting.onDone(() -> {});
        assertEquals(1, made.size());
    }

    @Test
    void shouldWaitAsLongAsUsualForARequestThatWasSentInTheMeantime() throws Exception {
        memory.asked(PEER);
        WayAttempt waiting = attempt(0);
        memory.down(PEER);
        memory.asked(PEER);
        now.set(1);
        runAll(timers);
        assertNull(waiting.failure());
        now.set(HOUR / 4);
        runAll(timers);
        assertNotNull(waiting.failure());
    }

    @Test
    void shouldBeginInItsOwnThreadWhenTheHostHasAnswered() throws Exception {
        WayAttempt asking = attempt(0);
        WayAttempt waiting = attempt(0);
        asking.asked();
        asking.answered(Answer.OURS);
        way.firstContacts().over(asking, null);
        assertEquals(1, made.size());
        assertNull(waiting.await()); // as the other's mock says
        assertEquals(2, made.size());
        verify(made.get(1)).await(any(LongSupplier.class));
        assertEquals(List.of(), tasks);
    }

    @Test
    void shouldWakeAThreadThatWaitsWhenItMayBegin() throws Exception {
        WayAttempt asking = attempt(0);
        WayAttempt waiting = attempt(0);
        FutureTask<RdmaStream> connecting = new FutureTask<>(waiting::await);
        Thread thread = new Thread(connecting, "waits");
        thread.start();
        while (thread.getState() != Thread.State.TIMED_WAITING) {
            Thread.sleep(1);
        }
        asking.asked();
        asking.answered(Answer.OURS);
        way.firstContacts().over(asking, null);
        assertNull(connecting.get(60, TimeUnit.SECONDS));
        assertEquals(2, made.size());
    }

    /** As with TCP: it does not disturb the wait, and is not lost. */
    @Test
    void shouldKeepAnInterruptOfAThreadThatWaits() throws Exception {
        WayAttempt asking = attempt(0);
        WayAttempt waiting = attempt(0);
        FutureTask<Boolean> connecting = new FutureTask<>(() -> {
            waiting.await();
            return Thread.currentThread().isInterrupted();
        });
        Thread thread = new Thread(connecting, "waits");
        thread.start();
        thread.interrupt();
        while (thread.isInterrupted() || thread.getState() != Thread.State.TIMED_WAITING) {
            Thread.sleep(1);
        }
        way.firstContacts().over(asking, why(Reason.CANCELLED));
        assertTrue(connecting.get(60, TimeUnit.SECONDS));
        assertEquals(2, made.size());
    }

    @Test
    void shouldBeginOnTheServiceThreadForACallerThatDoesNotWait() throws Exception {
        WayAttempt asking = attempt(0);
        WayAttempt waiting = attempt(0);
        waiting.onDone(() -> {});
        asking.asked();
        asking.answered(Answer.OURS);
        way.firstContacts().over(asking, null);
        assertEquals(1, made.size());
        runAll(tasks);
        assertEquals(2, made.size());
        assertEquals(1, timers.size(), "that of all; its own is cancelled");
    }

    @Test
    void shouldPassOnThePlaceOfTheFirstThatWasCancelledBeforeItBegan() throws Exception {
        WayAttempt asking = attempt(0);
        WayAttempt second = attempt(0);
        WayAttempt third = attempt(0);
        way.firstContacts().over(asking, why(Reason.CANCELLED));
        second.cancel();
        assertEquals(Reason.CANCELLED, second.failure().reason());
        third.onDone(() -> {});
        assertEquals(2, made.size());
    }

    @Test
    void shouldGiveASilentHostItsTimeWhereThePolicyWantsRdma() throws Exception {
        memory.unreachable(PEER);
        WayAttempt oneOfTwo = new WayAttempt(way, PEER, new AttemptTime(memory, PEER, 1, 0, true), false);
        oneOfTwo.start(maker);
        assertEquals(1, made.size());
        assertTrue(oneOfTwo.time().left() > 0);
    }

    // ---- this process stands still, and the kernel goes on ----

    /** What came in the meantime, the route for example, waits for the service thread. */
    @Test
    void shouldHaveItsTimeBackAfterAStandstillBeforeItCouldAsk() throws Exception {
        WayAttempt attempt = attempt(0);
        long preparing = attempt.time().left();
        now.set(100 * HOUR);
        assertEquals(preparing, attempt.time().left());
        attempt.asked();
        assertEquals(HOUR, attempt.time().left());
    }

    @Test
    void shouldHaveItsTimeBackWhenTheStandstillEndsWithTheRequest() throws Exception {
        WayAttempt attempt = attempt(0);
        assertTrue(attempt.time().left() > 0);
        now.set(100 * HOUR);
        attempt.asked();
        assertEquals(HOUR, attempt.time().left());
        now.addAndGet(HOUR);
        assertEquals(0, attempt.time().left());
    }

    @Test
    void shouldEndInTimeIfItOnlyBecomesALittleLate() throws Exception {
        WayAttempt attempt = attempt(0);
        now.set(attempt.time().left() + TimeUnit.SECONDS.toNanos(1));
        assertTrue(attempt.time().left() < 0);
    }

    /** Else it would be given far more time than usual, whenever it is silent. */
    @Test
    void shouldNotTakeAStandstillForASlowAnswer() throws Exception {
        WayAttempt attempt = attempt(0);
        attempt.asked();
        assertEquals(HOUR, attempt.time().left());
        now.set(100 * HOUR);
        attempt.answered(Answer.OURS);
        assertEquals(0, memory.states().get(0).usualNanos());
    }

    @Test
    void shouldTakeALateAnswerForASlowOne() throws Exception {
        WayAttempt attempt = attempt(0);
        attempt.asked();
        assertEquals(HOUR, attempt.time().left());
        now.set(HOUR);
        assertEquals(0, attempt.time().left());
        now.addAndGet(PendingConnect.LATE_NANOS);
        attempt.answered(Answer.OURS);
        assertEquals(HOUR + PendingConnect.LATE_NANOS, memory.states().get(0).usualNanos());
    }

    /** The answer to the first one may have come, and waits for the service thread. */
    @Test
    void shouldGoOnWaitingForAnotherOneAfterAStandstill() throws Exception {
        WayAttempt asking = attempt(0);
        WayAttempt waiting = attempt(0);
        waiting.onDone(() -> {});
        now.set(100 * HOUR);
        runAll(timers);
        assertNull(waiting.failure());
        assertEquals(1, timers.size(), "it still has a limit");
        asking.asked();
        asking.answered(Answer.OURS);
        way.firstContacts().over(asking, null);
        runAll(tasks);
        assertEquals(2, made.size());
        assertTrue(waiting.time().left() > 0);
    }

    @Test
    void shouldEndTheWaitForAnotherOneInTime() throws Exception {
        attempt(0);
        WayAttempt waiting = attempt(0);
        waiting.onDone(() -> {});
        now.set(memory.most());
        runAll(timers);
        assertEquals(Reason.TIMEOUT, waiting.failure().reason());
        assertEquals(0, timers.size());
    }

    /** Nor is there any for an exception. */
    @Test
    void shouldTellACallerThatDoesNotBlockThoughMemoryIsLackingForThat() throws Exception {
        WayAttempt asking = attempt(0);
        WayAttempt next = attempt(0);
        List<WayAttempt> told = new ArrayList<>();
        next.onDone(() -> told.add(next));
        way.firstContacts().over(asking, why(Reason.CANCELLED));
        refusal = new HopelessError(1);
        HopelessError.ensureNone(() -> runAll(tasks));
        assertEquals(List.of(next), told);
        assertEquals(Reason.RESOURCES, next.failure().reason());
    }

    /** Both: the first must not keep the second from being told. */
    @Test
    void shouldTellCallersInTimeWhereMemoryIsLackingToTellThemAtOnce() throws Exception {
        WayAttempt asking = attempt(0);
        List<WayAttempt> told = new ArrayList<>();
        for (int i = 0; i < 2; i++) {
            WayAttempt waiting = attempt(0);
            waiting.onDone(() -> told.add(waiting));
        }
        noTask = new OutOfMemoryError("says a test");
        HopelessError.ensureNone(() -> way.firstContacts().over(asking, why(Reason.UNREACHABLE)));
        assertEquals(List.of(), told);
        noTask = null;
        runAll(timers);
        assertEquals(2, told.size());
        told.forEach(each -> assertEquals(Reason.UNREACHABLE, each.failure().reason()));
    }

    /** What it comes to would belong to nobody, and all others would wait for it to ask. */
    @Test
    void shouldGiveUpAnAttemptOfWhichOthersCannotBeTold() throws Exception {
        notWatched = new OutOfMemoryError("says a test");
        assertThrows(OutOfMemoryError.class, () -> attempt(0));
        verify(made.get(0)).cancel();
        notWatched = null;
        attempt(0);
        assertEquals(2, made.size());
    }

    /** Nobody would ask the host if it were the next one's turn. */
    @Test
    void shouldForgetOneThatCannotWaitForLackOfATimer() throws Exception {
        WayAttempt asking = attempt(0);
        asking.asked();
        noTimer = new OutOfMemoryError("says a test");
        assertThrows(OutOfMemoryError.class, () -> attempt(0));
        noTimer = null;
        attempt(0);
        assertEquals(1, timers.size(), "the next one has the time looked at");
        way.firstContacts().over(asking, null);
        assertEquals(1, made.size());
    }

    /** Nobody would look again, and tell the caller. */
    @Test
    void shouldEndAWaitThatCannotGoOnForLackOfATimer() throws Exception {
        attempt(0);
        WayAttempt waiting = attempt(0);
        List<WayAttempt> told = new ArrayList<>();
        waiting.onDone(() -> told.add(waiting));
        now.set(100 * HOUR);
        noTimer = new OutOfMemoryError("says a test");
        HopelessError.ensureNone(() -> runAll(timers));
        runAll(tasks);
        assertEquals(List.of(waiting), told);
        assertEquals(Reason.RESOURCES, waiting.failure().reason());
    }

    /** A connect would fail with "Socket closed", and without trying TCP. */
    @Test
    void shouldNotCallAnAttemptCancelledThatWasGivenUpForLackOfMemory() throws Exception {
        WayAttempt asking = attempt(0);
        WayAttempt next = attempt(0);
        List<WayAttempt> told = new ArrayList<>();
        next.onDone(() -> told.add(next));
        way.firstContacts().over(asking, why(Reason.CANCELLED));
        notWatched = new OutOfMemoryError("says a test");
        HopelessError.ensureNone(() -> runAll(tasks));
        assertEquals(List.of(next), told);
        verify(made.get(1), atLeastOnce()).cancel();
        assertEquals(
                Reason.RESOURCES,
                assertThrows(RdmaConnectException.class, next::await).reason());
    }
}
