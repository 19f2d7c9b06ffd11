/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.netty;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.management.BufferPoolMXBean;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.LongSupplier;
import java.util.function.ToLongFunction;

/** What this process holds, looked at now and then: after a collection, and printed. */
final class Footprint {

    /** In MiB. */
    private record Look(long heap, long direct, long registered, long resident) {}

    /** What later looks may have more than earlier ones. */
    private static final double MORE = 1.25;

    private static final long MORE_MIB = 16;

    private final LongSupplier registered;
    private final List<Look> looks = new ArrayList<>();

    /** @param registered bytes that are registered with devices */
    Footprint(LongSupplier registered) {
        this.registered = registered;
    }

    void look() {
        System.gc();
        long direct = ManagementFactory.getPlatformMXBeans(BufferPoolMXBean.class).stream()
                .filter(pool -> pool.getName().equals("direct"))
                .mapToLong(BufferPoolMXBean::getMemoryUsed)
                .sum();
        long heap = ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed();
        Look look = new Look(mib(heap), mib(direct), mib(registered.getAsLong()), resident());
        looks.add(look);
        System.out.println(look + " MiB");
    }

    private static long mib(long bytes) {
        return bytes >> 20;
    }

    private static long resident() {
        try {
            return Files.readAllLines(Path.of("/proc/self/status")).stream()
                    .filter(line -> line.startsWith("VmRSS:"))
                    .mapToLong(line -> Long.parseLong(line.replaceAll("\\D", "")) >> 10)
                    .findFirst()
                    .orElse(0);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** The last quarter of the looks against the second: by then caches are full, and code is compiled. */
    void assertFlat() {
        if (looks.size() < 8) {
            System.out.println(looks.size() + " looks are too few to tell whether it grows");
            return;
        }
        assertFlat("heap", Look::heap);
        assertFlat("direct memory", Look::direct);
        assertFlat("registered memory", Look::registered);
        assertFlat("resident memory", Look::resident);
    }

    private void assertFlat(String what, ToLongFunction<Look> value) {
        int quarter = looks.size() / 4;
        long before = most(looks.subList(quarter, 2 * quarter), value);
        long after = most(looks.subList(looks.size() - quarter, looks.size()), value);
        assertTrue(
                after <= MORE * before + MORE_MIB,
                () -> what + " grew from " + before + " to " + after + " MiB: " + looks);
    }

    private static long most(List<Look> some, ToLongFunction<Look> value) {
        return some.stream().mapToLong(value).max().orElseThrow();
    }
}
