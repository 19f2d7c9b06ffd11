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
 * {@code StartCost RSOCKET-JAR ROUNDS FOLDER [JVM-OPTION]...}: in each round {@link StartProbe} in a JVM without the
 * agent, in one with it, in one more without, and in one with {@link IdleAgent}, whose order changes from round to
 * round, for each kind of class data sharing. Prints medians: milliseconds from the start of the process to its end,
 * those of user and system time, and the most memory that was resident. FOLDER is for archives, and for what JVMs leave
 * that crash.
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

    /** What JVMs are started with, in this order in the first round. */
    private static final int PLAIN = 0;

    private static final int AGENT = 1;
    private static final int PLAIN_AGAIN = 2;
    private static final int IDLE_AGENT = 3;

    /** By the emulator's fault, now and then. */
    private static final int MOST_CRASHES = 5;

    private static final int ABORTED = 134;

    /** One JVM. */
    private record Run(double millis, double cpuMillis, double megabytes) {}

    private final Path agent;
    private final Path idleAgent;
    private final Path folder;
    private final List<String> jvm;
    private final Path archive;
    private final Path errors;
    private String transport = "the agent has RDMA";

    private StartCost(Path agent, Path folder, List<String> jvm) throws IOException {
        this.agent = agent;
        this.folder = folder;
        this.jvm = jvm;
        this.idleAgent = IdleAgent.jarIn(folder);
        this.archive = folder.resolve("start-probe.jsa");
        this.errors = folder.resolve("start-probe.err");
    }

    public static void main(String[] args) throws IOException, InterruptedException {
        StartCost cost = new StartCost(
                Path.of(args[0]).toAbsolutePath(),
                Path.of(args[2]).toAbsolutePath(),
                List.of(args).subList(3, args.length));
        int rounds = Integer.parseInt(args[1]);
        cost.run("socket", PLAIN, List.of("-XX:ArchiveClassesAtExit=" + cost.archive));
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
                "%-26s %9s %9s %9s %11s %11s | %9s %9s %9s %11s | %9s %9s %9s %11s  %s%n",
                "",
                "no agent",
                "agent",
                "more",
                "idle agent",
                "two without",
                "no agent",
                "agent",
                "more",
                "idle agent",
                "no agent",
                "agent",
                "more",
                "idle agent",
                "verdict");
        table.forEach(System.out::println);
    }

    private String row(String program, Sharing sharing, int rounds) throws IOException, InterruptedException {
        List<String> options =
                switch (sharing) {
                    case JDK -> List.of("-Xshare:auto");
                    case OWN -> List.of("-XX:SharedArchiveFile=" + archive);
                    case NONE -> List.of("-Xshare:off");
                };
        List<List<Run>> runs = List.of(new ArrayList<>(), new ArrayList<>(), new ArrayList<>(), new ArrayList<>());
        for (int i = -1; i < rounds; i++) { // the first fills the caches of the file system
            for (int j = 0; j < runs.size(); j++) {
                int which = Math.floorMod(i + j, runs.size());
                Run run = run(program, which, options);
                if (i >= 0) {
                    runs.get(which).add(run);
                }
            }
        }
        double[] millis = medians(runs, Run::millis);
        double[] cpu = medians(runs, Run::cpuMillis);
        double[] memory = medians(runs, Run::megabytes);
        boolean met = millis[AGENT] - millis[PLAIN] <= MOST_MILLIS && memory[AGENT] - memory[PLAIN] <= MOST_MEGABYTES;
        return String.format(
                Locale.ROOT,
                "%-26s %6.0f ms %6.0f ms %6.0f ms %8.0f ms %8.0f ms | %6.0f ms %6.0f ms %6.0f ms %8.0f ms"
                        + " | %6.1f MB %6.1f MB %6.1f MB %8.1f MB  %s",
                program + ", " + sharing.text,
                millis[PLAIN],
                millis[AGENT],
                millis[AGENT] - millis[PLAIN],
                millis[IDLE_AGENT] - millis[PLAIN],
                Math.abs(millis[PLAIN_AGAIN] - millis[PLAIN]),
                cpu[PLAIN],
                cpu[AGENT],
                cpu[AGENT] - cpu[PLAIN],
                cpu[IDLE_AGENT] - cpu[PLAIN],
                memory[PLAIN],
                memory[AGENT],
                memory[AGENT] - memory[PLAIN],
                memory[IDLE_AGENT] - memory[PLAIN],
                met ? "met" : "MISSED");
    }

    private Run run(String program, int which, List<String> options) throws IOException, InterruptedException {
        List<String> command = new ArrayList<>(
                List.of(Path.of(System.getProperty("java.home"), "bin", "java").toString()));
        command.addAll(jvm);
        command.add("-XX:ErrorFile=" + folder.resolve("hs_err_pid%p.log"));
        command.addAll(options);
        if (which == AGENT || which == IDLE_AGENT) {
            command.add("-javaagent:" + (which == AGENT ? agent : idleAgent));
        }
        // Settings of a heap that is not the machine's: what is resident would depend on it.
        command.addAll(List.of("-Xms16m", "-Xmx64m", "-XX:+UseSerialGC", "-cp"));
        command.addAll(List.of(System.getProperty("java.class.path"), StartProbe.class.getName(), program));
        for (int crashes = 0; ; crashes++) {
            long start = System.nanoTime();
            Process process =
                    new ProcessBuilder(command).redirectError(errors.toFile()).start();
            String said = new String(process.getInputStream().readAllBytes(), UTF_8);
            int status = process.waitFor();
            double millis = (System.nanoTime() - start) / 1e6;
            if (status == ABORTED && crashes < MOST_CRASHES) {
                System.err.println("bench: a JVM crashed and is started again");
                continue;
            }
            String complaints = Files.readString(errors);
            Map<String, Double> numbers = said.lines()
                    .filter(line -> line.matches("\\w+=\\d+"))
                    .map(line -> line.split("="))
                    .collect(Collectors.toMap(words -> words[0], words -> Double.valueOf(words[1])));
            if (status != 0 || numbers.size() != 2) {
                throw new IOException(String.join(" ", command) + " ended with " + status + ": " + said + complaints);
            }
            if (which == AGENT && complaints.contains("jrsocket: TCP only: ")) {
                transport = "the agent finds no RDMA";
            }
            return new Run(millis, numbers.get("CpuTicks") * 10, numbers.get("VmHWM") / 1024);
        }
    }

    private static double[] medians(List<List<Run>> runs, ToDoubleFunction<Run> number) {
        return runs.stream().mapToDouble(each -> median(each, number)).toArray();
    }

    private static double median(List<Run> runs, ToDoubleFunction<Run> number) {
        List<Double> sorted = runs.stream().mapToDouble(number).sorted().boxed().toList();
        int half = sorted.size() / 2;
        return sorted.size() % 2 == 1 ? sorted.get(half) : (sorted.get(half - 1) + sorted.get(half)) / 2;
    }
}
