/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.connect;

import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.jrsocket.stream.PendingConnect;

/**
 * The age of an attempt. If nobody has looked at it when that was due, then this process or its service thread stood
 * still, and what the kernel and the peer did meanwhile is not handled yet. The time since the look before does not
 * count, so the attempt goes on as if nothing had happened. That happens a few times at most, because an attempt has to
 * end even where each look comes late. Safe for use by many threads.
 */
final class AttemptAge {

    /** A look that is later than this is no longer a matter of a busy processor. */
    private static final long LATE_NANOS = TimeUnit.SECONDS.toNanos(1);

    private static final int MOST_STANDSTILLS = 3;

    private final LongSupplier clock;

    // Guarded by this.
    private int standstills;
    private long began;
    private long looked;
    private long due;

    /** @param clock nanoseconds, as {@link System#nanoTime} */
    AttemptAge(LongSupplier clock) {
        this.clock = clock;
        began = clock.getAsLong();
        looked = began;
        due = began;
    }

    /** Looks, and returns the age in nanoseconds. */
    synchronized long look() {
        long now = clock.getAsLong();
        if (now - due > LATE_NANOS && standstills < MOST_STANDSTILLS) {
            standstills++;
            began += now - looked;
            due = now;
        }
        looked = now;
        return now - began;
    }

    /**
     * Says when the next look is due.
     *
     * @param nanos from the last one; 0 or less if the attempt's time is over: only a late answer may follow
     */
    synchronized void lookAgainIn(long nanos) {
        due = looked + (nanos > 0 ? nanos : PendingConnect.LATE_NANOS);
    }
}
