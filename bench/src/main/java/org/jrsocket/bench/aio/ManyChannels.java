/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.bench.aio;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jrsocket.bench.lab.IdleCpu;
import org.jrsocket.bench.lab.Machine;
import org.jrsocket.bench.lab.Pair;
import org.jrsocket.bench.lab.Proof;

/**
 * The driver, in the guest: {@code ManyChannels FOLDER CONNECTIONS}. So many channels in one group of either process,
 * ours over RDMA and the JDK's over TCP: all of them carry data, of which every byte is compared; then all idle. FOLDER
 * has the jars.
 */
public final class ManyChannels {

    private static final int ROUNDS = 50;
    private static final int IDLE_SECONDS = 20;
    private static final double TARGET_IDLE_PERCENT = 1;

    /** For all JVMs alike. One compiler: the emulator lets JVMs that replace compiled methods crash now and then. */
    private static final List<String> JVM_FLAGS =
            List.of("-XX:+UseSerialGC", "-Xms96m", "-Xmx96m", "-XX:-UsePerfData", "-XX:TieredStopAtLevel=1");

    /** A pair of processes. */
    private record Column(String name, boolean rdma, Pair pair) {}

    private final Path folder;
    private final int connections;
    private final String address = System.getenv("ROCE_LAB_ADDR");
    private final List<Column> columns = new ArrayList<>();

    private ManyChannels(Path folder, int connections) {
        this.folder = folder;
        this.connections = connections;
    }

    public static void main(String[] args) throws IOException, InterruptedException {
        int status = 1;
        ManyChannels driver = new ManyChannels(Path.of(args[0]), Integer.parseInt(args[1]));
        try {
            driver.run();
            status = 0;
        } catch (IOException e) {
            System.out.println("FAILED: " + e.getMessage());
        }
        driver.columns.forEach(column -> column.pair.close());
        System.exit(status);
    }

    private void run() throws IOException, InterruptedException {
        Machine.facts().forEach(System.out::println);
        System.out.println("flags of all JVMs: " + String.join(" ", JVM_FLAGS));
        // RDMA or a failure, however slowly a slow guest connects.
        open(
                "ours, RDMA",
                true,
                List.of("-javaagent:" + folder.resolve("rsocket.jar") + "=policy=rdma,connect.timeout=60s"));
        open("JDK's, TCP", false, List.of());
        for (Column column : columns) {
            echo(column);
        }
        columns.forEach(column -> column.pair.go());
        IdleCpu.measure(
                IDLE_SECONDS,
                TARGET_IDLE_PERCENT,
                columns.stream()
                        .map(column -> new IdleCpu.Use(column.name, column.pair, column.rdma))
                        .toList());
    }

    private void open(String name, boolean rdma, List<String> flags) throws IOException {
        List<String> program = new ArrayList<>(
                List.of(Path.of(System.getProperty("java.home"), "bin", "java").toString()));
        program.addAll(JVM_FLAGS);
        program.addAll(flags);
        program.addAll(List.of("-cp", folder.resolve("benchmarks.jar").toString()));
        String port = Integer.toString(20_200 + columns.size());
        Pair pair = new Pair(
                program,
                List.of(EchoChannels.class.getName(), address, port),
                List.of(PingChannels.class.getName(), address, port, Integer.toString(connections)),
                Map.of(),
                folder.resolve("channels-" + columns.size() + ".log"));
        columns.add(new Column(name, rdma, pair));
        pair.tell("connect");
        System.out.printf(
                "%s: %d channels connected in %.1f s%n",
                name, connections, pair.answer(600).get("seconds"));
        pair.rest();
    }

    private void echo(Column column) throws IOException {
        column.pair.go();
        Proof before = Proof.now();
        column.pair.tell("echo " + ROUNDS);
        Map<String, Double> told = column.pair.answer(600);
        Proof moved = Proof.now().since(before);
        column.pair.rest();
        double bytes = (double) connections * ROUNDS * PingChannels.MESSAGE;
        double messages = 2.0 * connections * ROUNDS;
        if (told.get("verified") != bytes
                || (column.rdma
                        ? moved.packets() < messages || moved.ipBytes() > bytes / 10
                        : moved.packets() > messages / 10 || moved.ipBytes() < 2 * bytes)) {
            throw new IOException(column.name + ": " + told + ", not " + bytes + " verified; the RDMA device sent "
                    + moved.packets() + " packets and IP " + moved.ipBytes() + " bytes");
        }
        System.out.printf(
                "%s: %d rounds of %d B on all channels at once in %.1f s, %.0f bytes verified; %s%n",
                column.name, ROUNDS, PingChannels.MESSAGE, told.get("seconds"), bytes, moved);
    }
}
