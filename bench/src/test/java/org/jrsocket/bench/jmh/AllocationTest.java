/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.bench.jmh;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Collection;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.openjdk.jmh.infra.BenchmarkParams;
import org.openjdk.jmh.profile.GCProfiler;
import org.openjdk.jmh.results.RunResult;
import org.openjdk.jmh.runner.Runner;
import org.openjdk.jmh.runner.RunnerException;
import org.openjdk.jmh.runner.options.OptionsBuilder;
import org.openjdk.jmh.runner.options.TimeValue;
import org.openjdk.jmh.runner.options.VerboseMode;

@Tag("once")
class AllocationTest {

    /** Bytes per operation that are rounding. */
    private static final double ROUNDING = 0.5;
    /** Bytes that JMH itself allocates in an iteration, however few operations a busy machine fits into it. */
    private static final double OWN = 16_384;

    private static final int MILLIS = 250;
    /**
     * The best iteration counts: in the last one JMH allocates some 100 KiB; an operation that allocates does so in
     * all.
     */
    private static final int ITERATIONS = 3;

    @Test
    void shouldAllocateNothingPerReadAndWrite() throws RunnerException {
        TimeValue time = TimeValue.milliseconds(MILLIS);
        Collection<RunResult> results = new Runner(new OptionsBuilder()
                        .include(StreamBenchmark.class.getName())
                        .include(IdleDeviceBenchmark.class.getName())
                        .addProfiler(GCProfiler.class)
                        .forks(1)
                        .warmupIterations(2)
                        .warmupTime(time)
                        .measurementIterations(ITERATIONS)
                        .measurementTime(time)
                        .verbosity(VerboseMode.SILENT)
                        .shouldFailOnError(true)
                        .build())
                .run();
        assertEquals(
                9 + 6, results.size(), "three benchmarks at three sizes, and what a device that does nothing leaves");
        for (RunResult result : results) {
            String name = result.getParams().getBenchmark() + " " + parameter(result.getParams());
            double bytes = result.getSecondaryResults()
                    .get("gc.alloc.rate.norm")
                    .getStatistics()
                    .getMin();
            double nanos = result.getPrimaryResult().getScore();
            System.out.printf("%s: %.3f B/op, %.0f ns%n", name, bytes, nanos);
            assertTrue(
                    bytes < Math.max(ROUNDING, OWN * nanos / (MILLIS * 1e6)),
                    () -> name + " allocates " + bytes + " bytes per operation");
        }
    }

    private static String parameter(BenchmarkParams params) {
        return params.getParamsKeys().stream()
                .map(key -> key + " " + params.getParam(key))
                .collect(Collectors.joining());
    }
}
