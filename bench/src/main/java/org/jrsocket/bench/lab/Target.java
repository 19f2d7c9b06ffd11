/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.bench.lab;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * One thing that should hold of the medians: a value of ours in relation to somebody else's.
 *
 * @param reference null when the value stands for itself; the same as {@code ours} for the lowest sample
 */
record Target(String text, Row row, String key, String ours, String reference, boolean atMost, double limit) {

    /** @param value NaN if something was not measured */
    record Verdict(Target target, double value) {
        String word() {
            return Double.isNaN(value)
                    ? "not measured"
                    : (target.atMost ? value <= target.limit : value >= target.limit) ? "met" : "NOT met";
        }

        String bound() {
            return (target.atMost ? "<= " : ">= ") + String.format(Locale.ROOT, "%.3g", target.limit);
        }
    }

    Verdict judge(Results results) {
        double value = ours.equals(reference) ? results.lowest(row, key, ours) : results.median(row, key, ours);
        return new Verdict(this, reference == null ? value : value / results.median(row, key, reference));
    }

    static Target of(String what, Row row, String key, String ours, String reference, boolean atMost, double limit) {
        String text = row.title + (row.kind == Row.Kind.RTT ? " " + key : "") + ": " + what;
        return new Target(text, row, key, ours, reference, atMost, limit);
    }

    /** What the project promises itself. */
    static List<Target> all() {
        List<Target> all = new ArrayList<>();
        for (Row row : List.of(Row.RTT_64, Row.RTT_1K)) {
            all.add(of("stream, spinning / rstream (its mean)", row, "p50", "spin", "rstream", true, 1.15));
            all.add(of("stream, spinning / C rsocket", row, "p50", "spin", "rsock", true, 1.15));
            all.add(of("stream, spinning / ib_send_lat", row, "p50", "spin", "verbs-send", true, 1.6));
        }
        all.add(of("stream, spinning / rstream (its mean)", Row.RTT_64K, "p50", "spin", "rstream", true, 1));
        all.add(of("stream, spinning / C rsocket", Row.RTT_64K, "p50", "spin", "rsock", true, 1));
        for (Row row : List.of(Row.BW_64K, Row.BW_1M)) {
            all.add(of("stream / ib_write_bw", row, "rate", "stream", "verbs-write", false, 0.95));
        }
        all.add(of("stream / rstream", Row.MSG_64, "rate", "stream", "rstream", false, 5));
        all.add(of("java.net / TCP", Row.RTT_64, "p50", "net", "tcp", true, 1 / 5.0));
        all.add(of("java.net / TCP", Row.RTT_1K, "p50", "net", "tcp", true, 1 / 3.0));
        for (Row row : List.of(Row.RTT_64, Row.RTT_1K)) {
            all.add(of("java.net / TCP", row, "p99", "net", "tcp", true, 1));
        }
        all.add(of("selector / TCP selector", Row.RTT_64, "p50", "selector", "tcp-selector", true, 1 / 4.0));
        all.add(of("selector / TCP selector", Row.RTT_1K, "p50", "selector", "tcp-selector", true, 1 / 3.0));
        for (Row row : List.of(Row.RTT_64, Row.RTT_1K)) {
            all.add(of("selector / TCP selector", row, "p99", "selector", "tcp-selector", true, 1));
        }
        all.add(of("completion handlers / TCP's", Row.RTT_64, "p50", "aio", "tcp-aio", true, 1 / 3.0));
        all.add(of("completion handlers / TCP's", Row.RTT_64, "p99", "aio", "tcp-aio", true, 1));
        all.add(of("channel / TCP channel", Row.RTT_64, "p50", "channel", "tcp-channel", true, 1 / 5.0));
        for (String api : List.of("channel", "selector")) {
            all.add(of(api + " / ib_write_bw", Row.BW_64K, "rate", api, "verbs-write", false, 0.9));
            all.add(of(api + " / TCP " + api, Row.TOUCH, "rate", api, "tcp-" + api, false, 0.5));
            all.add(of(api + " / JVM under librspreload", Row.TOUCH, "rate", api, "preload", false, 2));
            all.add(of(api + ", %", Row.IDLE, "percent", api, null, true, 1));
        }
        all.add(of("stream, %", Row.IDLE, "percent", "stream", null, true, 1));
        all.add(of("java.net, %", Row.IDLE, "percent", "net", null, true, 1));
        all.add(of("java.net / TCP", Row.TOUCH, "rate", "net", "tcp", false, 0.5));
        all.add(of("the device by itself, verbs cm / TCP", Row.TOUCH, "rate", "cm", "tcp", false, 0.5));
        all.add(of("java.net / JVM under librspreload", Row.TOUCH, "rate", "net", "preload", false, 2));
        all.addAll(secondEngine());
        all.addAll(NettyColumns.targets());
        return all;
    }

    private static List<Target> secondEngine() {
        List<Target> all = new ArrayList<>();
        for (String api : List.of("net", "channel", "selector")) {
            String tcp = api.equals("net") ? "tcp" : "tcp-" + api;
            for (Row row : List.of(Row.COLD_64, Row.BUSY_64, Row.BUSY_1K)) {
                all.add(of(api + " / " + tcp, row, "p50", api, tcp, true, 1));
                all.add(of(api + " / " + tcp, row, "mean", api, tcp, true, 1));
            }
        }
        all.add(of("channel / tcp-channel", Row.RTT_64, "p99", "channel", "tcp-channel", true, 1));
        all.add(of("channel / tcp-channel", Row.RTT_1K, "p99", "channel", "tcp-channel", true, 1));
        for (Row row : List.of(Row.RTT_64, Row.RTT_1K)) {
            all.add(of("selector / channel", row, "p50", "selector", "channel", true, 1.3));
            all.add(of("selector / channel", row, "mean", "selector", "channel", true, 1.3));
        }
        for (String bare : List.of("verbs-send", "verbs-event")) {
            for (Row row : List.of(Row.BUSY_64, Row.BUSY_1K)) {
                all.add(of("the device by itself, " + bare + " / tcp", row, "mean", bare, "tcp", true, 1));
            }
        }
        for (Row row : List.of(Row.BW_64K, Row.BW_1M)) {
            for (String bare : List.of("verbs-stream", "verbs-lend")) {
                all.add(of(
                        "the device by itself, " + bare + " / ib_write_bw",
                        row,
                        "rate",
                        bare,
                        "verbs-write",
                        false,
                        0.85));
            }
        }
        for (Row row : List.of(Row.BW_64K, Row.BW_1M)) {
            all.add(of("lent memory / ib_write_bw", row, "rate", "lend", "verbs-write", false, 0.9));
            all.add(of("lent memory / bare verbs without copies", row, "rate", "lend", "verbs-lend", false, 0.9));
        }
        for (String api : List.of("net", "channel")) {
            String preload = api.equals("net") ? "preload" : "preload-channel";
            for (Row row : List.of(Row.RTT_64, Row.RTT_1K)) {
                all.add(of(api + " / " + preload, row, "p50", api, preload, true, 1.1));
                all.add(of(api + " / " + preload, row, "mean", api, preload, true, 1));
                all.add(of(api + " / " + preload, row, "p99", api, preload, true, 1));
            }
            all.add(of(api + " / " + preload, Row.BW_1K, "rate", api, preload, false, 1.5));
            for (Row row : List.of(Row.BW_64K, Row.BW_1M)) {
                all.add(of(api + " / " + preload, row, "rate", api, preload, false, 1.2));
                all.add(of(api + " / ib_write_bw", row, "rate", api, "verbs-write", false, 0.85));
                all.add(of(api + " / bare verbs that are read", row, "rate", api, "verbs-stream", false, 0.9));
            }
            for (Row row : List.of(Row.BW_1K, Row.BW_64K, Row.BW_1M)) {
                all.add(of(api + ", lowest / median", row, "rate", api, api, false, 0.7));
            }
            all.add(of(api + " / " + preload, Row.TOUCH, "rate", api, preload, false, 1.5));
            all.add(of(api + " / verbs cm", Row.TOUCH, "rate", api, "cm", false, 0.6));
        }
        return all;
    }
}
