/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.bench.selector;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jrsocket.bench.lab.IdleCpu;
import org.jrsocket.bench.lab.Machine;
import org.jrsocket.bench.lab.Pair;
import org.jrsocket.bench.lab.Proof;

/**
 * The driver, in the guest: {@code ManyKeys FOLDER CONNECTIONS ACTIVE REPETITIONS}. ACTIVE connections, in a selector
 * of as many and in a selector of CONNECTIONS, and forty in a selector of forty, ours over RDMA and the JDK's over TCP,
 * measured in turn again and again; then all idle. With 0 for CONNECTIONS the forty alone. FOLDER has the jars, and
 * {@code loops}, which does the same with bare verbs: what the device allows.
 */
public final class ManyKeys {

    /** All active at once: more than a selector of ours polls. */
    private static final int LOOPS = 40;

    private static final int SAMPLE_MILLIS = 2000;
    private static final int WARM_UPS = Integer.getInteger("jrsocket.bench.warm", 40) / 4;
    private static final int IDLE_SECONDS = 20;
    private static final double TARGET_RATIO = 1.5;
    private static final double TARGET_IDLE_PERCENT = 1;
    private static final double TARGET_LOOPS_RATE = 2;
    private static final double TARGET_LOOPS_SLOWEST = 0.5;

    /** For all JVMs alike. */
    private static final List<String> JVM_FLAGS = List.of("-XX:+UseSerialGC", "-XX:-UsePerfData");

    /** A pair of processes, and what was measured of it. */
    private static final class Column {
        private final String name;
        private final boolean rdma;
        private final int connections;
        private final Pair pair;
        private final List<Map<String, Double>> samples = new ArrayList<>();

        Column(String name, boolean rdma, int connections, Pair pair) {
            this.name = name;
            this.rdma = rdma;
            this.connections = connections;
            this.pair = pair;
        }

        @Override
        public String toString() {
            return name + ", " + connections + " connections";
        }
    }

    private final Path folder;
    private final int many;
    private final int active;
    private final String address = System.getenv("ROCE_LAB_ADDR");
    private final List<Column> columns = new ArrayList<>();

    private ManyKeys(Path folder, int many, int active) {
        this.folder = folder;
        this.many = many;
        this.active = active;
    }

    public static void main(String[] args) throws IOException, InterruptedException {
        int status = 1;
        ManyKeys driver = new ManyKeys(Path.of(args[0]), Integer.parseInt(args[1]), Integer.parseInt(args[2]));
        try {
            driver.run(Integer.parseInt(args[3]));
            status = 0;
        } catch (IOException e) {
            System.out.println("FAILED: " + e.getMessage());
        }
        driver.columns.forEach(column -> column.pair.close());
        System.exit(status);
    }

    private void run(int repetitions) throws IOException, InterruptedException {
        Machine.facts().forEach(System.out::println);
        System.out.println("flags of all JVMs: " + String.join(" ", flags()));
        // RDMA or a failure, however slowly a slow guest connects.
        List<String> agent =
                List.of("-javaagent:" + folder.resolve("rsocket.jar") + "=policy=rdma,connect.timeout=60s");
        int[][] selectors = many == 0
                ? new int[][] {{LOOPS, LOOPS}}
                : new int[][] {{active, active}, {many, active}, {LOOPS, LOOPS}};
        for (int[] sizes : selectors) {
            columns.add(open("ours, RDMA", true, sizes[0], sizes[1], agent));
            columns.add(open("JDK's, TCP", false, sizes[0], sizes[1], List.of()));
        }
        columns.add(openBare());
        for (int i = 0; i < WARM_UPS; i++) {
            for (Column column : columns) {
                measure(column);
                column.samples.clear();
            }
        }
        for (int i = 1; i <= repetitions; i++) {
            for (Column column : columns) {
                System.out.printf("repetition %d: %s: %s%n", i, column, measure(column));
            }
            Collections.rotate(columns, 1); // nobody always comes after the same neighbour
        }
        Collections.rotate(columns, -repetitions);
        if (many > 0) {
            print();
        }
        printLoops(columns.subList(columns.size() - 3, columns.size()));
        if (many > 0) {
            List<Column> idle = columns.subList(0, columns.size() - 1); // not the bare device
            idle.forEach(column -> column.pair.go());
            IdleCpu.measure(
                    IDLE_SECONDS,
                    TARGET_IDLE_PERCENT,
                    idle.stream()
                            .map(column -> new IdleCpu.Use(column.toString(), column.pair, column.rdma))
                            .toList());
        }
    }

    /** The same for all; the heap has room for the keys of the most. */
    private List<String> flags() {
        List<String> flags = new ArrayList<>(JVM_FLAGS);
        String heap = 96 + many / 50 + "m";
        flags.addAll(List.of("-Xms" + heap, "-Xmx" + heap));
        flags.addAll(Arrays.asList(System.getProperty("jrsocket.bench.jvm", "-XX:TieredStopAtLevel=1")
                .split(" +")));
        return flags;
    }

    private Column open(String name, boolean rdma, int connections, int busy, List<String> more) throws IOException {
        List<String> program = new ArrayList<>(
                List.of(Path.of(System.getProperty("java.home"), "bin", "java").toString()));
        program.addAll(flags());
        program.addAll(more);
        program.addAll(List.of("-cp", folder.resolve("benchmarks.jar").toString()));
        return open(name, rdma, connections, busy, program, EchoKeys.class.getName(), PingKeys.class.getName());
    }

    private Column openBare() throws IOException {
        List<String> program = List.of(folder.resolve("loops").toString());
        return open("bare verbs", true, LOOPS, LOOPS, program, "server", "client");
    }

    private Column open(
            String name, boolean rdma, int connections, int busy, List<String> program, String server, String client)
            throws IOException {
        String port = Integer.toString(20_100 + columns.size());
        Pair pair = new Pair(
                program,
                List.of(server, address, port),
                List.of(client, address, port, Integer.toString(connections), Integer.toString(busy)),
                Map.of(),
                folder.resolve("selector-" + columns.size() + ".log"));
        Column column = new Column(name, rdma, connections, pair);
        pair.tell("connect");
        System.out.printf("%s: connected in %.1f s%n", column, pair.answer(600).get("seconds"));
        pair.rest();
        return column;
    }

    private static Map<String, Double> measure(Column column) throws IOException {
        column.pair.go();
        Proof before = Proof.now();
        Map<String, Double> sample = column.pair.ask("rtt " + SAMPLE_MILLIS);
        Proof moved = Proof.now().since(before);
        column.pair.rest();
        double messages = 2 * sample.get("count");
        if (column.rdma
                ? moved.packets() < messages || moved.ipBytes() > messages * EchoKeys.MESSAGE / 10
                // Ten thousand others that are idle send a word now and then.
                : moved.packets() > messages / 10 || moved.ipBytes() < messages * EchoKeys.MESSAGE) {
            throw new IOException(column + ": " + messages + " messages, of which the RDMA device sent "
                    + moved.packets() + " packets and IP " + moved.ipBytes() + " bytes");
        }
        column.samples.add(sample);
        return sample;
    }

    private void print() {
        System.out.printf(
                "%nround trip of %d active connections, %d B, microseconds, medians (lowest to highest)%n",
                active, EchoKeys.MESSAGE);
        System.out.printf(
                "%-12s %-4s %24s %24s   ratio%n", "selector", "", active + " connections", many + " connections");
        for (int i = 0; i < 2; i++) {
            Column few = columns.get(i);
            Column all = columns.get(i + 2);
            for (String key : List.of("p50", "p99")) {
                double ratio = median(all, key) / median(few, key);
                System.out.printf(
                        Locale.ROOT,
                        "%-12s %-4s %24s %24s   %.2f%s%n",
                        few.name,
                        key,
                        range(few, key),
                        range(all, key),
                        ratio,
                        few.rdma
                                ? String.format(
                                        Locale.ROOT,
                                        " (target %.1f: %s)",
                                        TARGET_RATIO,
                                        ratio <= TARGET_RATIO ? "met" : "MISSED")
                                : "");
            }
        }
    }

    /** Ours, the JDK's, and the bare device. */
    private static void printLoops(List<Column> loops) {
        System.out.printf(
                "%n%d closed loops in one selector, %d B: round trips in %d ms, of all and of each, medians of the"
                        + " repetitions (lowest to highest)%n",
                LOOPS, EchoKeys.MESSAGE, SAMPLE_MILLIS);
        System.out.printf("%-12s %26s %24s %24s %24s%n", "selector", "all", "slowest", "median", "fastest");
        for (Column column : loops) {
            System.out.printf(
                    "%-12s %26s %24s %24s %24s%n",
                    column.name,
                    range(column, "count"),
                    range(column, "slowest"),
                    range(column, "median"),
                    range(column, "fastest"));
        }
        Column ours = loops.get(0);
        Column tcp = loops.get(1);
        System.out.printf(
                Locale.ROOT,
                "rate of the bare device / the JDK's over TCP: %.2f%n",
                median(loops.get(2), "count") / median(tcp, "count"));
        double ratio = median(ours, "count") / median(tcp, "count");
        System.out.printf(
                Locale.ROOT,
                "rate of ours / the JDK's over TCP: %.2f (target %.1f: %s)%n",
                ratio,
                TARGET_LOOPS_RATE,
                ratio >= TARGET_LOOPS_RATE ? "met" : "MISSED");
        double slowest = median(ours, "slowest") / median(ours, "median");
        System.out.printf(
                Locale.ROOT,
                "slowest of ours / the median of ours: %.2f (target %.1f: %s)%n",
                slowest,
                TARGET_LOOPS_SLOWEST,
                slowest >= TARGET_LOOPS_SLOWEST ? "met" : "MISSED");
    }

    private static String range(Column column, String key) {
        List<Double> values = sorted(column, key);
        return String.format(
                Locale.ROOT, "%.0f (%.0f to %.0f)", median(column, key), values.get(0), values.get(values.size() - 1));
    }

    private static double median(Column column, String key) {
        List<Double> values = sorted(column, key);
        return values.get(values.size() / 2);
    }

    private static List<Double> sorted(Column column, String key) {
        return column.samples.stream().map(sample -> sample.get(key)).sorted().toList();
    }
}
