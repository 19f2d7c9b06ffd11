/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.stream;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.ArgumentMatchers.anyLong;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.when;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jrsocket.threads.ServiceLoop;
import org.jrsocket.threads.ServiceThread;
import org.jrsocket.threads.ServiceThreads;
import org.jrsocket.threads.Threads;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** When the next turn of a keep-alive comes. */
class KeepAliveTurnsTest {

    private static final long TWO_HOURS = TimeUnit.HOURS.toNanos(2);
    private static final long FIVE_SECONDS = TimeUnit.SECONDS.toNanos(5);

    private final ServiceLoop service = mock(ServiceLoop.class);
    private final ArrayDeque<Runnable> due = new ArrayDeque<>();
    private final List<Long> times = new ArrayList<>();
    private int sent;
    private final KeepAlive keepAlive = new KeepAlive(service, () -> sent++);

    @BeforeEach
    void takeTimers() {
        when(service.schedule(any(), anyLong())).thenAnswer(call -> {
            due.add(call.getArgument(0));
            times.add(call.getArgument(1));
            return mock(ServiceLoop.Timer.class);
        });
        when(service.scheduleAgain(any(), anyLong())).thenCallRealMethod();
    }

    private void turn() {
        due.remove().run();
    }

    @Test
    void shouldSendOneProbeAtATime() {
        keepAlive.every(FIVE_SECONDS);
        turn();
        turn();
        assertEquals(2, sent);
        assertEquals(List.of(FIVE_SECONDS, FIVE_SECONDS, FIVE_SECONDS), times);
        assertEquals(1, due.size());
    }

    @Test
    void shouldHaveNoTurnMoreOnceAProbeHasEndedIt() {
        KeepAlive[] ends = new KeepAlive[1];
        ends[0] = new KeepAlive(service, () -> ends[0].end());
        ends[0].every(FIVE_SECONDS);
        turn();
        ends[0].every(TWO_HOURS);
        assertEquals(List.of(FIVE_SECONDS), times);
        assertTrue(due.isEmpty());
    }

    @Test
    void shouldForgetTheTurnBeforeAChangeOfTheInterval() {
        keepAlive.every(TWO_HOURS);
        keepAlive.every(FIVE_SECONDS);
        due.removeFirst(); // cancelled
        turn();
        assertEquals(1, sent);
        assertEquals(List.of(TWO_HOURS, FIVE_SECONDS, FIVE_SECONDS), times);
    }

    @Test
    void shouldHaveNoTurnWhileItIsSwitchedOff() {
        keepAlive.every(0);
        assertTrue(due.isEmpty());
        keepAlive.every(FIVE_SECONDS);
        keepAlive.every(0);
        turn(); // it was due when it was cancelled
        assertEquals(0, sent);
        assertTrue(due.isEmpty());
    }

    /** Another thread may set the interval while a probe is on its way. */
    @Test
    void shouldFollowAChangeOfTheIntervalDuringAProbe() {
        for (long interval : new long[] {0, TWO_HOURS}) {
            KeepAlive[] changes = new KeepAlive[1];
            changes[0] = new KeepAlive(service, () -> changes[0].every(interval));
            changes[0].every(FIVE_SECONDS);
            turn();
        }
        assertEquals(List.of(FIVE_SECONDS, FIVE_SECONDS, TWO_HOURS), times);
        assertEquals(1, due.size());
    }

    @Test
    void shouldHaveATurnAgainAfterAProbeThatFailed() {
        KeepAlive fails = new KeepAlive(service, () -> {
            throw new IllegalStateException("as the test wants");
        });
        fails.every(FIVE_SECONDS);
        assertThrows(IllegalStateException.class, this::turn);
        assertEquals(List.of(FIVE_SECONDS, FIVE_SECONDS), times);
    }

    /** Its owner may be closing it because of that. */
    @Test
    void shouldNotKeepWhoeverEndsAKeepAliveThatWaitsForMemory() throws Exception {
        ServiceThread service = new ServiceThread("service-of-a-test", Threads::daemon);
        KeepAlive keepAlive = new KeepAlive(service, () -> {});
        CountDownLatch lacking = new CountDownLatch(1);
        CountDownLatch busy = new CountDownLatch(1);
        service.execute(() -> Threads.await(busy, TimeUnit.SECONDS.toNanos(50)));
        keepAlive.every(1);
        ServiceThreads.afterPlacing(service, () -> {
            lacking.countDown();
            throw new OutOfMemoryError("says a test");
        });
        busy.countDown();
        assertTrue(lacking.await(50, TimeUnit.SECONDS));
        keepAlive.end();
        ServiceThreads.afterPlacing(service, () -> {});
        CountDownLatch last = new CountDownLatch(1);
        service.schedule(() -> service.execute(last::countDown), 0); // a timer has its place as long as it runs
        assertTrue(last.await(50, TimeUnit.SECONDS));
        assertEquals(0, ServiceThreads.timersLaterThan(service, -TimeUnit.HOURS.toNanos(1)), "it has ended");
        assertTrue(service.stop(TimeUnit.SECONDS.toNanos(50)));
    }
}
