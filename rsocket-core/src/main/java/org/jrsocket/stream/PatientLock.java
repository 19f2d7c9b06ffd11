/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.stream;

import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;

/**
 * A lock that has nothing to do with interrupts. Whoever is interrupted while it waits for a {@link ReentrantLock}
 * calls {@link Thread#interrupt} on itself as soon as it has it, and a thread class may override that: to close its
 * socket, for one. That would run with this lock and all others that the thread has, and wait for locks of the JDK that
 * another thread, which is closing the same socket and waits for this lock, has. Here the thread's status stays as it
 * is, and nothing is called. Any thread; reentrant. It is held for short, so who cannot sleep, because it is
 * interrupted, gives way until it has it.
 */
final class PatientLock {

    private final ReentrantLock lock = new ReentrantLock(); // nobody waits in it
    private final Queue<Thread> waiters = new ConcurrentLinkedQueue<>();

    void lock() {
        if (!lock.tryLock()) {
            await();
        }
    }

    private void await() {
        Thread me = Thread.currentThread();
        waiters.add(me); // before it looks again: who lets go after that look sees it
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
            if (!lock.isHeldByCurrentThread()) { // no memory to park, say
                wakeNext();
            }
        }
    }

    private void wakeNext() {
        Thread next = waiters.peek();
        if (next != null) {
            LockSupport.unpark(next); // another one may be faster; that one wakes it again
        }
    }

    boolean tryLock() {
        return lock.tryLock();
    }

    void unlock() {
        lock.unlock();
        wakeNext();
    }

    boolean isHeld() {
        return lock.isHeldByCurrentThread();
    }

    /** How often the calling thread has it. */
    int holds() {
        return lock.getHoldCount();
    }
}
