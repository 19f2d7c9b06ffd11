/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.bench.lab;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * librdmacm's own benchmark, with non-blocking calls, its default. It prints means only: its round trip is a mean where
 * others have p50. Its streams go one way, then back; its rate is of both.
 */
final class RstreamColumn implements Column {

    private final String address;
    private final Path folder;
    private final Set<Row> rows;
    private final SampleSize samples = new SampleSize();

    /** @param rows those that are measured this time */
    RstreamColumn(String address, Path folder, Set<Row> rows) {
        this.address = address;
        this.folder = folder;
        this.rows = rows;
    }

    @Override
    public String id() {
        return "rstream";
    }

    @Override
    public String title() {
        return "rstream";
    }

    @Override
    public boolean isRdma() {
        return true;
    }

    @Override
    public boolean has(Row row) {
        return row.kind != Row.Kind.CONNECTS && row.kind != Row.Kind.IDLE && row.size == row.readSize && !row.isCold();
    }

    @Override
    public String prepare(boolean quick) {
        return samples.lookAt(rows.stream().filter(this::has), (row, operations) -> run(row, operations, Watch.NONE));
    }

    @Override
    public Sample measure(Row row, boolean quick, Watch watch) throws IOException {
        int count = samples.count(row, quick);
        return run(row, row.isStream() ? Math.max(1, count / 2) : count, watch);
    }

    /** So many messages there, and as many back. */
    private Sample run(Row row, int count, Watch watch) throws IOException {
        boolean latency = row.kind == Row.Kind.RTT;
        List<String> server = List.of(
                "rstream",
                "-S",
                Integer.toString(row.size),
                "-C",
                latency ? "1" : Integer.toString(count),
                "-I",
                latency ? Integer.toString(count) : "1");
        List<String> client = new ArrayList<>(server);
        client.add("-s");
        client.add(address);
        String output = Programs.run(server, client, "-p", false, folder, watch);
        for (String line : output.split("\n")) {
            String[] field = line.trim().split("\\s+");
            if (field[0].equals("custom") && field.length == 8) {
                double each = Double.parseDouble(field[7]); // microseconds per message, one way
                return latency
                        ? new Sample(Map.of("mean", 2 * each, "p50", 2 * each), count)
                        : new Sample(Map.of("rate", row.rate(1, each / 1e6)), 2L * count);
            }
        }
        throw new IOException("no result in: " + output);
    }

    @Override
    public void close() {
        // nothing lives between measurements
    }
}
