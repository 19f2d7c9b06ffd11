/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.netty;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.charset.StandardCharsets;

/** The RoCEv2 lab around this process, if there is one. */
final class DeviceLab {

    private DeviceLab() {}

    static String assumed() {
        String address = System.getenv("ROCE_LAB_ADDR");
        assumeTrue(address != null, "no RoCEv2 lab around this process (scripts/roce-lab)");
        return address;
    }

    /** Runs the lab's counter of payload bytes that the device puts into memory. */
    static String bytes(String... arguments) throws IOException, InterruptedException {
        String[] command = new String[arguments.length + 1];
        command[0] = "lab-bytes";
        System.arraycopy(arguments, 0, command, 1, arguments.length);
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertEquals(0, process.waitFor(), output);
        return output.strip();
    }
}
