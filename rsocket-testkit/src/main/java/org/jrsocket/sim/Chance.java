/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.sim;

/** The source of every choice of a run: splitmix64, which is fast, and whose state is one number. */
final class Chance {

    private long state;

    void seed(long seed) {
        state = seed * 0x9E3779B97F4A7C15L + 0x1F83D9ABFB41BD6BL;
        next(); // neighbouring seeds must not begin alike
    }

    long next() {
        long z = state += 0x9E3779B97F4A7C15L;
        z = (z ^ z >>> 30) * 0xBF58476D1CE4E5B9L;
        z = (z ^ z >>> 27) * 0x94D049BB133111EBL;
        return z ^ z >>> 31;
    }

    /** Returns 0 to {@code bound} - 1. */
    int below(int bound) {
        return (int) ((next() >>> 32) * bound >>> 32);
    }

    /** Returns {@code low} to {@code high}, both included. */
    int between(int low, int high) {
        return low + below(high - low + 1);
    }

    /** Like {@link #between}, but small numbers are as likely as large ones: the exponent is drawn. */
    int spread(int low, int high) {
        int bits = 32 - Integer.numberOfLeadingZeros(high / Math.max(1, low));
        int top = (int) Math.min(high, (long) Math.max(1, low) << below(bits) + 1);
        return between(low, Math.max(low, top));
    }

    boolean oneIn(int n) {
        return below(n) == 0;
    }

    /** Returns one of {@code values}. */
    int of(int... values) {
        return values[below(values.length)];
    }
}
