/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.nio;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.File;
import java.io.FileInputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.jrsocket.connect.TransportContext;
import org.jrsocket.verbs.loopback.LoopbackProvider;
import org.junit.jupiter.api.Test;
import org.junit.platform.commons.JUnitException;

/** A JVM that may have few descriptors, and a program in it that takes all of them. */
public final class FewDescriptors {

    private FewDescriptors() {}

    /**
     * Runs a program to its end, and fails if that is another than it should be.
     *
     * @param folder for what it says
     * @param more classes of what it needs besides ours and JUnit
     */
    public static void run(Class<?> program, Path folder, Class<?>... more) throws Exception {
        List<Class<?>> needed = new ArrayList<>(List.of(
                program,
                FewDescriptors.class,
                RSelectorProvider.class,
                TransportContext.class,
                LoopbackProvider.class,
                com.ibm.disni.verbs.RdmaProvider.class,
                org.slf4j.LoggerFactory.class,
                Test.class,
                org.opentest4j.AssertionFailedError.class,
                JUnitException.class));
        needed.addAll(List.of(more));
        Set<String> places = new LinkedHashSet<>();
        for (Class<?> one : needed) {
            places.add(Path.of(one.getProtectionDomain()
                            .getCodeSource()
                            .getLocation()
                            .toURI())
                    .toString());
        }
        Path output = folder.resolve("output");
        Process process = new ProcessBuilder(
                        "sh",
                        "-c",
                        "ulimit -n 200; exec \"$@\"",
                        "sh",
                        System.getProperty("java.home") + "/bin/java",
                        "-cp",
                        String.join(File.pathSeparator, places),
                        "--add-opens",
                        "java.base/java.net=ALL-UNNAMED",
                        "--add-opens",
                        "java.base/sun.nio.ch=ALL-UNNAMED",
                        program.getName())
                .redirectErrorStream(true)
                .redirectOutput(output.toFile())
                .start();
        try {
            boolean ended = process.waitFor(90, TimeUnit.SECONDS);
            String said = Files.readString(output);
            assertTrue(ended, () -> "does not end: " + said);
            assertEquals(0, process.exitValue(), said);
        } finally {
            process.destroyForcibly();
        }
    }

    /** In that JVM: all that are left. */
    public static List<FileInputStream> hogAll() {
        List<FileInputStream> hogs = new ArrayList<>();
        try {
            while (true) {
                hogs.add(new FileInputStream("/dev/null"));
            }
        } catch (IOException e) {
            return hogs;
        }
    }
}
