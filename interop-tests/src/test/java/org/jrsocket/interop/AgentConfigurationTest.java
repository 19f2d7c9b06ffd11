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
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A configuration that cannot be used stops a JVM before its program starts, with one line that says where and why. */
class AgentConfigurationTest {

    private static final Duration LIMIT = Duration.ofMinutes(2);

    @TempDir
    private Path folder;

    private static void assertRefused(String line, JvmProcess.Builder builder) throws Exception {
        try (JvmProcess java = builder.start()) {
            JvmProcess.Result result = java.await(LIMIT);
            assertEquals(1, result.status(), result::toString);
            assertEquals(List.of(), result.out());
            assertEquals(List.of("jrsocket: " + line), result.err());
        }
    }

    /** It would print its port. */
    private static JvmProcess.Builder program(String arguments) {
        return JvmProcess.running(SelfConnection.class)
                .option("-javaagent:" + Site.agentJar() + arguments)
                .arguments(Site.address());
    }

    @Test
    void shouldNameTheAgentArgument() throws Exception {
        assertRefused("agent argument policy=fast: not one of auto, rdma, tcp", program("=policy=fast"));
    }

    @Test
    void shouldNameTheProperty() throws Exception {
        assertRefused(
                "-Dorg.jrsocket.buffer.send=1k: not within 4k to 256m",
                program("").property("org.jrsocket.buffer.send", "1k"));
    }

    @Test
    void shouldNameTheLineOfTheRules() throws Exception {
        Path rules = Files.write(folder.resolve("sdp.conf"), List.of("# ours", "", "connect 10.0.0.1 http"));
        assertRefused(
                rules + " line 3: port is not a number from 0 to 65535: connect 10.0.0.1 http",
                program("=rules=" + rules));
    }

    @Test
    void shouldSayThatTheRulesAreNotThere() throws Exception {
        Path rules = folder.resolve("none.conf");
        try (JvmProcess java = program("=rules=" + rules).start()) {
            JvmProcess.Result result = java.await(LIMIT);
            assertEquals(1, result.status(), result::toString);
            assertEquals(1, result.err().size(), result::toString);
            assertEquals(
                    true,
                    result.err().get(0).startsWith("jrsocket: ")
                            && result.err().get(0).contains(rules.toString()),
                    result::toString);
        }
    }

    @Test
    void shouldSayThatAJarOfTheUsualNameBesideItIsUsedInstead() throws Exception {
        Path old = Files.copy(Site.agentJar(), folder.resolve("rsocket.jar"));
        Path named = Files.copy(Site.agentJar(), folder.resolve("jrsocket-2.jar"));
        String line = "jrsocket: the running agent is " + old + ", not " + named
                + ": a JVM prefers the file of that name in an agent's folder; keep one of them elsewhere";
        assertEquals(1, timesSaid(line, named));
        assertEquals(0, timesSaid(line, old));

        Files.delete(old);
        assertEquals(0, timesSaid(line, named));
        Files.createSymbolicLink(old, named);
        assertEquals(0, timesSaid(line, named));
    }

    private static long timesSaid(String line, Path agent) throws Exception {
        try (JvmProcess java = JvmProcess.running(SelfConnection.class)
                .option("-javaagent:" + agent)
                .arguments(Site.address())
                .start()) {
            JvmProcess.Result result = java.await(LIMIT);
            assertEquals(0, result.status(), result::toString);
            return result.err().stream().filter(line::equals).count();
        }
    }

    /** As where JAVA_TOOL_OPTIONS names it and the command line too. */
    @Test
    void shouldStartOnceThoughNamedTwice() throws Exception {
        try (JvmProcess java =
                program("").option("-javaagent:" + Site.agentJar()).start()) {
            JvmProcess.Result result = java.await(LIMIT);
            assertEquals(0, result.status(), result::toString);
            String last = result.err().get(result.err().size() - 1);
            assertEquals(
                    "jrsocket: the agent was started already, by another -javaagent or attached; it stays as it is",
                    last,
                    result::toString);
            // and, where there is no device, that it is TCP only
            assertTrue(result.err().size() <= 2, result::toString);
        }
    }

    @Test
    void shouldRefuseASocketImplThatIsNotOurs() throws Exception {
        assertRefused(
                "-Djava.net.SocketImpl: \"com.example.Impl\" is unknown;"
                        + " the only value is org.jrsocket.net.RSocketImpl",
                program("").property("java.net.SocketImpl", "com.example.Impl"));
    }
}
