/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.stream;

import java.util.concurrent.TimeUnit;

/**
 * Limits how many messages without content a peer may send. Data and grants are bounded by what was granted and what
 * was sent. Messages without content cost the peer nothing, and no rsocket sends any, but they could keep whatever
 * handles them (a waiting reader, a selector or the service thread) from ever sleeping again. Guarded by the stream's
 * lock.
 */
final class FloodBudget {

    static final int MESSAGES = 4096;
    /** Messages that pass between two looks at the clock. */
    private static final int LOOK = 256;

    private static final long WINDOW_NANOS = TimeUnit.SECONDS.toNanos(1);

    private boolean any;
    private long windowBegan;
    private long before;
    private long seen;

    /** Returns whether it is time to look at the clock and call {@link #isSpent}. */
    boolean isDue(long messages) {
        return messages - seen >= LOOK;
    }

    /**
     * Returns whether the budget is used up.
     *
     * @param messages number of such messages so far, whichever thread handled them
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
