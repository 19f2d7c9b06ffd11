/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.connect;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.atomic.LongAdder;

/**
 * Counts how often something took how long. Safe for use by many threads; the numbers that a reader sees are not all of
 * the same moment.
 */
final class TimeCounts {

    private final long[] bounds;
    private final LongAdder[] counts; // up to each bound, and beyond

    /** @param bounds microseconds, in ascending order */
    TimeCounts(long... bounds) {
        this.bounds = bounds;
        this.counts = new LongAdder[bounds.length + 1];
        for (int i = 0; i < counts.length; i++) {
            counts[i] = new LongAdder();
        }
    }

    void add(long nanos) {
        int bound = 0;
        while (bound < bounds.length && nanos > bounds[bound] * 1000) {
            bound++;
        }
        counts[bound].increment();
    }

    /** Returns how many took no longer than each number of microseconds; {@code +Inf} counts all. */
    Map<String, Long> byMicros() {
        Map<String, Long> sums = new LinkedHashMap<>();
        long sum = 0;
        for (int i = 0; i < counts.length; i++) {
            sum += counts[i].sum();
            sums.put(i < bounds.length ? Long.toString(bounds[i]) : "+Inf", sum);
        }
        return sums;
    }
}
