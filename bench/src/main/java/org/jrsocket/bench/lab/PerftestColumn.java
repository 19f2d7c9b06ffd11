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
 * The verbs limit, by perftest: one operation of the device and nothing around it. Its latencies are one way; a round
 * trip is two of them.
 */
final class PerftestColumn implements Column {

    private final String operation;
    private final boolean sleeps;
    private final String address;
    private final Path folder;
    private final Set<Row> rows;
    private final SampleSize samples = new SampleSize();

    /**
     * @param operation "send" or "write"
     * @param sleeps whether it waits for events of its completion queue; else it polls
     * @param rows those that are measured this time
     */
    PerftestColumn(String operation, boolean sleeps, String address, Path folder, Set<Row> rows) {
        this.operation = operation;
        this.sleeps = sleeps;
        this.address = address;
        this.folder = folder;
        this.rows = rows;
    }

    @Override
    public String id() {
        return sleeps ? "verbs-event" : "verbs-" + operation;
    }

    @Override
    public String title() {
        return sleeps ? "verbs event" : "verbs " + operation;
    }

    @Override
    public boolean isRdma() {
        return true;
    }

    @Override
    public boolean has(Row row) {
        return switch (row.kind) {
            case RTT -> !row.isCold() && (!sleeps || row.isContended());
            case BANDWIDTH -> operation.equals("write") && row.readSize == row.size;
            case RATE -> operation.equals("write") && row.readSize == row.size;
            default -> false;
        };
    }

    @Override
    public String prepare(boolean quick) {
        return samples.lookAt(rows.stream().filter(this::has), (row, operations) -> run(row, operations, Watch.NONE));
    }

    @Override
    public Sample measure(Row row, boolean quick, Watch watch) throws IOException {
        return run(row, samples.count(row, quick), watch);
    }

    private Sample run(Row row, int count, Watch watch) throws IOException {
        boolean latency = row.kind == Row.Kind.RTT;
        List<String> server = new ArrayList<>(List.of(
                "ib_" + operation + (latency ? "_lat" : "_bw"),
                "-d",
                "rxe0",
                "-F",
                "-s",
                Integer.toString(row.size),
                "-n",
                Integer.toString(count)));
        if (sleeps) {
            server.add("-e");
        }
        List<String> client = new ArrayList<>(server);
        client.add(address);
        String[] field = resultLine(Programs.run(server, client, "-p", true, folder, watch), row.size);
        if (latency) {
            return new Sample(
                    Map.of(
                            "p50",
                            2 * Double.parseDouble(field[4]),
                            "mean",
                            2 * Double.parseDouble(field[5]),
                            "p99",
                            2 * Double.parseDouble(field[7]),
                            "min",
                            2 * Double.parseDouble(field[2])),
                    count);
        }
        double mib = Double.parseDouble(field[3]); // what it calls MB is 2^20
        return new Sample(
                Map.of(
                        "rate",
                        row.kind == Row.Kind.BANDWIDTH ? mib * (1 << 20) / 1e6 : mib * (1 << 20) / row.size / 1e3),
                count);
    }

    /** #bytes #iterations t_min t_max t_typical t_avg t_stdev 99% 99.9%, or #bytes #iterations peak average Mpps. */
    private static String[] resultLine(String output, int size) throws IOException {
        for (String line : output.split("\n")) {
            String[] field = line.trim().split("\\s+");
            if (field.length >= 5 && field[0].equals(Integer.toString(size))) {
                return field;
            }
        }
        throw new IOException("no result in: " + output);
    }

    @Override
    public void close() {
        // nothing lives between measurements
    }
}
