/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.stream;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class DeferringLockTest {

    private final DeferringLock lock = new DeferringLock();

    /** Writes down whether it has the lock when it interrupts itself. */
    private final class Waiter extends Thread {
        private final Runnable task;
        private final List<String> calls = new ArrayList<>();
        private boolean wasInterrupted;

        Waiter(Runnable task) {
            this.task = task;
            setDaemon(true);
        }

        @Override
        public void interrupt() {
            if (Thread.currentThread() == this) {
                calls.add(lock.isHeld() ? "with the lock" : "without it");
            }
            super.interrupt();
        }

        @Override
        public void run() {
            task.run();
            wasInterrupted = isInterrupted();
        }
    }

    /** Starts it while the lock is taken, interrupts it, and lets it have the lock. */
    private Waiter interruptedWhileItWaits(Runnable task) throws InterruptedException {
        Waiter waiter = new Waiter(task);
        lock.lock();
        try {
            waiter.start();
            while (waiter.getState() != Thread.State.WAITING) {
                Thread.sleep(1);
            }
            waiter.interrupt();
        } finally {
            lock.unlock();
        }
        waiter.join();
        return waiter;
    }

    @Test
    void shouldCallInterruptWhenTheLockIsFree() throws InterruptedException {
        Waiter waiter = interruptedWhileItWaits(() -> {
            lock.lock();
            lock.lock();
            lock.unlock();
            lock.unlock();
        });
        assertEquals(List.of("without it"), waiter.calls);
        assertTrue(waiter.wasInterrupted);
    }

    @Test
    void shouldLeaveTheCallToWhoReleasesIt() throws InterruptedException {
        List<Boolean> owed = new ArrayList<>();
        Waiter waiter = interruptedWhileItWaits(() -> {
            lock.lock();
            lock.lock();
            owed.add(lock.release());
            owed.add(lock.release());
        });
        assertEquals(List.of(false, true), owed);
        assertEquals(List.of(), waiter.calls);
        assertFalse(waiter.wasInterrupted);
    }

    @Test
    void shouldLeaveTheCallToWhoTakesIt() throws InterruptedException {
        List<Boolean> owed = new ArrayList<>();
        Waiter waiter = interruptedWhileItWaits(() -> {
            lock.lock();
            owed.add(lock.takeInterrupt());
            owed.add(lock.takeInterrupt());
            lock.unlock();
        });
        assertEquals(List.of(true, false), owed);
        assertEquals(List.of(), waiter.calls);
    }

    @Test
    void shouldKeepAnInterruptFromBefore() throws InterruptedException {
        Waiter[] self = new Waiter[1];
        self[0] = new Waiter(() -> {
            self[0].interrupt();
            lock.lock();
            lock.unlock();
        });
        lock.lock();
        try {
            self[0].start();
            while (self[0].getState() != Thread.State.WAITING) {
                Thread.sleep(1);
            }
        } finally {
            lock.unlock();
        }
        self[0].join();
        assertEquals(List.of("without it", "without it"), self[0].calls);
        assertTrue(self[0].wasInterrupted);
    }

    @Test
    void shouldNotInterruptTheNextOne() throws InterruptedException {
        interruptedWhileItWaits(() -> {
            lock.lock();
            lock.unlock();
        });
        lock.lock();
        assertFalse(lock.release());
        assertFalse(Thread.currentThread().isInterrupted());
    }
}
