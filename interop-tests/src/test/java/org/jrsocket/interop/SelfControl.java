/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.interop;

import java.nio.file.Path;

/** A program that asks {@code ctl} for its own status, and ends as that ends. The argument is the jar. */
public final class SelfControl {

    private SelfControl() {}

    public static void main(String[] args) throws Exception {
        Process ctl = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-XX:+UseSerialGC",
                        "-XX:TieredStopAtLevel=1",
                        "-jar",
                        args[0],
                        "ctl",
                        Long.toString(ProcessHandle.current().pid()),
                        "status")
                .inheritIO()
                .start();
        System.exit(ctl.waitFor());
    }
}
