/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.agent;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.jrsocket.stream.StreamConfig;

/** The memory that this process may pin, from proc(5). */
final class LockedMemory {

    private static final int CAP_IPC_LOCK = 14;

    private LockedMemory() {}

    /** Describes for people the limit, and how many connections it suffices for. */
    static String describe(StreamConfig config) {
        try {
            return describe(
                    Files.readAllLines(Path.of("/proc/self/limits")),
                    Files.readAllLines(Path.of("/proc/self/status")),
                    config);
        } catch (IOException e) {
            return "unknown"; // not Linux
        }
    }

    static String describe(List<String> limits, List<String> status, StreamConfig config) {
        String soft = limits.stream()
                .filter(line -> line.startsWith("Max locked memory"))
                .findFirst()
                .map(line ->
                        line.substring("Max locked memory".length()).strip().split("\\s+")[0])
                .orElse("unknown");
        if (!soft.matches("[0-9]+")) {
            return soft;
        }
        long bytes = Long.parseLong(soft);
        boolean privileged = status.stream()
                .filter(line -> line.startsWith("CapEff:"))
                .anyMatch(line -> (Long.parseUnsignedLong(
                                                line.substring("CapEff:".length())
                                                        .strip(),
                                                16)
                                        >> CAP_IPC_LOCK
                                & 1)
                        != 0);
        if (privileged) {
            return bytes / 1024 + " KiB, which does not limit this process (CAP_IPC_LOCK)";
        }
        int idle = config.leastBytes();
        int busy = idle + config.sendBuffer() + config.receiveBuffer();
        return bytes / 1024 + " KiB, for " + bytes / idle + " idle connections of " + idle / 1024 + " KiB, or "
                + bytes / busy + " that carry as much as they can (" + busy / 1024
                + " KiB); more: ulimit -l, LimitMEMLOCK= (systemd)," + " --ulimit memlock= (containers)";
    }
}
