/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.stream;

/**
 * Detects that a writer outruns its device. Some devices (such as rxe) carry out a request in the thread that posts it.
 * Their send queue is never seen busy, however fast small requests follow one another, and each small request costs its
 * writer as much as a large one would. So a burst is recognised by time: many posts in a row, each begun within about
 * the time that the one before it took. During a burst, a small write that follows within that time is better left for
 * the next post to take along. A conversation of short messages is never a burst, nor are the few writes that a program
 * makes before it turns to something else. On hardware, where a post takes well under a microsecond, nothing is.
 *
 * <p>Guarded by the stream's lock.
 */
final class Burst {

    /** Posts in a row that make a burst; the few writes of one message do not. */
    static final int LENGTH = 16;
    /** How much a pause subtracts from the length: a writer that lost its CPU for a moment is still in its burst. */
    static final int PAUSE = 4;
    /** Nanoseconds; if posts take less, making fewer of them would not save enough to be worth the wait. */
    static final long MIN_COST = 2_000;
    /** The most nanoseconds that a post counts for: an interrupted post says nothing about the device. */
    static final long MAX_COST = 50_000;

    /** Posts that are not timed after one that took less than {@link #MIN_COST}: they will hardly take longer. */
    static final int UNTIMED = 63;

    private long lastEnd;
    private long cost;
    private int length;
    private int untimed; // how many are still to come

    /** Records that data was posted between two readings of {@link System#nanoTime}. */
    void posted(long before, long after) {
        boolean follows = cost >= MIN_COST && before - lastEnd < 2 * cost;
        length = follows ? Math.min(length + 1, LENGTH) : Math.max(length - PAUSE, 0);
        lastEnd = after;
        cost = Math.min(after - before, MAX_COST);
        untimed = cost < MIN_COST ? UNTIMED : 0;
    }

    /**
     * Returns whether the next post need not be timed: on fast devices two clock readings are a good part of a write.
     */
    boolean isCheap() {
        if (untimed == 0) {
            return false;
        }
        untimed--;
        return true;
    }

    /** Ends the burst: what was written is worth a post of its own, so nothing is collected or looked after. */
    void end() {
        length = 0;
    }

    /** Returns whether enough posts followed one another; only then does {@link #isRunning} have to be asked. */
    boolean isLong() {
        return length == LENGTH;
    }

    /** Returns whether the last post is so recent that the next one should take more along. */
    boolean isRunning(long now) {
        return isLong() && now - lastEnd < cost;
    }
}
