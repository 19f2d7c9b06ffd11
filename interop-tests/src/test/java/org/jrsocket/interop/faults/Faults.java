/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.interop.faults;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.TimeUnit;

/**
 * {@code Faults TABLE [NAME...]}: plays the scenarios of these names, or all, and adds a line for each to a table in
 * Markdown. On host b of {@code scripts/roce-lab hosts}; {@code scripts/faults} starts it. Ends with 1 if a promise was
 * not kept. {@code Faults list} prints the names, {@code Faults titles} what the rows begin with.
 */
final class Faults {

    private Faults() {}

    public static void main(String[] args) throws Exception {
        if (args[0].equals("list")) {
            Scenarios.all()
                    .forEach(scenario ->
                            System.out.printf("%-14s%s: %s%n", scenario.name(), scenario.title(), scenario.promise()));
            return;
        }
        if (args[0].equals("titles")) {
            Scenarios.all().forEach(scenario -> System.out.println(scenario.title()));
            return;
        }
        List<String> wanted = Arrays.asList(args).subList(1, args.length);
        boolean kept = true;
        try (TwoHosts hosts = new TwoHosts(false)) {
            for (Scenario scenario : Scenarios.all()) {
                if (wanted.isEmpty() || wanted.contains(scenario.name())) {
                    kept &= play(scenario, hosts, Path.of(args[0]));
                }
            }
        }
        System.exit(kept ? 0 : 1);
    }

    private static boolean play(Scenario scenario, TwoHosts hosts, Path table) throws IOException {
        System.out.println("== " + scenario.title() + "\n   promised: " + scenario.promise());
        long start = System.nanoTime();
        String result;
        boolean kept;
        try {
            result = hosts.play(scenario);
            kept = true;
        } catch (Exception | AssertionError e) {
            e.printStackTrace(System.out);
            result = "**BROKEN**: "
                    + String.valueOf(e.getMessage()).lines().findFirst().orElse("");
            kept = false;
        }
        if (!hosts.beginning().isEmpty()) {
            result = hosts.beginning() + "; " + result;
        }
        double seconds = (System.nanoTime() - start) / (double) TimeUnit.SECONDS.toNanos(1);
        System.out.printf(Locale.ROOT, "   %s: %s (%.1f s)%n", kept ? "kept" : "BROKEN", result, seconds);
        String row = String.format(
                Locale.ROOT,
                "| %s | %s | %s | %.1f s |%n",
                scenario.title(),
                scenario.code(),
                result.replace('|', '/'),
                seconds);
        Files.writeString(table, row, StandardOpenOption.CREATE, StandardOpenOption.APPEND);
        return kept;
    }
}
