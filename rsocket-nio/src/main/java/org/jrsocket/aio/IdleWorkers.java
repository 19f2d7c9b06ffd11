/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.aio;

/** The threads of a group that wait to be called. To keep one takes no memory. Used with the owner's lock held. */
final class IdleWorkers {

    private Worker pooled; // of the pool, the last to become idle; null if there is none
    private Worker internal;

    boolean isEmpty() {
        return pooled == null && internal == null;
    }

    boolean hasPooled() {
        return pooled != null;
    }

    /** Waits until the thread is {@linkplain #wakeOne woken}. Releases the lock meanwhile. */
    void await(Worker me) {
        add(me);
        try {
            while (me.waits) {
                me.called.awaitUninterruptibly();
            }
        } finally {
            if (me.waits) { // no memory to wait, so the lock was held all the time
                removeLast(me);
            }
        }
    }

    private void add(Worker worker) {
        worker.waits = true;
        if (worker.internal) {
            worker.nextIdle = internal;
            internal = worker;
        } else {
            worker.nextIdle = pooled;
            pooled = worker;
        }
    }

    /** Wakes a thread of the pool, if there is one, or else an internal one. Returns false if all are busy. */
    boolean wakeOne() {
        Worker last = pooled != null ? pooled : internal;
        if (last == null) {
            return false;
        }
        removeLast(last);
        last.called.signal();
        return true;
    }

    /** @param last the last of its kind that became idle */
    private void removeLast(Worker last) {
        if (last.internal) {
            internal = last.nextIdle;
        } else {
            pooled = last.nextIdle;
        }
        last.nextIdle = null;
        last.waits = false;
    }
}
