/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.stream;

import java.util.concurrent.atomic.AtomicInteger;

/**
 * How long one waiter polls before it sleeps. Its waits decide: while they are short, whether it slept through them or
 * not, it polls for all of the configured time; when they are long, polling is a waste and shrinks. Judging by the
 * whole wait matters: a conversation of two ends that both sleep takes two wake-ups per round trip, which no poll
 * shorter than a wake-up would ever get it out of.
 *
 * <p>At most half of the machine's CPUs poll at the same time for one process; whoever comes later sleeps at once. One
 * object per waiter, used by one thread at a time.
 */
public final class SpinBudget {

    /** A poll is cut down to this part of the configured time at most. */
    private static final int MIN_PART = 16;
    /** A wait of up to so many times the configured time is short. */
    private static final int SHORT_WAITS = 2;

    private static final int MAX_SPINNERS = Math.max(1, Runtime.getRuntime().availableProcessors() / 2);
    private static final AtomicInteger SPINNERS = new AtomicInteger();

    private final long max;
    private long budget;

    /** @param max nanoseconds to poll at most; 0 never polls */
    public SpinBudget(long max) {
        this.max = max;
        this.budget = max;
    }

    /**
     * Begins to poll; if the result is not 0, {@link #end} must follow.
     *
     * @param nanos what is left of the whole wait; 0 or less is no limit
     * @return nanoseconds to poll, or 0 if enough others do
     */
    public long begin(long nanos) {
        if (max == 0) {
            return 0;
        }
        if (SPINNERS.incrementAndGet() > MAX_SPINNERS) {
            SPINNERS.decrementAndGet();
            return 0;
        }
        return nanos > 0 ? Math.min(nanos, budget) : budget;
    }

    public void end() {
        SPINNERS.decrementAndGet();
    }

    /** A wait is over, after that many nanoseconds of polling and sleeping; also one that ended for want of time. */
    public void waited(long nanos) {
        if (nanos / SHORT_WAITS <= max) {
            budget = Math.min(max, budget * 2);
        } else {
            budget = Math.max(Math.max(1, max / MIN_PART), budget / 2);
        }
    }
}
