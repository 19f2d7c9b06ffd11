/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.bench.lab;

import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Stream;

/** What is measured. The counts are for the first look at a column's speed, and for rows that are not sized by it. */
enum Row {
    RTT_64("RTT 64 B", Kind.RTT, 64, 64, 8000),
    RTT_1K("RTT 1 KiB", Kind.RTT, 1024, 1024, 8000),
    COLD_64("RTT 64 B, first 6,000 of a JVM", Kind.RTT, 64, 64, 6000),
    BUSY_64("RTT 64 B, all CPUs busy", Kind.RTT, 64, 64, 2000),
    BUSY_1K("RTT 1 KiB, all CPUs busy", Kind.RTT, 1024, 1024, 2000),
    RTT_64K("RTT 64 KiB", Kind.RTT, 65536, 65536, 250),
    BW_1K("bandwidth, 1 KiB writes", Kind.BANDWIDTH, 1024, 16384, 30_000),
    BW_64K("bandwidth, 64 KiB writes", Kind.BANDWIDTH, 65536, 65536, 600),
    BW_1M("bandwidth, 1 MiB writes", Kind.BANDWIDTH, 1 << 20, 1 << 20, 48),
    MSG_64("stream of 64 B writes", Kind.RATE, 64, 64, 30_000),
    MSG_64_BULK("same, read by 16 KiB", Kind.RATE, 64, 16384, 30_000),
    TOUCH("connect, 1 B each way, close", Kind.CONNECTS, 1, 1, 60),
    IDLE("CPU of a waiting reader", Kind.IDLE, 1, 1, 10);

    /** The values of a row, in one unit. */
    enum Kind {
        RTT("us", "p50", "mean", "p99"),
        BANDWIDTH("MB/s", "rate"),
        RATE("k/s", "rate"),
        CONNECTS("1/s", "rate"),
        IDLE("%", "percent");

        final String unit;
        final List<String> keys;

        Kind(String unit, String... keys) {
            this.unit = unit;
            this.keys = List.of(keys);
        }
    }

    /** What is measured if nobody says otherwise. */
    static final List<Row> USUAL = Stream.of(values())
            .filter(row -> !row.isCold() && !row.isContended())
            .toList();

    final String title;
    final Kind kind;
    final int size;
    final int readSize;
    final int count;

    Row(String title, Kind kind, int size, int readSize, int count) {
        this.title = title;
        this.kind = kind;
        this.size = size;
        this.readSize = readSize;
        this.count = count;
    }

    String id() {
        return name().toLowerCase(Locale.ROOT);
    }

    /** Whether it is about a JVM that has done nothing before. */
    boolean isCold() {
        return this == COLD_64;
    }

    /** Whether each of the guest's CPUs has another thread to run meanwhile. */
    boolean isContended() {
        return this == BUSY_64 || this == BUSY_1K;
    }

    /** Whether a sample is to take a certain time. What the others will take, earlier ones say little about. */
    boolean isSizedByTime() {
        return !isCold() && !isContended();
    }

    /** Whether data goes one way, as fast as it can. */
    boolean isStream() {
        return kind == Kind.BANDWIDTH || kind == Kind.RATE;
    }

    /** Bytes that {@code operations} of it carry, both ways together. */
    long payload(long operations) {
        return switch (kind) {
            case RTT, CONNECTS -> 2L * size * operations;
            case BANDWIDTH, RATE -> (long) size * operations;
            case IDLE -> 0;
        };
    }

    /** What one operation took, by the values of a sample. */
    double secondsEach(Map<String, Double> values) {
        return switch (kind) {
            case RTT -> values.get("mean") / 1e6;
            case BANDWIDTH -> size / (values.get("rate") * 1e6);
            case RATE -> 1 / (values.get("rate") * 1e3);
            case CONNECTS, IDLE -> throw new IllegalArgumentException(title);
        };
    }

    /** {@code operations} in {@code seconds}, in the row's unit. */
    double rate(long operations, double seconds) {
        return switch (kind) {
            case BANDWIDTH -> (double) size * operations / seconds / 1e6;
            case RATE -> operations / seconds / 1e3;
            default -> operations / seconds;
        };
    }
}
