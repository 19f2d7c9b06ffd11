/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.stream;

import java.util.concurrent.TimeUnit;

/**
 * How many messages that say nothing a peer may send while the service thread handles its events. Data and grants are
 * bounded by what was granted and what was sent; these cost the peer nothing, and no rsocket sends any, but the thread
 * serves all connections. Service thread.
 */
final class FloodBudget {

    static final int MESSAGES = 4096;
    private static final long WINDOW_NANOS = TimeUnit.SECONDS.toNanos(1);

    private boolean any;
    private long windowBegan;
    private long before;

    /**
     * Whether it is used up.
     *
     * @param messages of that kind so far, whoever handled them
     */
    boolean isSpent(long messages, long now) {
        if (!any || now - windowBegan >= WINDOW_NANOS) {
            any = true;
            windowBegan = now;
            before = messages;
        }
        return messages - before > MESSAGES;
    }
}
