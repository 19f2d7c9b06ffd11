/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.jfr;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.File;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;

public class EventsTest {

    /** What a connection does, in a JVM in which nobody records. */
    static final class Program {
        public static void main(String[] args) {
            InetSocketAddress address = new InetSocketAddress(1);
            if (Events.recordsOpened() || Events.recordsClosed() || Events.stalled() != null) {
                throw new IllegalStateException("nobody records");
            }
            Events.fallback(address, false, "reason", null);
            Events.opened(address, address, false, null, null, 1);
            Events.closed(address, address, null, 0, 0, 1, "closed", null);
            System.out.println("done");
        }
    }

    @Test
    void shouldNotMakeAConnectionWaitForTheFlightRecorderToSetItselfUp() throws Exception {
        String classPath = place(Events.class) + File.pathSeparator + place(EventsTest.class);
        String program = Path.of(System.getProperty("java.home"), "bin", "java").toString();
        Process java = new ProcessBuilder(program, "-Xlog:class+load:stdout", "-cp", classPath, Program.class.getName())
                .redirectErrorStream(true)
                .start();
        List<String> lines =
                new String(java.getInputStream().readAllBytes(), UTF_8).lines().toList();
        assertEquals(0, java.waitFor(), () -> String.join("\n", lines));
        assertTrue(lines.contains("done"));
        assertTrue(
                lines.stream().anyMatch(line -> line.contains("org.jrsocket.jfr.Events ")),
                "the log is what it is taken for");
        assertEquals(
                List.of(),
                lines.stream()
                        .filter(line -> line.contains("jdk.jfr.Event ") || line.contains("jfr.FallbackEvent"))
                        .toList());
    }

    private static Path place(Class<?> type) throws Exception {
        return Path.of(type.getProtectionDomain().getCodeSource().getLocation().toURI());
    }
}
