/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.interop.faults;

import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** A line of TrafficClient's. Those that have ended are counted once. */
record Report(
        int opening,
        int open,
        int done,
        int lost,
        int altered,
        int fresh,
        long least,
        long bytes,
        long rdma,
        String endings) {

    static Pattern pattern(int number) {
        return Pattern.compile(
                "^report=" + number + " opening=(\\d+) open=(\\d+) done=(\\d+) lost=(\\d+) altered=(\\d+)"
                        + " fresh=(\\d+) least=(\\d+) bytes=(\\d+) rdma=(-?\\d+) endings=(.*)$");
    }

    static Report of(Matcher line) {
        return new Report(
                Integer.parseInt(line.group(1)),
                Integer.parseInt(line.group(2)),
                Integer.parseInt(line.group(3)),
                Integer.parseInt(line.group(4)),
                Integer.parseInt(line.group(5)),
                Integer.parseInt(line.group(6)),
                Long.parseLong(line.group(7)),
                Long.parseLong(line.group(8)),
                Long.parseLong(line.group(9)),
                line.group(10));
    }
}
