/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.verbs.loopback;

import java.util.concurrent.atomic.AtomicLong;

/**
 * A counter that is raised by one thread at a time, under some lock, and read by any. So it needs neither an atomic
 * addition nor a full fence: whoever sees a value sees what was written before it, and more is not asked of it.
 */
final class Counter {

    private final AtomicLong value = new AtomicLong();

    /** With the lock that the writers share. */
    void add(long n) {
        value.setRelease(value.getPlain() + n);
    }

    long get() {
        return value.getAcquire();
    }
}
