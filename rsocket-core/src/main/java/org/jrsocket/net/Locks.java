/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.net;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;

/** Waits for locks as the JDK's sockets do. */
final class Locks {

    private Locks() {}

    /**
     * Takes the lock if it becomes free in time. Interrupts do not end the wait; the interrupt status is kept.
     *
     * @param nanos more than 0
     * @return what is left of the time; 0 or less if the lock was not taken
     */
    static long lock(ReentrantLock lock, long nanos) {
        if (lock.tryLock()) {
            return nanos;
        }
        long start = System.nanoTime();
        long left = nanos;
        boolean interrupted = false;
        boolean taken = false;
        while (!taken && left > 0) {
            try {
                taken = lock.tryLock(left, TimeUnit.NANOSECONDS);
            } catch (InterruptedException e) {
                interrupted = true;
            }
            left = nanos - (System.nanoTime() - start);
        }
        if (taken && left <= 0) {
            lock.unlock();
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
        return left;
    }
}
