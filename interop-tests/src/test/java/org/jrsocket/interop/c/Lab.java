/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.interop.c;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.jrsocket.interop.Tool;
import org.junit.jupiter.api.Assumptions;

/** The guest of {@code scripts/roce-lab} around this process. */
final class Lab {

    /** For what takes a moment, on a slow machine. */
    static final Duration SOON = Duration.ofMinutes(1);
    /** For a transfer. */
    static final Duration RUN = Duration.ofMinutes(Long.getLong("jrsocket.lab.minutes", 5));

    private static final Path SETTINGS = Path.of("/etc/rdma/rsocket");
    private static int nextPort = 17000;

    private Lab() {}

    static void assume() {
        Assumptions.assumeTrue(
                System.getenv("ROCE_LAB_DEVICE") != null, "no RoCEv2 lab around this process (scripts/roce-lab)");
    }

    static void assumeProgram(String name) {
        boolean found = Stream.of(System.getenv("PATH").split(":"))
                .anyMatch(folder -> Files.isExecutable(Path.of(folder, name)));
        Assumptions.assumeTrue(found, name + " is not installed (scripts/install-deps test)");
    }

    static String address(boolean six) {
        return System.getenv(six ? "ROCE_LAB_ADDR6" : "ROCE_LAB_ADDR");
    }

    /** A port that no test had yet: the kernel keeps an rsocket's port busy a while after its last connection. */
    static synchronized int port() {
        return nextPort++;
    }

    static Path preload() {
        for (String folder : List.of(
                "/usr/lib/" + System.getProperty("os.arch").replace("amd64", "x86_64") + "-linux-gnu",
                "/usr/lib64",
                "/usr/lib")) {
            Path library = Path.of(folder, "rsocket", "librspreload.so");
            if (Files.exists(library)) {
                return library;
            }
        }
        return Assumptions.abort("librspreload.so is not installed (scripts/install-deps test)");
    }

    /** Waits until some process listens on an RDMA port. */
    static void awaitListener(int port, Program program) throws InterruptedException {
        awaitListeners(List.of(port), List.of(program));
    }

    /** As {@link #awaitListener}, for a port each. */
    static void awaitListeners(List<Integer> ports, List<Program> programs) throws InterruptedException {
        long deadline = System.nanoTime() + SOON.toNanos();
        for (; ; ) {
            String ids = Tool.run("rdma", "resource", "show", "cm_id");
            List<String> listening =
                    ids.lines().filter(line -> line.contains("LISTEN")).toList();
            List<Integer> missing = ports.stream()
                    .filter(port ->
                            listening.stream().noneMatch(line -> line.matches(".*src-addr \\S*:" + port + "\\b.*")))
                    .toList();
            if (missing.isEmpty()) {
                return;
            }
            if (System.nanoTime() - deadline > 0 || !programs.stream().allMatch(Program::isAlive)) {
                throw new AssertionError(
                        "nobody listens on RDMA ports " + missing + "; there is:\n" + ids + '\n' + programs);
            }
            TimeUnit.MILLISECONDS.sleep(50);
        }
    }

    /** The kernel's count of queue pairs, regions and so on, of all processes. */
    static String rdmaObjects() {
        return Tool.run("rdma", "resource", "show").strip();
    }

    /** The queue pairs, and what the device has counted. */
    static String rdmaState() {
        return Tool.run("rdma", "-d", "resource", "show", "qp") + Tool.run("rdma", "-p", "statistic", "show");
    }

    /**
     * Runs {@code action} while processes that start find these defaults for their rsockets. The guest's files are its
     * own.
     */
    static void withSettings(Map<String, Integer> settings, Action action) throws Exception {
        Files.createDirectories(SETTINGS);
        try {
            for (Map.Entry<String, Integer> setting : settings.entrySet()) {
                Files.writeString(SETTINGS.resolve(setting.getKey()), setting.getValue() + "\n");
            }
            action.run();
        } finally {
            for (String name : settings.keySet()) {
                Files.deleteIfExists(SETTINGS.resolve(name));
            }
        }
    }

    /** What a test does. */
    @FunctionalInterface
    interface Action {
        void run() throws Exception;
    }
}
