/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.bench.start;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.ToDoubleFunction;
import java.util.stream.Collectors;

/**
 * {@code StartCost RSOCKET-JAR ROUNDS FOLDER}: in each round {@link StartProbe} in a JVM without the agent, in one with
 * it and in one more without, whose order changes from round to round, for each kind of class data sharing. Prints
 * medians: milliseconds from the start of the process to its end, the most memory that was resident, and how much more
 * of it belongs to the process alone. FOLDER is for archives.
 */
public final class StartCost {

    private static final double MOST_MILLIS = 60;
    private static final double MOST_MEGABYTES = 3;

    private enum Sharing {
        /** The archive that comes with the JDK. */
        JDK("the JDK's archive"),
        /** One of the program, made without the agent: what an application has whose command line gets the agent. */
        OWN("AppCDS"),
        NONE("no archive");

        private final String text;

        Sharing(String text) {
            this.text = text;
        }
    }

    /** One JVM. */
    private record Run(double millis, double megabytes, double anonymous) {}

    private final Path agent;
    private final Path archive;
    private final Path errors;
    private String transport = "the agent has RDMA";

    private StartCost(Path agent, Path folder) {
        this.agent = agent;
        this.archive = folder.resolve("start-probe.jsa");
        this.errors = folder.resolve("start-probe.err");
    }

    public static void main(String[] args) throws IOException, InterruptedException {
        StartCost cost = new StartCost(Path.of(args[0]), Path.of(args[2]));
        int rounds = Integer.parseInt(args[1]);
        cost.run("socket", false, List.of("-XX:ArchiveClassesAtExit=" + cost.archive));
        List<String> table = new ArrayList<>();
        for (String program : new String[] {"idle", "socket"}) {
            for (Sharing sharing : Sharing.values()) {
                table.add(cost.row(program, sharing, rounds));
                System.err.printf("bench: %s, %s: done%n", program, sharing.text);
            }
        }
        System.out.printf(
                "start of a JVM, medians of %d each; %s; target: at most %.0f ms and %.0f MB more%n",
                rounds, cost.transport, MOST_MILLIS, MOST_MEGABYTES);
        System.out.printf(
                "%-28s %10s %10s %10s %12s %10s %10s %10s %10s  %s%n",
                "", "no agent", "agent", "more", "two without", "no agent", "agent", "more", "own", "verdict");
        table.forEach(System.out::println);
    }

    private String row(String program, Sharing sharing, int rounds) throws IOException, InterruptedException {
        List<String> options =
                switch (sharing) {
                    case JDK -> List.of("-Xshare:auto");
                    case OWN -> List.of("-XX:SharedArchiveFile=" + archive);
                    case NONE -> List.of("-Xshare:off");
                };
        List<List<Run>> runs = List.of(new ArrayList<>(), new ArrayList<>(), new ArrayList<>());
        for (int i = -1; i < rounds; i++) { // the first fills the caches of the file system
            for (int j = 0; j < runs.size(); j++) {
                int which = Math.floorMod(i + j, runs.size());
                Run run = run(program, which == 1, options);
                if (i >= 0) {
                    runs.get(which).add(run);
                }
            }
        }
        double plain = median(runs.get(0), Run::millis);
        double with = median(runs.get(1), Run::millis);
        double plainMemory = median(runs.get(0), Run::megabytes);
        double withMemory = median(runs.get(1), Run::megabytes);
        boolean met = with - plain <= MOST_MILLIS && withMemory - plainMemory <= MOST_MEGABYTES;
        return String.format(
                Locale.ROOT,
                "%-28s %7.0f ms %7.0f ms %7.0f ms %9.0f ms %7.1f MB %7.1f MB %7.1f MB %7.1f MB  %s",
                program + ", " + sharing.text,
                plain,
                with,
                with - plain,
                Math.abs(median(runs.get(2), Run::millis) - plain),
                plainMemory,
                withMemory,
                withMemory - plainMemory,
                median(runs.get(1), Run::anonymous) - median(runs.get(0), Run::anonymous),
                met ? "met" : "MISSED");
    }

    private Run run(String program, boolean withAgent, List<String> options) throws IOException, InterruptedException {
        List<String> command = new ArrayList<>(
                List.of(Path.of(System.getProperty("java.home"), "bin", "java").toString()));
        command.addAll(options);
        if (withAgent) {
            command.add("-javaagent:" + agent);
        }
        // Settings of a heap that is not the machine's: what is resident would depend on it.
        command.addAll(List.of("-Xms16m", "-Xmx64m", "-XX:+UseSerialGC", "-cp"));
        command.addAll(List.of(System.getProperty("java.class.path"), StartProbe.class.getName(), program));
        long start = System.nanoTime();
        Process process =
                new ProcessBuilder(command).redirectError(errors.toFile()).start();
        String said = new String(process.getInputStream().readAllBytes(), UTF_8);
        int status = process.waitFor();
        double millis = (System.nanoTime() - start) / 1e6;
        String complaints = Files.readString(errors);
        Map<String, Double> kilobytes = said.lines()
                .filter(line -> line.matches("\\w+=\\d+"))
                .map(line -> line.split("="))
                .collect(Collectors.toMap(words -> words[0], words -> Double.valueOf(words[1])));
        if (status != 0 || kilobytes.size() != 2) {
            throw new IOException(String.join(" ", command) + " ended with " + status + ": " + said + complaints);
        }
        if (withAgent && complaints.contains("jrsocket: TCP only: ")) {
            transport = "the agent finds no RDMA";
        }
        return new Run(millis, kilobytes.get("VmHWM") / 1024, kilobytes.get("RssAnon") / 1024);
    }

    private static double median(List<Run> runs, ToDoubleFunction<Run> number) {
        List<Double> sorted = runs.stream().mapToDouble(number).sorted().boxed().toList();
        int half = sorted.size() / 2;
        return sorted.size() % 2 == 1 ? sorted.get(half) : (sorted.get(half - 1) + sorted.get(half)) / 2;
    }
}
