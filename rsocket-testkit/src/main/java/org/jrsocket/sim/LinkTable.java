/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.sim;

import java.util.Arrays;

/**
 * The throughput of the engine on links that no machine here has: one stream, in virtual time, on a link of given
 * bandwidth and round trip. It shows whether grants, credits, the sizes of messages and completions keep the link busy;
 * how long a program's instructions take is assumed, by the constants here.
 */
final class LinkTable {

    /** The bytes that a core copies in a nanosecond. */
    private static final double COPIED_PER_NANO = 10;
    /** The time of a program's call, a write or a read, without its copying. */
    private static final int CALL = 75;
    /** The times of a call into the device's library that posts or takes completions, and of one that finds none. */
    private static final int CROSSING = 100;

    private static final int EMPTY_POLL = 30;
    /** The time that the device takes for each request. */
    private static final int REQUEST = 50;

    private static final int[] GIGABITS = {10, 100, 400};
    private static final int[] ROUND_TRIPS = {2, 10, 50, 200}; // microseconds
    private static final int[] SIZES = {64, 4 << 10, 64 << 10, 1 << 20};

    private LinkTable() {}

    public static void main(String[] arguments) {
        System.out.println("| Gbit/s | round trip | 64 B | 4 KiB | 64 KiB | 1 MiB | 64 KiB lent | 1 MiB lent |"
                + " 64 B there and back, added |");
        System.out.println("| --- | --- | --- | --- | --- | --- | --- | --- | --- |");
        for (int gigabits : GIGABITS) {
            for (int microseconds : ROUND_TRIPS) {
                StringBuilder row = new StringBuilder("| " + gigabits + " | " + microseconds + " us |");
                for (int size : SIZES) {
                    row.append(text(stream(gigabits, microseconds, size, false)));
                }
                for (int size : new int[] {SIZES[2], SIZES[3]}) {
                    row.append(text(stream(gigabits, microseconds, size, true)));
                }
                System.out.println(
                        row.append(' ').append(added(gigabits, microseconds)).append(" |"));
            }
        }
    }

    private static String text(double gigabits) {
        return String.format(gigabits < 10 ? " %.1f |" : " %.0f |", gigabits);
    }

    /** Returns the gigabits of payload in a second, once the stream has grown to its full size. */
    static double stream(int gigabits, int microseconds, int size, boolean lends) {
        LinkPair pair = new LinkPair(gigabits, microseconds, REQUEST);
        LinkPair.Side writer = pair.sides[0];
        LinkPair.Side reader = pair.sides[1];
        writer.program = () -> lends ? writer.lend(size) : writer.write(size);
        reader.program = () -> reader.read(1 << 20, lends);
        return measure(
                pair,
                Math.max(2_000_000, 40_000L * microseconds),
                Math.max(2_000_000, 20_000L * microseconds) + (long) (8.0 * 64 * size / gigabits));
    }

    /** Returns the gigabits a second that B's program reads during {@code nanos}, after {@code settle}. */
    static double measure(LinkPair pair, long settle, long nanos) {
        LinkPair.Side reader = pair.sides[1];
        pair.runUntil(pair.now() + settle);
        long start = pair.now();
        long before = reader.bytesRead();
        pair.runUntil(start + nanos);
        return 8.0 * (reader.bytesRead() - before) / (pair.now() - start);
    }

    /**
     * Returns how much longer than the link the median and the longest of some thousand round trips of 64 bytes take,
     * in nanoseconds.
     */
    static String added(int gigabits, int microseconds) {
        LinkPair pair = new LinkPair(gigabits, microseconds, REQUEST);
        LinkPair.Side asks = pair.sides[0];
        LinkPair.Side answers = pair.sides[1];
        long[] times = new long[3000];
        int[] count = new int[1];
        long[] asked = {-1};
        asks.program = () -> {
            if (asked[0] < 0) {
                asked[0] = pair.now();
                return asks.write(64);
            }
            int cost = asks.read(64, false);
            if (asks.bytesRead() == 64L * (count[0] + 1)) {
                times[count[0]++ % times.length] = pair.now() + cost - asked[0] - 1000L * microseconds;
                asked[0] = -1;
            }
            return cost;
        };
        answers.program = () -> {
            int cost = answers.read(64, false);
            return answers.bytesRead() > answers.bytesWritten() ? cost + answers.write(64) : cost;
        };
        while (count[0] < times.length) {
            pair.runUntil(pair.now() + 1000L * microseconds);
        }
        Arrays.sort(times, 0, times.length);
        return times[times.length / 2] + " ns, at most " + times[times.length - 1];
    }

    static int copying(int bytes) {
        return (int) (bytes / COPIED_PER_NANO);
    }

    static int call() {
        return CALL;
    }

    static int crossing() {
        return CROSSING;
    }

    static int emptyPoll() {
        return EMPTY_POLL;
    }
}
