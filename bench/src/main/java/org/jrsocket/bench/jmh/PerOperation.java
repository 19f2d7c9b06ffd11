/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.bench.jmh;

import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Pattern;
import org.openjdk.jmh.profile.GCProfiler;
import org.openjdk.jmh.results.BenchmarkResult;
import org.openjdk.jmh.results.IterationResult;
import org.openjdk.jmh.results.RunResult;
import org.openjdk.jmh.runner.Runner;
import org.openjdk.jmh.runner.RunnerException;
import org.openjdk.jmh.runner.options.ChainedOptionsBuilder;
import org.openjdk.jmh.runner.options.OptionsBuilder;
import org.openjdk.jmh.runner.options.TimeValue;
import org.openjdk.jmh.runner.options.VerboseMode;

/**
 * {@code PerOperation [FORKS [PATTERN]]}: what an operation costs, in about five minutes, as a table with the targets.
 * Iterations are short, and of each JVM the fastest counts, because others use the machine too; of the JVMs the median.
 */
public final class PerOperation {

    /** About what a scheduler leaves a thread undisturbed. */
    private static final int MILLIS = 50;

    private static final int ITERATIONS = 40;
    private static final int WARM_UP_MILLIS = 200;
    private static final int WARM_UPS = 10;
    /** Bytes that JMH itself allocates in an iteration. */
    private static final double OWN = 16_384;

    /**
     * A benchmark with its parameter.
     *
     * @param bound what it should take at most: nanoseconds, or times {@code base}; NaN for whatever it takes
     * @param bare the benchmark of what it cannot do without on this device, or null
     */
    private record Line(String name, double bound, String base, String bare) {
        double nanos(Map<String, Measured> all) {
            return base == null ? bound : bound * all.get(base).nanos;
        }
    }

    private static Line line(String name, double bound) {
        return new Line(name, bound, null, null);
    }

    /** One way over loopback verbs: at most so many nanoseconds, or times the copies. */
    private static Line oneWay(int size, double bound, boolean times) {
        return new Line(
                "StreamBenchmark.arrays " + size,
                bound,
                times ? "CopyBenchmark.arrays " + size : null,
                "DeviceBenchmark.arrays " + size);
    }

    private static List<Line> lines() {
        List<Line> lines = new ArrayList<>();
        for (String benchmark :
                List.of("CopyBenchmark.arrays ", "DeviceBenchmark.oneWay ", "DeviceBenchmark.arrays ")) {
            for (int size : new int[] {64, 4096, 65536}) {
                lines.add(line(benchmark + size, Double.NaN));
            }
        }
        lines.addAll(List.of(
                oneWay(64, 200, false),
                oneWay(4096, 1.2, true),
                oneWay(65536, 1.2, true),
                line("StreamBenchmark.roundTrip 64", 400),
                line("IdleDeviceBenchmark.streamWrite", 75),
                line("IdleDeviceBenchmark.streamRead 1", 75),
                line("IdleDeviceBenchmark.streamRead 16", 75),
                line("IdleDeviceBenchmark.socketWrite", 150),
                line("IdleDeviceBenchmark.socketRead 1", 150),
                line("IdleDeviceBenchmark.socketRead 16", 150)));
        return lines;
    }

    /** Medians over the JVMs, of the lowest iteration of each, and of its mean. */
    private record Measured(double nanos, double cpu, double bytes, double mean) {}

    private PerOperation() {}

    public static void main(String[] args) throws RunnerException {
        int forks = args.length > 0 ? Integer.parseInt(args[0]) : 3;
        Pattern wanted = Pattern.compile(args.length > 1 ? args[1] : "");
        List<Line> lines = new ArrayList<>(lines());
        lines.removeIf(line -> !wanted.matcher(line.name).find());
        Map<String, Measured> all = new LinkedHashMap<>();
        for (Line line : lines) {
            String[] word = line.name.split(" ");
            ChainedOptionsBuilder options = new OptionsBuilder()
                    .include("\\." + word[0].replace(".", "\\.") + "$")
                    .addProfiler(GCProfiler.class)
                    .addProfiler(CpuProfiler.class)
                    .forks(forks)
                    .warmupIterations(WARM_UPS)
                    .warmupTime(TimeValue.milliseconds(WARM_UP_MILLIS))
                    .measurementIterations(ITERATIONS)
                    .measurementTime(TimeValue.milliseconds(MILLIS))
                    .verbosity(VerboseMode.SILENT)
                    .shouldFailOnError(true);
            if (word.length > 1) {
                options = options.param(word[0].startsWith("Idle") ? "ready" : "size", word[1]);
            }
            Collection<RunResult> results = new Runner(options.build()).run();
            Measured measured = measured(results.iterator().next());
            all.put(line.name, measured);
            System.out.printf(Locale.ROOT, "%-36s %9.1f ns, %.1f of CPU%n", line.name, measured.nanos, measured.cpu);
        }
        print(lines, all);
    }

    private static void print(List<Line> lines, Map<String, Measured> all) {
        System.out.printf("%nns per operation: of each JVM the fastest iteration, of these the median; the mean of all"
                + " iterations, CPU time and bytes allocated likewise%n");
        System.out.printf("%-36s %9s %9s %9s %8s %9s %9s%n", "", "ns", "mean", "CPU ns", "bytes", "/ bare", "wanted");
        for (Line line : lines) {
            Measured m = all.get(line.name);
            double bound = line.base == null || all.containsKey(line.base) ? line.nanos(all) : Double.NaN;
            Measured bare = all.get(line.bare);
            boolean allocates = m.bytes > Math.max(0.5, OWN * m.nanos / (MILLIS * 1e6));
            System.out.printf(
                    "%-36s %9s %9s %9s %8s %9s %9s  %s%s%n",
                    line.name,
                    number(m.nanos),
                    number(m.mean),
                    number(m.cpu),
                    String.format(Locale.ROOT, "%.2f", m.bytes),
                    bare == null ? "" : String.format(Locale.ROOT, "%.2f", m.nanos / bare.nanos),
                    Double.isNaN(bound) ? "" : number(bound),
                    Double.isNaN(bound) ? "" : m.nanos <= bound ? "met" : "NOT met",
                    allocates ? ", ALLOCATES" : "");
        }
        System.out.println("/ bare: beside the same copies and calls of the device, without a stream");
    }

    private static String number(double nanos) {
        return String.format(Locale.ROOT, nanos < 1000 ? "%.1f" : "%.0f", nanos);
    }

    private static Measured measured(RunResult result) {
        List<Double> nanos = new ArrayList<>();
        List<Double> means = new ArrayList<>();
        List<Double> cpu = new ArrayList<>();
        List<Double> bytes = new ArrayList<>();
        for (BenchmarkResult fork : result.getBenchmarkResults()) {
            double fastest = Double.MAX_VALUE;
            double sum = 0;
            double least = Double.MAX_VALUE;
            double fewest = Double.MAX_VALUE;
            for (IterationResult iteration : fork.getIterationResults()) {
                sum += iteration.getPrimaryResult().getScore();
                fastest = Math.min(fastest, iteration.getPrimaryResult().getScore());
                least = Math.min(least, score(iteration, CpuProfiler.LABEL));
                fewest = Math.min(fewest, score(iteration, "gc.alloc.rate.norm"));
            }
            nanos.add(fastest);
            means.add(sum / fork.getIterationResults().size());
            cpu.add(least);
            bytes.add(fewest);
        }
        return new Measured(median(nanos), median(cpu), median(bytes), median(means));
    }

    private static double score(IterationResult iteration, String secondary) {
        return iteration.getSecondaryResults().get(secondary).getScore();
    }

    private static double median(List<Double> values) {
        List<Double> sorted = new ArrayList<>(values);
        sorted.sort(null);
        return sorted.get(sorted.size() / 2);
    }
}
