/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.bench.lab;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** What a reader needs to know about where the numbers come from. */
public final class Machine {

    private Machine() {}

    public static List<String> facts() throws IOException {
        List<String> facts = new ArrayList<>();
        facts.add("guest: " + line("/proc/sys/kernel/ostype") + " " + line("/proc/sys/kernel/osrelease") + ", "
                + Runtime.getRuntime().availableProcessors() + " CPUs (" + field("/proc/cpuinfo", "model name")
                + "), clock "
                + line("/sys/devices/system/clocksource/clocksource0/current_clocksource"));
        facts.add("device: " + System.getenv("ROCE_LAB_DEVICE") + ", path MTU 4096, Ethernet MTU "
                + line("/sys/class/net/veth0/mtu") + "; TCP through lo, MTU " + line("/sys/class/net/lo/mtu"));
        facts.add("JVM: " + System.getProperty("java.vm.name") + " " + System.getProperty("java.vm.version"));
        return facts;
    }

    private static String line(String file) throws IOException {
        Path path = Path.of(file);
        return Files.isReadable(path) ? Files.readString(path).trim() : "?";
    }

    private static String field(String file, String name) throws IOException {
        return Files.readAllLines(Path.of(file)).stream()
                .filter(line -> line.startsWith(name))
                .map(line -> line.replaceFirst(".*?:\\s*", ""))
                .findFirst()
                .orElse("?");
    }
}
