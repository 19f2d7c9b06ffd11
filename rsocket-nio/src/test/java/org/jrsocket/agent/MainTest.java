/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.agent;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class MainTest {

    private final ByteArrayOutputStream out = new ByteArrayOutputStream();
    private final ByteArrayOutputStream err = new ByteArrayOutputStream();

    private int run(String... args) {
        return Main.run(
                args,
                new PrintStream(out, true, StandardCharsets.UTF_8),
                new PrintStream(err, true, StandardCharsets.UTF_8));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "cure",
                "doctor one two",
                "doctor host",
                "doctor host:0",
                "version 1",
                "ping",
                "ping host -c 0",
                "ping host -i 0",
                "ping host -s 17m",
                "ping host -f xml",
                "perf",
                "perf host --tests all",
                "perf host -t never",
                "perf server -p port"
            })
    void shouldRefuseWhatItDoesNotUnderstand(String line) {
        assertEquals(2, run(line.isEmpty() ? new String[0] : line.split(" ")));
        assertEquals("", out.toString(StandardCharsets.UTF_8));
        assertTrue(err.toString(StandardCharsets.UTF_8).contains("java -jar rsocket.jar"), err::toString);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "--help",
                "help",
                "-h",
                "doctor --help",
                "ping --help",
                "perf --help",
                "perf server --help",
                "version --help"
            })
    void shouldExplainItself(String line) {
        assertEquals(0, run(line.split(" ")));
        assertEquals("", err.toString(StandardCharsets.UTF_8));
        String text = out.toString(StandardCharsets.UTF_8);
        assertTrue(text.startsWith("Usage: java -jar rsocket.jar"), text);
        assertEquals(
                line.startsWith("doctor") || line.equals("ping --help") || line.equals("perf --help"),
                text.contains("Exit status:"),
                text);
    }

    @ParameterizedTest
    @ValueSource(strings = {"version", "--version"})
    void shouldSayItsVersion(String line) {
        assertEquals(0, run(line));
        assertEquals(
                "jrsocket " + Build.VERSION,
                out.toString(StandardCharsets.UTF_8).strip());
        assertTrue(Build.VERSION.matches("[0-9].*"), Build.VERSION);
    }

    @Test
    void shouldRefuseSettingsThatCannotBeUsed() {
        System.setProperty("org.jrsocket.policy", "fast");
        try {
            assertEquals(2, run("doctor"));
        } finally {
            System.clearProperty("org.jrsocket.policy");
        }
        assertEquals(
                "jrsocket: -Dorg.jrsocket.policy=fast: not one of auto, rdma, tcp",
                err.toString(StandardCharsets.UTF_8).strip());
    }
}
