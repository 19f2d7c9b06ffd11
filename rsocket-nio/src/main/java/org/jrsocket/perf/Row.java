/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.perf;

import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import org.HdrHistogram.Histogram;

/**
 * One line of a result.
 *
 * @param test what was measured: "connect", "round trip", "send", "receive"
 * @param size bytes of a message, 0 where there is none
 * @param count messages, or connections
 * @param nanos the time that all of it took
 * @param times the time of each in nanoseconds; null for throughput
 */
record Row(String test, String transport, String device, int size, long count, long nanos, Histogram times) {

    /** Returns a histogram of nanoseconds, up to a minute, with three digits. */
    static Histogram histogram() {
        return new Histogram(1, 60_000_000_000L, 3);
    }

    static void record(Histogram times, long nanos) {
        times.recordValue(Math.max(1, Math.min(nanos, times.getHighestTrackableValue())));
    }

    double seconds() {
        return nanos / 1e9;
    }

    /** Returns the throughput in 10^6 bytes a second. */
    double megabytes() {
        return nanos == 0 ? 0 : (double) size * count * 1e3 / nanos;
    }

    /** Returns all fields in a form for programs: times in microseconds. */
    Map<String, Object> fields() {
        Map<String, Object> fields = new LinkedHashMap<>();
        fields.put("test", test);
        fields.put("transport", transport);
        fields.put("device", device);
        fields.put("size", size);
        fields.put("count", count);
        fields.put("seconds", number(seconds()));
        boolean any = times != null && times.getTotalCount() > 0;
        fields.put("min_us", any ? micros(times.getMinValue()) : null);
        fields.put("p50_us", any ? micros(times.getValueAtPercentile(50)) : null);
        fields.put("p90_us", any ? micros(times.getValueAtPercentile(90)) : null);
        fields.put("p99_us", any ? micros(times.getValueAtPercentile(99)) : null);
        fields.put("p99.9_us", any ? micros(times.getValueAtPercentile(99.9)) : null);
        fields.put("max_us", any ? micros(times.getMaxValue()) : null);
        fields.put("mean_us", any ? micros(times.getMean()) : null);
        fields.put("mb_per_s", times == null ? number(megabytes()) : null);
        return fields;
    }

    private static Number micros(double nanos) {
        return number(nanos / 1e3);
    }

    /** Rounds to a thousandth. */
    private static Number number(double value) {
        return Double.valueOf(String.format(Locale.ROOT, "%.3f", value));
    }
}
