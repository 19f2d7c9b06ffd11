/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.threads;

import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;

/**
 * A lock that ignores interrupts. A thread that is interrupted while it waits for a {@link ReentrantLock} calls
 * {@link Thread#interrupt} on itself as soon as it has the lock. A thread class may override that method, for example
 * to close its socket. The override would then run with this lock and all others that the thread holds, and wait for
 * locks of the JDK held by another thread, which is closing the same socket and waits for this lock. Here the thread's
 * interrupt status stays as it is, and nothing is called. The lock is held only briefly, so a thread that does not get
 * it looks a few times more before it sleeps, and one that cannot sleep because it is interrupted yields until it has
 * the lock. Thread-safe; reentrant.
 */
public final class PatientLock {

    /** How often a thread looks again before it sleeps, a microsecond or two: to be woken takes longer. */
    private static final int LOOKS = Runtime.getRuntime().availableProcessors() > 1 ? 64 : 0;

    private final ReentrantLock lock = new ReentrantLock(); // no thread ever waits in it
    private final Queue<Thread> waiters = new ConcurrentLinkedQueue<>();

    public void lock() {
        if (!lock.tryLock() && !isFreeSoon()) {
            await();
        }
    }

    /** Looks whether the lock becomes free, and takes it if so. */
    private boolean isFreeSoon() {
        for (int i = 0; i < LOOKS; i++) {
            Thread.onSpinWait();
            if (!lock.isLocked() && lock.tryLock()) { // looks first: that leaves the holder its cache line
                return true;
            }
        }
        return false;
    }

    private void await() {
        Thread me = Thread.currentThread();
        waiters.add(me); // before it tries again: a thread that unlocks after that attempt sees it
        try {
            while (!lock.tryLock()) {
                if (me.isInterrupted()) {
                    Thread.yield();
                } else {
                    LockSupport.park(this);
                }
            }
        } finally {
            waiters.remove(me);
            if (!lock.isHeldByCurrentThread()) { // no memory to park, for example
                wakeNext();
            }
        }
    }

    private void wakeNext() {
        Thread next = waiters.peek();
        if (next != null) {
            LockSupport.unpark(next); // another thread may get the lock first; it then wakes this one again
        }
    }

    public boolean tryLock() {
        return lock.tryLock();
    }

    public void unlock() {
        lock.unlock();
        wakeNext();
    }

    public boolean isHeld() {
        return lock.isHeldByCurrentThread();
    }

    /** Returns how often the calling thread holds the lock. */
    public int holds() {
        return lock.getHoldCount();
    }
}
