/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.protocol;

/**
 * Decides how much receive memory a connection may hold, and the size of the pieces in which it is granted. The window
 * starts small, and is small again once nothing has come for long. It grows each time the peer ran out of grants
 * although the application had read all that came. Up to a modest size it also grows each time the peer ran out and the
 * application has read a whole window since: a reader that is always a little behind would otherwise take small pieces
 * for ever, each with a grant of its own, which is what keeps it behind. Up to that size it grows, too, while much is
 * read in a short time: a grant is one more message, and a busy connection should need few of them. So a connection
 * that is idle, or that exchanges few messages, stays small; one that streams reaches after a few round trips what
 * bandwidth and round trip need.
 */
final class GrantSizing {

    /** The most grants that may be unused at once, however large the peer's table is. */
    static final int MOST_GRANTS = 16;

    /** Slabs in a window: while one is read and one travels back as a grant, the peer fills the others. */
    private static final int SLABS = 4;

    /**
     * Below this size the window grows fourfold at a time, whether or not the reader keeps up: it is far from what a
     * stream needs, and costs little.
     */
    private static final int MODEST = 256 * 1024;

    /** The number of windows read in a short time that make a connection busy. */
    private static final int BUSY_WINDOWS = 16;

    private final int smallest;
    private final int most;
    private final int slabs;
    private int window;
    private boolean ranDry;
    private long read; // bytes since the window grew
    private long readLately; // bytes since then, or since the last timePassed

    /**
     * Creates the sizing of one connection.
     *
     * @param smallest bytes of the smallest slab; two of them are the smallest window
     * @param most bytes that the window may grow to; at least two of the smallest slabs
     * @param entries entries of the peer's grant table
     */
    GrantSizing(int smallest, int most, int entries) {
        if (smallest < 1 || most < 2 * smallest || entries < 2) {
            throw new IllegalArgumentException(
                    "slabs of " + smallest + " bytes in a window of " + most + ", table of " + entries);
        }
        this.smallest = smallest;
        this.most = most;
        this.slabs = Math.min(SLABS, entries);
        this.window = 2 * smallest;
    }

    /** Records that the peer had filled all that it had been granted, and waited for more. */
    void ranDry() {
        ranDry = true;
    }

    /** Grows, up to a modest size, for a reader that waits until more has come than there is room for. */
    void growUnread() {
        if (window < Math.min(MODEST, most)) {
            grow();
        }
    }

    /** Records that the application has read all that came. */
    void keptUp() {
        if (ranDry) {
            grow();
        }
    }

    /** Records that the application has read {@code bytes} more. */
    void read(int bytes) {
        read += bytes;
        readLately += bytes;
        if (window < MODEST && (ranDry && read >= window || readLately >= (long) BUSY_WINDOWS * window)) {
            grow();
        }
    }

    /** Records that some seconds have passed. */
    void timePassed() {
        readLately = 0;
    }

    private void grow() {
        ranDry = false;
        read = 0;
        readLately = 0;
        window = (int) Math.min((window < MODEST ? 4L : 2L) * window, most);
    }

    /** Records that nothing has come for long. */
    void quiet() {
        ranDry = false;
        read = 0;
        window = 2 * smallest;
    }

    int smallest() {
        return smallest;
    }

    int most() {
        return most;
    }

    int window() {
        return window;
    }

    /** Returns a multiple of the smallest, so that memory registered by pages has that size and can be used again. */
    int slab() {
        return Math.max(smallest, window / slabs / smallest * smallest);
    }
}
