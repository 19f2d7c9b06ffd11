/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.threads;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.ReentrantLock;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class ServiceThreadTest {

    private final ServiceThread service;

    ServiceThreadTest() throws IOException {
        service = new ServiceThread("service-of-a-test", Threads::daemon);
    }

    @Test
    void shouldEnd() {
        assertTrue(service.stop(TimeUnit.SECONDS.toNanos(50)));
        assertTrue(service.stop(0), "it has ended before");
    }

    /** As that of a logger, which whoever ends a program may have while it closes the transport. */
    @Test
    void shouldNotKeepWhoeverClosesWithALockThatItWaitsFor() {
        ReentrantLock lock = new ReentrantLock();
        lock.lock();
        try {
            service.execute(() -> {
                lock.lock();
                try {
                    assertTrue(lock.isHeldByCurrentThread());
                } finally {
                    lock.unlock();
                }
            });
            while (!lock.hasQueuedThreads()) {
                Thread.onSpinWait();
            }
            Thread.currentThread().interrupt();
            assertFalse(service.stop(1_000_000));
            assertTrue(Thread.interrupted(), "the interrupt is the caller's");
        } finally {
            lock.unlock();
        }
        assertTrue(service.stop(TimeUnit.SECONDS.toNanos(50)));
    }

    /** What was made for a connection in the meantime belongs to the task that is to take it over. */
    @Test
    void shouldRunWhatItHasWhenItEnds() throws Exception {
        CountDownLatch busy = new CountDownLatch(1);
        CountDownLatch goOn = new CountDownLatch(1);
        CountDownLatch ran = new CountDownLatch(1);
        service.schedule( // timers come last, so that a task which is added meanwhile waits for the next turn
                () -> {
                    busy.countDown();
                    Threads.await(goOn, TimeUnit.SECONDS.toNanos(50));
                },
                0);
        busy.await();
        service.execute(ran::countDown);
        service.end();
        goOn.countDown();
        assertTrue(service.stop(TimeUnit.SECONDS.toNanos(50)));
        assertEquals(0, ran.getCount());
    }

    /** If this thread did it later, without memory for it, the timer would be lost, and whoever relies on it. */
    @Test
    void shouldPlaceATimerWhereItIsScheduled() throws Exception {
        CountDownLatch busy = new CountDownLatch(1);
        CountDownLatch goOn = new CountDownLatch(1);
        service.execute(() -> {
            busy.countDown();
            Threads.await(goOn, TimeUnit.SECONDS.toNanos(50));
        });
        busy.await();
        ServiceLoop.Timer timer = service.schedule(() -> {}, TimeUnit.HOURS.toNanos(1));
        assertEquals(1, service.timersLaterThan(0));
        timer.cancel();
        assertEquals(0, service.timersLaterThan(0));
        goOn.countDown();
        assertTrue(service.stop(TimeUnit.SECONDS.toNanos(50)));
    }

    @Test
    void shouldRunTimersInTheirOrderUnlessTheyAreCancelled() throws Exception {
        List<Integer> ran = new CopyOnWriteArrayList<>();
        CountDownLatch last = new CountDownLatch(1);
        service.schedule(last::countDown, 600_000_000);
        service.schedule(() -> ran.add(2), 500_000_000); // by far the later one, also where this thread is held up
        ServiceLoop.Timer cancelled = service.schedule(() -> ran.add(3), TimeUnit.HOURS.toNanos(1));
        service.schedule(() -> ran.add(1), 1_000_000);
        cancelled.cancel();
        last.await();
        assertEquals(List.of(1, 2), ran);
        assertTrue(service.stop(TimeUnit.SECONDS.toNanos(50)));
    }

    /** To give it up takes memory. If there is none, the task must not be lost. */
    @Test
    void shouldRunATimerBeforeItGivesUpItsPlace() throws Exception {
        AtomicInteger places = new AtomicInteger();
        CountDownLatch ran = new CountDownLatch(1);
        service.schedule(
                () -> {
                    places.set(service.timersLaterThan(-TimeUnit.HOURS.toNanos(1)));
                    ran.countDown();
                },
                0);
        ran.await();
        assertEquals(1, places.get());
        assertTrue(service.stop(TimeUnit.SECONDS.toNanos(50)));
        assertEquals(0, service.timersLaterThan(-TimeUnit.HOURS.toNanos(1)));
    }

    /** Otherwise what it does again and again would end for good. */
    @Test
    void shouldWaitForMemoryForATimerOfItsOwn() throws Exception {
        AtomicInteger refusals = new AtomicInteger(3);
        service.timers().afterPlacing(() -> {
            if (refusals.getAndDecrement() > 0) {
                throw new OutOfMemoryError("says a test");
            }
        });
        AtomicInteger ran = new AtomicInteger();
        CountDownLatch last = new CountDownLatch(1);
        service.execute(() -> {
            service.scheduleAgain(ran::incrementAndGet, 0);
            service.schedule(last::countDown, 0);
        });
        assertTrue(last.await(50, TimeUnit.SECONDS));
        assertEquals(1, ran.get());
        assertTrue(service.stop(TimeUnit.SECONDS.toNanos(50)));
    }

    /** Each try may cost a full collection. */
    @Test
    void shouldTryForMemoryMoreAndMoreRarely() throws Exception {
        long before = 0;
        for (int tries = 1; tries <= 8; tries++) {
            long pause = ServiceThread.pauseNanos(tries);
            assertTrue(pause >= 2 * before, tries + " tries, " + pause + " ns");
            before = pause;
        }
        assertEquals(TimeUnit.MILLISECONDS.toNanos(1), ServiceThread.pauseNanos(1));
        assertEquals(TimeUnit.MILLISECONDS.toNanos(128), ServiceThread.pauseNanos(Integer.MAX_VALUE));
        assertTrue(service.stop(TimeUnit.SECONDS.toNanos(50)));
    }

    /** Whoever holds a lock would have others wait for it, who might be about to free some memory. */
    @Test
    void shouldNotWaitForMemoryForAnyOtherTimer() throws Exception {
        service.timers().afterPlacing(() -> {
            throw new OutOfMemoryError("says a test");
        });
        CountDownLatch refused = new CountDownLatch(1);
        service.execute(() -> {
            try {
                service.schedule(() -> {}, 0);
            } catch (OutOfMemoryError e) {
                refused.countDown();
            }
        });
        assertTrue(refused.await(50, TimeUnit.SECONDS));
        assertTrue(service.stop(TimeUnit.SECONDS.toNanos(50)));
    }

    /** Whoever wanted it does something else instead. */
    @Test
    void shouldNotRunATimerForWhichMemoryWasLacking() throws Exception {
        service.timers().afterPlacing(() -> {
            throw new OutOfMemoryError("says a test");
        });
        AtomicInteger ran = new AtomicInteger();
        assertThrows(OutOfMemoryError.class, () -> service.schedule(ran::incrementAndGet, 0));
        service.timers().afterPlacing(() -> {});
        CountDownLatch last = new CountDownLatch(1);
        service.schedule(last::countDown, 0);
        assertTrue(last.await(50, TimeUnit.SECONDS));
        assertEquals(0, ran.get());
        assertTrue(service.stop(TimeUnit.SECONDS.toNanos(50)));
    }
}
