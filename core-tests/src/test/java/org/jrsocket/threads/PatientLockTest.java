/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.threads;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(120)
class PatientLockTest {

    private static final int THREADS = 4;
    private static final int ROUNDS = 20_000;

    private final PatientLock lock = new PatientLock();
    private int counted; // guarded by lock

    /** Takes the lock, and counts how often it interrupts itself. */
    private final class Waiter extends Thread {
        private final int rounds;
        private final AtomicInteger calls = new AtomicInteger();
        private boolean wasInterrupted;

        Waiter(int rounds) {
            this.rounds = rounds;
            setDaemon(true);
        }

        @Override
        public void interrupt() {
            if (Thread.currentThread() == this) {
                calls.incrementAndGet();
            }
            super.interrupt();
        }

        @Override
        public void run() {
            for (int i = 0; i < rounds; i++) {
                lock.lock();
                lock.lock();
                counted++;
                lock.unlock();
                lock.unlock();
            }
            wasInterrupted = isInterrupted();
        }
    }

    private static void awaitState(Thread thread, Thread.State state) throws InterruptedException {
        while (thread.getState() != state) {
            Thread.sleep(1);
        }
    }

    @Test
    void shouldLeaveTheStatusOfWhoWaitsAlone() throws InterruptedException {
        Waiter waiter = new Waiter(1);
        lock.lock();
        try {
            waiter.start();
            awaitState(waiter, Thread.State.WAITING);
            waiter.interrupt();
            awaitState(waiter, Thread.State.RUNNABLE);
            assertEquals(0, counted);
        } finally {
            lock.unlock();
        }
        waiter.join();
        assertEquals(1, counted);
        assertEquals(0, waiter.calls.get());
        assertTrue(waiter.wasInterrupted);
    }

    @Test
    void shouldLetAllHaveItThatWait() throws InterruptedException {
        List<Waiter> waiters = new ArrayList<>();
        lock.lock();
        try {
            for (int i = 0; i < THREADS; i++) {
                waiters.add(new Waiter(1));
                waiters.get(i).start();
                awaitState(waiters.get(i), Thread.State.WAITING);
            }
        } finally {
            lock.unlock();
        }
        for (Waiter waiter : waiters) {
            waiter.join();
            assertFalse(waiter.wasInterrupted);
        }
        assertEquals(THREADS, counted);
    }

    /** A wake-up that is lost would leave some of them behind. */
    @Test
    void shouldBeHeldByOneAtATimeAndWakeTheNext() throws InterruptedException {
        List<Waiter> waiters = new ArrayList<>();
        for (int i = 0; i < THREADS; i++) {
            waiters.add(new Waiter(ROUNDS));
        }
        waiters.forEach(Thread::start);
        while (waiters.stream().anyMatch(Thread::isAlive)) {
            waiters.get(ThreadLocalRandom.current().nextInt(THREADS)).interrupt();
            Thread.sleep(1);
        }
        for (Waiter waiter : waiters) {
            waiter.join();
            assertEquals(0, waiter.calls.get());
        }
        assertEquals(THREADS * ROUNDS, counted);
    }

    @Test
    void shouldNotBeHadTwice() throws InterruptedException {
        assertTrue(lock.tryLock());
        assertTrue(lock.tryLock());
        assertEquals(2, lock.holds());
        boolean[] had = new boolean[2];
        Thread other = new Thread(() -> {
            had[0] = lock.tryLock();
            had[1] = lock.isHeld();
        });
        other.start();
        other.join();
        assertFalse(had[0]);
        assertFalse(had[1]);
        lock.unlock();
        assertTrue(lock.isHeld());
        lock.unlock();
        assertFalse(lock.isHeld());
    }
}
