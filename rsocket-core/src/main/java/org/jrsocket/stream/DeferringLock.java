/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.stream;

import java.util.concurrent.locks.ReentrantLock;

/**
 * A lock that no code of the application runs with. Whoever is interrupted while it waits for a {@link ReentrantLock}
 * calls {@link Thread#interrupt} on itself as soon as it has it, and a thread class may override that: to close its
 * socket, for one. That needs this lock again, and locks of the JDK that another thread, which is closing the same
 * socket and waits for this lock, has. Here the call comes when the lock is free. Any thread; reentrant.
 */
final class DeferringLock {

    private final ReentrantLock lock = new ReentrantLock();
    private boolean interrupted; // whoever has the lock was, and has not been told; guarded by lock

    void lock() {
        if (!lock.tryLock()) {
            await();
        }
    }

    private void await() {
        boolean was = false;
        for (; ; ) {
            try {
                lock.lockInterruptibly();
                interrupted = was;
                return;
            } catch (InterruptedException e) {
                was = true;
            }
        }
    }

    boolean tryLock() {
        return lock.tryLock();
    }

    void unlock() {
        if (release()) {
            Thread.currentThread().interrupt();
        }
    }

    /**
     * As {@link #unlock}, for a caller that still has something to do.
     *
     * @return whether it has to interrupt itself then
     */
    boolean release() {
        boolean owes = lock.getHoldCount() == 1 && takeInterrupt();
        lock.unlock();
        return owes;
    }

    /** With the lock: whether the thread was interrupted while it waited for it. It is the caller's to see to, once. */
    boolean takeInterrupt() {
        boolean was = interrupted;
        if (was) {
            interrupted = false;
        }
        return was;
    }

    boolean isHeld() {
        return lock.isHeldByCurrentThread();
    }

    /** How often the calling thread has it. */
    int holds() {
        return lock.getHoldCount();
    }
}
