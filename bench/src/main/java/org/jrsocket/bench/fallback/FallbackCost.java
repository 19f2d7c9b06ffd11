/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.bench.fallback;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;

/**
 * {@code FallbackCost RSOCKET-JAR ROUNDS MILLISECONDS}: in each round {@link TcpLoad} in a JVM without the agent and in
 * one with it, whose order changes from round to round, and one more without, which says how far two runs of the same
 * differ here. Prints medians and their ratios.
 */
public final class FallbackCost {

    private static final List<String> ROWS = List.of("rtt_ns", "bytes_per_s", "connect_ns");
    private static final double LOW = 0.98;
    private static final double HIGH = 1.02;

    private final Path agent;
    private final String millis;
    private final Path errors = Files.createTempFile("fallback-cost", ".err");
    private final Map<String, List<Double>> plain = new TreeMap<>();
    private final Map<String, List<Double>> with = new TreeMap<>();
    private final Map<String, List<Double>> again = new TreeMap<>();

    private FallbackCost(Path agent, String millis) throws IOException {
        this.agent = agent;
        this.millis = millis;
    }

    public static void main(String[] args) throws IOException, InterruptedException {
        FallbackCost cost = new FallbackCost(Path.of(args[0]), args[2]);
        try {
            int rounds = Integer.parseInt(args[1]);
            for (int i = 0; i < rounds; i++) {
                cost.round(i);
                System.err.printf("bench: round %d of %d%n", i + 1, rounds);
            }
            cost.print(rounds);
        } finally {
            Files.delete(cost.errors);
        }
    }

    private void round(int number) throws IOException, InterruptedException {
        switch (number % 3) {
            case 0 -> {
                run(false, plain);
                run(true, with);
                run(false, again);
            }
            case 1 -> {
                run(false, again);
                run(false, plain);
                run(true, with);
            }
            default -> {
                run(true, with);
                run(false, again);
                run(false, plain);
            }
        }
    }

    private void run(boolean agent, Map<String, List<Double>> into) throws IOException, InterruptedException {
        List<String> command = new ArrayList<>(
                List.of(Path.of(System.getProperty("java.home"), "bin", "java").toString()));
        if (agent) {
            command.add("-javaagent:" + this.agent);
        }
        command.addAll(
                List.of("-Xmx256m", "-cp", System.getProperty("java.class.path"), TcpLoad.class.getName(), millis));
        Process process =
                new ProcessBuilder(command).redirectError(errors.toFile()).start();
        List<String> lines = new String(process.getInputStream().readAllBytes(), UTF_8)
                .lines()
                .toList();
        String said = Files.readString(errors);
        if (process.waitFor() != 0 || lines.size() != ROWS.size()) {
            throw new IOException("TcpLoad ended with " + process.exitValue() + ": " + said);
        }
        if (agent && !said.startsWith("jrsocket: TCP only: ")) {
            throw new IOException(
                    "this is about hosts without RDMA, and the agent does not say that this is one: " + said);
        }
        for (String line : lines) {
            String[] pair = line.split("=");
            into.computeIfAbsent(pair[0], key -> new ArrayList<>()).add(Double.valueOf(pair[1]));
        }
    }

    private void print(int rounds) {
        System.out.printf(
                "java.net over TCP on a host without RDMA, medians of %d runs each; target: %.2f to %.2f%n",
                rounds, LOW, HIGH);
        System.out.printf(
                "%-12s %14s %14s %10s %22s  %s%n",
                "", "no agent", "agent", "ratio", "two without the agent", "verdict");
        for (String row : ROWS) {
            double ratio = median(with.get(row)) / median(all(row));
            double noise = median(again.get(row)) / median(plain.get(row));
            System.out.printf(
                    Locale.ROOT,
                    "%-12s %14.0f %14.0f %10.3f %22.3f  %s%n",
                    row,
                    median(all(row)),
                    median(with.get(row)),
                    ratio,
                    noise,
                    ratio >= LOW && ratio <= HIGH ? "met" : "MISSED");
        }
    }

    private List<Double> all(String row) {
        List<Double> all = new ArrayList<>(plain.get(row));
        all.addAll(again.get(row));
        return all;
    }

    private static double median(List<Double> values) {
        List<Double> sorted = values.stream().sorted().toList();
        int half = sorted.size() / 2;
        return sorted.size() % 2 == 1 ? sorted.get(half) : (sorted.get(half - 1) + sorted.get(half)) / 2;
    }
}
