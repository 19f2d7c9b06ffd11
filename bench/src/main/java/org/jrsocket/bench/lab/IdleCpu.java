/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.bench.lab;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.TimeUnit;

/** What processes cost that have nothing to do. */
public final class IdleCpu {

    private static final int SETTLE_SECONDS = 5;

    private IdleCpu() {}

    /**
     * A pair of processes.
     *
     * @param judged whether the target is for it
     */
    public record Use(String name, Pair pair, boolean judged) {}

    /** Waits, and prints what each of them used of a CPU meanwhile. */
    public static void measure(int seconds, double targetPercent, List<Use> all)
            throws IOException, InterruptedException {
        TimeUnit.SECONDS.sleep(SETTLE_SECONDS);
        List<double[]> before = new ArrayList<>();
        for (Use each : all) {
            before.add(each.pair.cpuSeconds());
        }
        long start = System.nanoTime();
        TimeUnit.SECONDS.sleep(seconds);
        System.out.printf("%nall idle for %d s: %% of a CPU that a process uses, waiting%n", seconds);
        for (int i = 0; i < all.size(); i++) {
            Use each = all.get(i);
            double[] now = each.pair.cpuSeconds();
            double percent = 100 / ((System.nanoTime() - start) / 1e9);
            double server = percent * (now[0] - before.get(i)[0]);
            double client = percent * (now[1] - before.get(i)[1]);
            String verdict = String.format(
                    Locale.ROOT,
                    " (target %.0f: %s)",
                    targetPercent,
                    Math.max(server, client) < targetPercent ? "met" : "MISSED");
            System.out.printf(
                    Locale.ROOT,
                    "%-34s server %.2f, client %.2f%s%n",
                    each.name,
                    server,
                    client,
                    each.judged ? verdict : "");
        }
    }
}
