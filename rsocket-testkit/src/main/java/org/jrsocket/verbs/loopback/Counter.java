/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.verbs.loopback;

import java.util.concurrent.atomic.AtomicLong;

/**
 * A counter that is raised by one thread at a time, under a lock, and read by any. So it needs neither an atomic
 * addition nor a full fence: a thread that sees a value sees what was written before it, and more is not needed.
 */
final class Counter {

    private final AtomicLong value = new AtomicLong();

    /** Raises the counter. Called with the lock held that the writers share. */
    void add(long n) {
        value.setRelease(value.getPlain() + n);
    }

    long get() {
        return value.getAcquire();
    }
}
