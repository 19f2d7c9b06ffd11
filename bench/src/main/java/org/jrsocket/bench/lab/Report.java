/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.bench.lab;

import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;

/** The results as a table, as CSV (every sample) and as JSON (medians and verdicts). */
final class Report {

    private final List<String> facts;
    private final List<Column> columns;
    private final List<Row> rows;
    private final Results results;

    Report(List<String> facts, List<Column> columns, List<Row> rows, Results results) {
        this.facts = facts;
        this.columns = columns;
        this.rows = rows;
        this.results = results;
    }

    void print(PrintStream out) {
        out.println();
        StringBuilder head = new StringBuilder(String.format("%-36s %-5s", "median", "unit"));
        columns.forEach(column -> head.append(String.format(" %12s", column.title())));
        out.println(head);
        for (Row row : rows) {
            for (String key : row.kind.keys) {
                String title = row.kind == Row.Kind.RTT ? row.title + " " + key : row.title;
                StringBuilder line = new StringBuilder(String.format("%-36s %-5s", title, row.kind.unit));
                columns.forEach(column -> line.append(String.format(" %12s", cell(row, key, column))));
                out.println(line);
            }
            if (row.kind == Row.Kind.BANDWIDTH) {
                StringBuilder line = new StringBuilder(String.format("%-36s %-5s", "  lowest of all", row.kind.unit));
                columns.forEach(column ->
                        line.append(String.format(" %12s", number(results.lowest(row, "rate", column.id())))));
                out.println(line);
            }
        }
        out.println(
                "! some samples do not count, * some stood still and do, see below; ~ all samples were disturbed: the"
                        + " guest missed more than " + Host.QUIET + " CPUs meanwhile");
        out.println();
        out.printf("%-62s %8s %9s  %s%n", "target", "value", "wanted", "verdict");
        for (Target target : Target.all()) {
            Target.Verdict verdict = target.judge(results);
            if (Double.isNaN(verdict.value())) {
                continue; // not measured this time
            }
            out.printf("%-62s %8s %9s  %s%n", target.text(), number(verdict.value()), verdict.bound(), verdict.word());
        }
        results.entries().stream()
                .filter(entry -> entry.doubt() != null
                        && entry.key().equals(entry.row().kind.keys.get(0)))
                .forEach(entry -> out.printf(
                        "does not count: %s, %s, repetition %d: %s%n",
                        entry.row().title, entry.column(), entry.repetition(), entry.doubt()));
        results.entries().stream()
                .filter(Results.Entry::stalled)
                .forEach(entry -> out.printf(
                        "stood still: %s, %s, repetition %d: %s %s%n",
                        entry.row().title,
                        entry.column(),
                        entry.repetition(),
                        number(entry.value()),
                        entry.row().kind.unit));
    }

    private String cell(Row row, String key, Column column) {
        double median = results.median(row, key, column.id());
        long doubted = results.doubted(row, column.id());
        return (Double.isNaN(median) ? column.has(row) && doubted > 0 ? "failed" : "-" : number(median))
                + (doubted > 0 ? "!" : "")
                + (results.stalled(row, key, column.id()) > 0 ? "*" : "")
                + (results.isDisturbed(row, key, column.id()) ? "~" : "");
    }

    static String number(double value) {
        if (Double.isNaN(value)) {
            return "-";
        }
        return String.format(
                Locale.ROOT, Math.abs(value) >= 100 ? "%.0f" : Math.abs(value) >= 10 ? "%.1f" : "%.2f", value);
    }

    void writeCsv(Path file) throws IOException {
        StringBuilder text =
                new StringBuilder("repetition,row,key,unit,column,value,packets,ip_bytes,disturbed,doubt,stalled\n");
        for (Results.Entry e : results.entries()) {
            text.append(String.format(
                    Locale.ROOT,
                    "%d,%s,%s,%s,%s,%s,%d,%d,%.2f,%s,%b%n",
                    e.repetition(),
                    e.row().id(),
                    e.key(),
                    e.row().kind.unit,
                    e.column(),
                    e.value(),
                    e.moved().packets(),
                    e.moved().ipBytes(),
                    e.disturbed(),
                    e.doubt() == null ? "" : quoted(e.doubt()),
                    e.stalled()));
        }
        Files.writeString(file, text);
    }

    void writeJson(Path file) throws IOException {
        StringBuilder text = new StringBuilder("{\n  \"facts\": [");
        text.append(String.join(", ", facts.stream().map(Report::quoted).toList()))
                .append("],\n  \"medians\": [");
        String comma = "";
        for (Row row : rows) {
            for (String key : row.kind.keys) {
                for (Column column : columns) {
                    int count = results.count(row, key, column.id());
                    if (!Double.isNaN(results.median(row, key, column.id()))) {
                        text.append(comma)
                                .append(String.format(
                                        Locale.ROOT,
                                        "%n    {\"row\": \"%s\", \"key\": \"%s\", \"column\": \"%s\", \"unit\": \"%s\","
                                                + " \"value\": %.4f, \"lowest\": %.4f, \"samples\": %d,"
                                                + " \"stalled\": %d}",
                                        row.id(),
                                        key,
                                        column.id(),
                                        row.kind.unit,
                                        results.median(row, key, column.id()),
                                        results.lowest(row, key, column.id()),
                                        count,
                                        results.stalled(row, key, column.id())));
                        comma = ",";
                    }
                }
            }
        }
        text.append("\n  ],\n  \"targets\": [");
        comma = "";
        for (Target target : Target.all()) {
            Target.Verdict verdict = target.judge(results);
            text.append(comma)
                    .append(String.format(
                            Locale.ROOT,
                            "%n    {\"target\": %s, \"value\": %s, \"bound\": \"%s\", \"verdict\": \"%s\"}",
                            quoted(target.text()),
                            Double.isNaN(verdict.value())
                                    ? "null"
                                    : String.format(Locale.ROOT, "%.4f", verdict.value()),
                            verdict.bound(),
                            verdict.word()));
            comma = ",";
        }
        Files.writeString(file, text.append("\n  ]\n}\n"));
    }

    private static String quoted(String text) {
        return '"' + text.replace("\\", "\\\\").replace("\"", "'").replace("\n", " | ") + '"';
    }
}
