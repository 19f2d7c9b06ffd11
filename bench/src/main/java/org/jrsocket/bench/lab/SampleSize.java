/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.bench.lab;

import java.io.IOException;
import java.util.EnumMap;
import java.util.Map;
import java.util.stream.Stream;

/**
 * How many operations of a row make a sample of a column: as many as take about a second, by what one took before.
 * Columns whose samples were shorter would be compared by less.
 */
final class SampleSize {

    private static final double SECONDS = 1.0;
    private static final double QUICK_SECONDS = 0.3;
    private static final double MOST = 4e6;

    private final Map<Row, Double> secondsEach = new EnumMap<>(Row.class);

    /**
     * Connections are slow: it takes a longer sample for their code to be compiled, and for one slow connection to tell
     * less.
     */
    static double seconds(Row row, boolean quick) {
        return (quick ? QUICK_SECONDS : SECONDS) * (row.kind == Row.Kind.CONNECTS ? 3 : 1);
    }

    /** A first look at a row, of so many operations. */
    interface Look {
        Column.Sample at(Row row, int operations) throws IOException;
    }

    /**
     * Looks at each of the rows that is sized by time; what a C benchmark's column has for a warm-up. A row that fails
     * has small samples.
     *
     * @return what was done about the warm-up
     */
    String lookAt(Stream<Row> rows, Look look) {
        StringBuilder done = new StringBuilder("C; a new pair of processes each time");
        rows.filter(Row::isSizedByTime).forEach(row -> {
            try {
                learn(row, row.secondsEach(look.at(row, count(row, false)).values()), 1);
            } catch (IOException e) {
                done.append("; ").append(row.id()).append(": ").append(e.getMessage());
            }
        });
        return done.toString();
    }

    void learn(Row row, double seconds, long operations) {
        secondsEach.put(row, seconds / operations);
    }

    int count(Row row, boolean quick) {
        if (!row.isSizedByTime()) {
            return row.count;
        }
        Double each = secondsEach.get(row);
        double count =
                each == null ? Math.max(4, row.count / 8.0) : Math.max(Math.min(seconds(row, quick) / each, MOST), 8);
        int grain = Math.max(1, row.readSize / row.size); // whole reads
        return ((int) Math.max(1, count / grain)) * grain;
    }
}
