/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.perf;

import java.io.PrintStream;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;

/**
 * The results so far, which are printed once: at the end of the measurement, or on Ctrl-C. Progress goes to stderr, so
 * that stdout has nothing but the answer. Safe for use by two threads.
 */
public final class Report {

    /** How a result is printed. */
    public enum Format {
        /** A table. */
        TEXT,
        /** One object. */
        JSON,
        /** A heading and a line for each row. */
        CSV
    }

    private final Format format;
    private final PrintStream out;
    private final PrintStream errors;
    private final boolean quiet;
    private final List<Row> rows = new ArrayList<>(); // guarded by this, as are the fields that follow
    private String peer = "";
    private String carrier = "";
    private String transport;
    private String device;
    private String reason;
    private boolean printed;

    /**
     * @param errors for what goes wrong, and for progress
     * @param quiet whether to show no progress
     */
    public Report(Format format, PrintStream out, PrintStream errors, boolean quiet) {
        this.format = format;
        this.out = out;
        this.errors = errors;
        this.quiet = quiet;
    }

    /** Takes the heading of the report from the first connection. */
    synchronized void connected(String to, Link link) {
        peer = to;
        transport = link.transport();
        device = link.device();
        reason = link.reason();
        carrier = String.format(
                Locale.ROOT, "%s: %s; first connected in %.1f ms", to, link.description(), link.setupNanos() / 1e6);
        say(carrier);
    }

    synchronized void add(Row row) {
        rows.add(row);
    }

    /** Prints what went wrong, whether or not progress is shown. */
    void fail(String line) {
        errors.println(line);
        errors.flush();
    }

    /** Prints a line of progress. */
    void say(String line) {
        if (!quiet) {
            fail(line);
        }
    }

    /** Prints the results so far, but only the first time. */
    public synchronized void print() {
        if (printed || transport == null) {
            return;
        }
        printed = true;
        switch (format) {
            case TEXT -> text();
            case JSON -> json();
            case CSV -> csv();
        }
        out.flush();
    }

    private void text() {
        out.println(carrier);
        List<Row> timed = rows.stream().filter(row -> row.times() != null).toList();
        List<Row> moved = rows.stream().filter(row -> row.times() == null).toList();
        if (!timed.isEmpty()) {
            out.printf(
                    "%n%-24s %9s %10s %10s %10s %10s %10s %10s %10s%n",
                    "microseconds", "count", "min", "p50", "p90", "p99", "p99.9", "max", "mean");
        }
        for (Row row : timed) {
            Map<String, Object> fields = row.fields();
            out.printf(Locale.ROOT, "%-24s %9d", name(row), row.count());
            for (String field : List.of("min_us", "p50_us", "p90_us", "p99_us", "p99.9_us", "max_us", "mean_us")) {
                Object value = fields.get(field);
                out.printf(
                        Locale.ROOT, " %10s", value == null ? "-" : String.format(Locale.ROOT, "%.1f", (Double) value));
            }
            out.println();
        }
        if (!moved.isEmpty()) {
            out.printf("%n%-24s %9s %10s %10s %10s%n", "throughput", "seconds", "MB", "MB/s", "Gbit/s");
        }
        for (Row row : moved) {
            out.printf(
                    Locale.ROOT,
                    "%-24s %9.1f %10.1f %10.1f %10.2f%n",
                    name(row),
                    row.seconds(),
                    (double) row.size() * row.count() / 1e6,
                    row.megabytes(),
                    row.megabytes() * 8 / 1e3);
        }
    }

    private String name(Row row) {
        return row.test()
                + (row.size() == 0 ? "" : ", " + row.size() + " B")
                + (row.transport().equals(transport) ? "" : " (" + row.transport() + ")");
    }

    private void json() {
        StringBuilder text = new StringBuilder("{");
        text.append("\"peer\":")
                .append(value(peer))
                .append(",\"transport\":")
                .append(value(transport))
                .append(",\"device\":")
                .append(value(device))
                .append(",\"reason\":")
                .append(value(reason))
                .append(",\"results\":[");
        text.append(rows.stream()
                .map(row -> row.fields().entrySet().stream()
                        .map(field -> value(field.getKey()) + ":" + value(field.getValue()))
                        .collect(Collectors.joining(",", "{", "}")))
                .collect(Collectors.joining(",")));
        out.println(text.append("]}"));
    }

    private static String value(Object value) {
        if (value == null || value instanceof Number) {
            return String.valueOf(value);
        }
        StringBuilder text = new StringBuilder("\"");
        for (char c : value.toString().toCharArray()) {
            if (c == '"' || c == '\\') {
                text.append('\\').append(c);
            } else if (c < ' ') {
                text.append(String.format("\\u%04x", (int) c));
            } else {
                text.append(c);
            }
        }
        return text.append('"').toString();
    }

    private void csv() {
        for (int i = 0; i < rows.size(); i++) {
            Map<String, Object> fields = rows.get(i).fields();
            if (i == 0) {
                out.println(String.join(",", fields.keySet()));
            }
            out.println(fields.values().stream()
                    .map(value -> value == null ? "" : value.toString())
                    .collect(Collectors.joining(",")));
        }
    }
}
