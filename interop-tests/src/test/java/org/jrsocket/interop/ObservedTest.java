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
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

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

    /** As a program on the Netty transport has them: a JVM looks for an agent's class there first. */
    private static JvmProcess.Builder withOurClasses(Class<?> program) {
        return JvmProcess.running(program)
                .classPath(Site.classes(org.jrsocket.nio.RSelectorProvider.class))
                .classPath(Site.classes(org.jrsocket.connect.Settings.class));
    }

    @Test
    void shouldStartAProgramThatHasOurClassesOnItsClassPath() throws Exception {
        Path renamed = Files.copy(Site.agentJar(), folder.resolve("jrsocket-0.1.0.jar"));
        for (Path jar : List.of(renamed, Site.agentJar())) {
            JvmProcess.Result result =
                    run(withOurClasses(SelfConnection.class).option("-javaagent:" + jar + "=log=debug"));
            assertTrue(Integer.parseInt(result.value("port")) > 0);
            if (!Site.hasRdma()) {
                assertTrue(
                        result.err().stream()
                                .anyMatch(line -> line.startsWith("jrsocket: TCP only: ")
                                        && !line.contains("Exception")
                                        && !line.contains("Error")),
                        result::toString);
            }
        }
    }

    /** And says so when it is attached once more. */
    @Test
    void shouldPutItselfOnTheBootClassPathWhereTheJarHasAnotherName() throws Exception {
        Path jar = Files.copy(Site.agentJar(), folder.resolve("jrsocket-0.1.0.jar"));
        for (boolean attached : new boolean[] {true, false}) {
            JvmProcess.Builder program = JvmProcess.running(SelfAttachment.class)
                    .option("-XX:+EnableDynamicAgentLoading")
                    .property("jdk.attach.allowAttachSelf", true)
                    .arguments(jar, "log=debug", Site.address());
            if (!attached) {
                program.option("-javaagent:" + jar);
            }
            try (JvmProcess java = program.start()) {
                JvmProcess.Result result = java.await(LIMIT).expectSuccess();
                assertEquals("boot", result.value("agent"), result::toString);
                assertEquals(
                        attached ? 0 : 1,
                        result.err().stream()
                                .filter(line -> line.contains("the agent was started already"))
                                .count(),
                        result::toString);
            }
        }
    }

    /** The name decides: only a jar of another one leaves the program its own classes, with which it works then. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void shouldSayThatItBreaksAProgramWhichUsesOurClasses(boolean renamed) throws Exception {
        Path jar = renamed ? Files.copy(Site.agentJar(), folder.resolve("jrsocket-0.1.0.jar")) : Site.agentJar();
        JvmProcess.Builder program = withOurClasses(SelfAttachment.class)
                .classPath(Site.classes(com.ibm.disni.verbs.RdmaProvider.class))
                .classPath(Site.classes(org.slf4j.LoggerFactory.class))
                .option("-XX:+EnableDynamicAgentLoading")
                .property("jdk.attach.allowAttachSelf", true)
                .arguments(jar, "log=debug", Site.address(), "org.jrsocket.connect.TransportContext");
        try (JvmProcess java = program.start()) {
            JvmProcess.Result result = java.await(LIMIT).expectSuccess();
            assertTrue(Integer.parseInt(result.value("port")) > 0);
            assertEquals(
                    renamed ? 0 : 1,
                    result.err().stream()
                            .filter(line -> line.startsWith("jrsocket: the agent was not attached: this program "
                                    + "already uses jrsocket from its own class path"))
                            .count(),
                    result::toString);
            assertTrue(result.err().stream().noneMatch(line -> line.contains("Exception")), result::toString);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"doctor", "ping 127.0.0.1:1", "ctl 1"})
    void shouldHaveCommandsThatNeedNoModuleButTheBase(String line) throws Exception {
        List<String> words = new ArrayList<>(List.of("-jar", Site.agentJar().toString()));
        words.addAll(List.of(line.split(" ")));
        try (JvmProcess java = JvmProcess.withArguments(words.toArray(new String[0]))
                .option("--limit-modules=java.base")
                .start()) {
            JvmProcess.Result result = java.await(LIMIT);
            assertTrue(
                    Stream.concat(result.out().stream(), result.err().stream())
                            .noneMatch(each -> each.contains("NoClassDefFoundError") || each.contains("\tat ")),
                    result::toString);
            assertTrue(!result.out().isEmpty() || !result.err().isEmpty());
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
