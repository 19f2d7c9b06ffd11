/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.verbs.loopback;

import java.util.concurrent.atomic.AtomicLong;

/**
 * Notices when two threads do at once what the seam allows one at a time to do. Lets both go on: a real device would
 * not stop them either.
 *
 * <p>Nothing here is atomic, because each thread looks twice. Of two that entered at the same moment and saw no other,
 * one loses its mark to the other, and finds that out when it leaves. Between entering and leaving, a thread must take
 * the lock of what is guarded here, so that the next thread that takes the lock sees its mark.
 */
final class OneAtATime {

    private final AtomicLong inside = new AtomicLong(); // a thread's id, or 0
    private final String what;
    private final Registry registry;

    OneAtATime(String what, Registry registry) {
        this.what = what;
        this.registry = registry;
    }

    /** Returns whether no other thread was seen inside, which {@link #leave} has to be told. */
    boolean enter() {
        long other = inside.getOpaque();
        if (other != 0) {
            violation(other);
            return false;
        }
        inside.setOpaque(Thread.currentThread().getId());
        return true;
    }

    void leave(boolean alone) {
        if (!alone) {
            return; // noticed already, and the mark is the other thread's
        }
        long last = inside.getOpaque();
        if (last == Thread.currentThread().getId()) {
            inside.setRelease(0); // no fence: the next thread in good order sees it all the same
        } else {
            violation(last);
        }
    }

    private void violation(long other) {
        String name = Thread.getAllStackTraces().keySet().stream()
                .filter(thread -> thread.getId() == other)
                .map(Thread::toString)
                .findAny()
                .orElse(other == 0 ? "one that has left" : "thread " + other);
        registry.violation("two threads are " + what + ": " + Thread.currentThread() + " and " + name);
    }
}
