/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.stream;

import java.util.concurrent.TimeUnit;

/**
 * How many messages that say nothing a peer may send. Data and grants are bounded by what was granted and what was
 * sent; these cost the peer nothing, and no rsocket sends any, but whoever handles them, a reader that waits, a
 * selector or the service thread, would never sleep again. With the stream's lock.
 */
final class FloodBudget {

    static final int MESSAGES = 4096;
    /** So many messages go by between two looks at the clock. */
    private static final int LOOK = 256;

    private static final long WINDOW_NANOS = TimeUnit.SECONDS.toNanos(1);

    private boolean any;
    private long windowBegan;
    private long before;
    private long seen;

    /** Whether to look at the clock: {@link #isSpent}. */
    boolean isDue(long messages) {
        return messages - seen >= LOOK;
    }

    /**
     * Whether it is used up.
     *
     * @param messages of that kind so far, whoever handled them
     */
    boolean isSpent(long messages, long now) {
        seen = messages;
        if (!any || now - windowBegan >= WINDOW_NANOS) {
            any = true;
            windowBegan = now;
            before = messages;
        }
        return messages - before > MESSAGES;
    }
}
