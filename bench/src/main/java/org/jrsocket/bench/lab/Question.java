/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.bench.lab;

import java.util.ArrayList;
import java.util.EnumSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;

/** Rows and columns that belong together, few enough for ten minutes: an option of {@code scripts/bench} for each. */
enum Question {
    RTT(Set.of(Row.RTT_64, Row.RTT_1K), Columns.BARE, Columns.TCP, Columns.PRELOAD, Columns.OURS, Columns.AIO),
    COLD(Set.of(Row.COLD_64), Columns.TCP, Columns.PRELOAD, Columns.OURS),
    CONTENDED(
            Set.of(Row.BUSY_64, Row.BUSY_1K),
            Columns.BARE,
            List.of("verbs-event"),
            Columns.TCP,
            Columns.PRELOAD,
            Columns.OURS),
    STREAMS(
            Set.of(Row.BW_1K, Row.BW_64K, Row.BW_1M),
            List.of("verbs-write", "verbs-stream", "verbs-lend", "tcp", "tcp-channel", "lend"),
            Columns.PRELOAD,
            Columns.OURS),
    CONNECTS(Set.of(Row.TOUCH), List.of("cm", "tcp", "tcp-channel"), Columns.PRELOAD, Columns.OURS),
    NETTY(
            Set.of(Row.RTT_64, Row.RTT_64K, Row.BW_64K),
            List.of("verbs-write", "verbs-lend", "channel"),
            NettyColumns.IDS);

    private static final class Columns {
        static final List<String> BARE = List.of("verbs-send");
        static final List<String> TCP = List.of("tcp", "tcp-channel", "tcp-selector");
        static final List<String> PRELOAD = List.of("preload", "preload-channel");
        static final List<String> OURS = List.of("net", "channel", "selector");
        static final List<String> AIO = List.of("tcp-aio", "aio");
    }

    private final Set<Row> rows;
    private final List<String> columns = new ArrayList<>();

    @SafeVarargs
    Question(Set<Row> rows, List<String>... columns) {
        this.rows = rows;
        for (List<String> some : columns) {
            this.columns.addAll(some);
        }
    }

    String id() {
        return name().toLowerCase(Locale.ROOT);
    }

    /** In the order of all rows. */
    static List<Row> rows(List<Question> questions) {
        Set<Row> rows = EnumSet.noneOf(Row.class);
        questions.forEach(question -> rows.addAll(question.rows));
        return List.copyOf(rows);
    }

    static Set<String> columns(List<Question> questions) {
        Set<String> columns = new LinkedHashSet<>();
        questions.forEach(question -> columns.addAll(question.columns));
        return columns;
    }
}
