/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.os;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/**
 * The limit on the memory that this process may lock, which is also that on the memory that it may register with
 * devices (RLIMIT_MEMLOCK), from proc(5).
 */
public final class MemlockLimit {

    private static final Path PROCESS = Path.of("/proc/self");
    private static final String UNKNOWN = "unknown";
    private static final int CAP_IPC_LOCK = 14;
    /** The first user namespace's map. In others, such as a rootless container, the capability lifts no limit. */
    private static final String ALL_USERS = "0 0 4294967295";

    private final String soft;
    private final long pinned;
    private final boolean privileged;

    private MemlockLimit(String soft, long pinned, boolean privileged) {
        this.soft = soft;
        this.pinned = pinned;
        this.privileged = privileged;
    }

    /** Reads the limit; what cannot be read is unknown. */
    public static MemlockLimit ofThisProcess() {
        try {
            Path users = PROCESS.resolve("uid_map"); // no such file: a kernel without user namespaces
            return of(
                    Files.readAllLines(PROCESS.resolve("limits")),
                    Files.readAllLines(PROCESS.resolve("status")),
                    users.toFile().exists() ? Files.readString(users) : ALL_USERS);
        } catch (IOException | RuntimeException e) { // not Linux, or a security manager
            return new MemlockLimit(UNKNOWN, 0, false);
        }
    }

    /** Returns the limit that these contents of a process's limits, status and uid_map describe. */
    public static MemlockLimit of(List<String> limits, List<String> status, String users) {
        String soft = first(limits, "Max locked memory");
        String pinned = first(status, "VmPin:"); // in kB
        String capabilities = first(status, "CapEff:");
        return new MemlockLimit(
                soft.isEmpty() ? UNKNOWN : soft,
                pinned.isEmpty() ? 0 : Long.parseLong(pinned) << 10,
                !capabilities.isEmpty()
                        && (Long.parseUnsignedLong(capabilities, 16) >> CAP_IPC_LOCK & 1) != 0
                        && users.strip().replaceAll("\\s+", " ").equals(ALL_USERS));
    }

    /** Returns the first word that follows {@code key} at the beginning of a line; empty if there is none. */
    private static String first(List<String> lines, String key) {
        return lines.stream()
                .filter(line -> line.startsWith(key))
                .findFirst()
                .map(line -> line.substring(key.length()).strip().split("\\s+", 2)[0])
                .orElse("");
    }

    /** Returns whether it is a number: neither unlimited nor unknown. */
    public boolean isNumber() {
        return soft.matches("[0-9]+");
    }

    /** Returns the number of bytes. */
    public long bytes() {
        return Long.parseLong(soft);
    }

    /** Returns whether the process has a capability that lifts the limit. */
    public boolean isPrivileged() {
        return privileged;
    }

    /** Returns false if the limit certainly does not apply to this process. */
    public boolean mayApply() {
        return !privileged && (isNumber() || soft.equals(UNKNOWN));
    }

    /** Returns false if the limit certainly lets this process lock {@code more} bytes at the moment. */
    public boolean mayRefuse(long more) {
        return mayApply() && (!isNumber() || pinned + more > bytes());
    }

    /** Returns the limit for people, whether it applies or not. */
    @Override
    public String toString() {
        return isNumber() ? bytes() / 1024 + " KiB" : soft;
    }
}
