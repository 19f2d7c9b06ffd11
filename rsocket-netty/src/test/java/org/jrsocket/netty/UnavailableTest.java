/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.netty;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What a program hears where the transport, or RDMA, cannot be used; each in a JVM of its own, without the agent. */
@Tag("once")
@Timeout(120)
class UnavailableTest {

    private static final String OPENS = "--add-opens=java.base/sun.nio.ch=ALL-UNNAMED";

    /** Asks in the way that comes first to everybody's mind, and then once more. */
    static final class Asking {
        private Asking() {}

        public static void main(String[] arguments) {
            if (!Rdma.isAvailable()) {
                System.out.println("cause: " + Rdma.unavailabilityCause().getMessage());
            }
            for (int i = 0; i < 2; i++) {
                try {
                    RdmaIoHandler.newFactory();
                    System.out.println("made " + new RdmaSocketChannel());
                } catch (IllegalStateException e) {
                    System.out.println("failed: " + e.getMessage());
                }
            }
        }
    }

    private static List<String> run(String... options) throws Exception {
        List<String> command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-cp",
                System.getProperty("java.class.path")));
        command.addAll(List.of(options));
        command.add(Asking.class.getName());
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertEquals(0, process.waitFor(), output);
        return output.lines().toList();
    }

    private static long count(List<String> lines, String beginning, String part) {
        return lines.stream()
                .filter(line -> line.startsWith(beginning) && line.contains(part))
                .count();
    }

    @Test
    void shouldSayEachTimeThatTheJdkHasToBeOpened() throws Exception {
        List<String> lines = run();
        assertEquals(1, count(lines, "cause: ", "--add-opens"), lines::toString);
        assertEquals(2, count(lines, "failed: ", "--add-opens"), lines::toString);
    }

    @Test
    void shouldSayEachTimeWhichSettingIsWrong() throws Exception {
        List<String> lines = run(OPENS, "-Dorg.jrsocket.policy=yes");
        assertEquals(1, count(lines, "cause: ", "policy"), lines::toString);
        assertEquals(2, count(lines, "failed: ", "policy"), lines::toString);
    }

    /** Where there is RDMA the first line is missing, and so must be the second. */
    @Test
    void shouldLogOnceThatThereIsNoRdma() throws Exception {
        List<String> lines = run(OPENS);
        assertEquals(2, count(lines, "made", ""), lines::toString);
        long causes = count(lines, "cause: ", "");
        assertEquals(
                causes,
                lines.stream()
                        .filter(line -> line.contains("WARN") && line.contains("TCP only: "))
                        .count(),
                lines::toString);
    }

    @Test
    void shouldLogNothingOfRdmaThatIsNotWanted() throws Exception {
        List<String> lines = run(OPENS, "-Dorg.jrsocket.policy=tcp");
        assertEquals(2, count(lines, "made", ""), lines::toString);
        assertTrue(lines.stream().noneMatch(line -> line.contains("TCP only")), lines::toString);
    }
}
