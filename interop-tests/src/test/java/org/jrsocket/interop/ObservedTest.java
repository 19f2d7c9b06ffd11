/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.interop;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * How the agent gets its bean into JVMs that use JMX in one way or another, and that it does without JMX and Flight
 * Recorder.
 */
class ObservedTest {

    private static final Duration LIMIT = Duration.ofMinutes(2);

    @TempDir
    private Path folder;

    private JvmProcess.Result run(JvmProcess.Builder builder) throws Exception {
        try (JvmProcess java = builder.arguments(Site.address()).start()) {
            return java.await(LIMIT).expectSuccess();
        }
    }

    @Test
    void shouldBeInThePlatformMBeanServerAlone() throws Exception {
        Observed.assertRead("null", run(Observed.running(JmxReader.class, folder)));
    }

    @Test
    void shouldBeInAnMBeanServerThatTheJvmStartsItself() throws Exception {
        Observed.assertRead(
                "null", run(Observed.running(JmxReader.class, folder).option("-Dcom.sun.management.jmxremote")));
    }

    @Test
    void shouldLeaveAnApplicationItsOwnBuilderOfMBeanServers() throws Exception {
        String own = OwnBuilder.class.getName();
        JvmProcess.Result result =
                run(Observed.running(JmxReader.class, folder).property("javax.management.builder.initial", own));
        Observed.assertRead(own, result);
        assertEquals("2", result.value("own"));
    }

    @Test
    void shouldBeInAnMBeanServerThatAnIsolatedThreadStarts() throws Exception {
        JvmProcess.Result result = run(Observed.running(IsolatedJmx.class, folder));
        assertTrue(result.value("Version").matches("[0-9].*"), result::toString);
        assertEquals("null", result.value("builder"));
    }

    /** The manifest names a file for the boot class path that is not there: the jar puts itself there. */
    @Test
    void shouldBeInAnMBeanServerThatAnIsolatedThreadStartsWhereTheJarHasAnotherName() throws Exception {
        Path jar = Files.copy(Site.agentJar(), folder.resolve("jrsocket 0.1.0.jar"));
        JvmProcess.Result result =
                run(JvmProcess.running(IsolatedJmx.class).option("-javaagent:" + jar + "=log=debug"));
        assertTrue(result.value("Version").matches("[0-9].*"), result::toString);
        assertEquals("null", result.value("builder"));
    }

    @Test
    void shouldBeControlledFromAnotherProcessWhereTheJarHasAnotherName() throws Exception {
        Path jar = Files.copy(Site.agentJar(), folder.resolve("jrsocket-0.1.0.jar"));
        try (JvmProcess server = JvmProcess.running(EchoServer.class)
                .option("-javaagent:" + jar)
                .arguments(Site.address(), 1)
                .start()) {
            server.awaitLine(Pattern.compile("^listening="), LIMIT);
            assertTrue(control(server).contains("policy override: none"));
            assertEquals(List.of("policy override: tcp"), control(server, "policy", "tcp"));
        }
    }

    private static List<String> control(JvmProcess java, String... words) throws Exception {
        String[] arguments = new String[words.length + 4];
        arguments[0] = "-jar";
        arguments[1] = Site.agentJar().toString();
        arguments[2] = "ctl";
        arguments[3] = Long.toString(java.pid());
        System.arraycopy(words, 0, arguments, 4, words.length);
        try (JvmProcess control = JvmProcess.withArguments(arguments).start()) {
            return control.await(LIMIT).expectSuccess().out();
        }
    }

    @Test
    void shouldBeControlledFromAnotherProcess() throws Exception {
        try (JvmProcess server = Observed.running(EchoServer.class, folder)
                .arguments(Site.address(), 1)
                .start()) {
            server.awaitLine(Pattern.compile("^listening="), LIMIT);
            assertTrue(control(server).contains("policy override: none"));
            assertEquals(List.of("policy override: tcp"), control(server, "policy", "tcp"));
            assertEquals(List.of("RDMA connections left: 0"), control(server, "drain"));
            assertEquals(List.of("3 rules of " + folder.resolve("rules")), control(server, "reload"));
        }
    }

    @Test
    void shouldNeedNeitherOfTheModules() throws Exception {
        JvmProcess.Result result =
                run(Observed.running(SelfConnection.class, folder).option("--limit-modules=java.base,java.instrument"));
        assertTrue(Integer.parseInt(result.value("port")) > 0);
        assertEquals(
                List.of(),
                result.err().stream()
                        .filter(line -> line.contains("Exception") || line.contains("Error"))
                        .toList());
    }
}
