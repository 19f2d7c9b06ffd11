/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.bench.scale;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;
import org.jrsocket.os.NativeMemory;

/**
 * What this process uses, in bytes; descriptors; and what the whole system has left, which tells what the kernel uses
 * for it.
 */
record Usage(long nativeMemory, long resident, long pinned, long descriptors, long threads, long available) {

    static Usage now() throws IOException {
        List<String> status = Files.readAllLines(Path.of("/proc/self/status"));
        long descriptors;
        try (Stream<Path> fds = Files.list(Path.of("/proc/self/fd"))) {
            descriptors = fds.count();
        }
        return new Usage(
                NativeMemory.allocatedBytes(),
                kib(status, "VmRSS:"),
                kib(status, "VmPin:") + kib(status, "VmLck:"),
                descriptors,
                number(status, "Threads:"),
                kib(Files.readAllLines(Path.of("/proc/meminfo")), "MemAvailable:"));
    }

    private static long kib(List<String> lines, String name) {
        return 1024 * number(lines, name);
    }

    private static long number(List<String> lines, String name) {
        return lines.stream()
                .filter(line -> line.startsWith(name))
                .mapToLong(line -> Long.parseLong(line.replaceAll("[^0-9]", "")))
                .findFirst()
                .orElse(0);
    }

    /** One line for people: the growth since {@code before}, per connection. */
    String per(Usage before, int connections) {
        return String.format(
                Locale.ROOT,
                "per connection, in KiB: native memory %.1f, resident %.1f, pinned %.1f; descriptors %.2f",
                (nativeMemory - before.nativeMemory) / 1024.0 / connections,
                (resident - before.resident) / 1024.0 / connections,
                (pinned - before.pinned) / 1024.0 / connections,
                (double) (descriptors - before.descriptors) / connections);
    }

    @Override
    public String toString() {
        return String.format(
                Locale.ROOT,
                "native memory %.1f MiB, resident %.1f MiB, pinned %.1f MiB, %d descriptors, %d threads",
                mib(nativeMemory),
                mib(resident),
                mib(pinned),
                descriptors,
                threads);
    }

    static double mib(long bytes) {
        return bytes / 1048576.0;
    }
}
