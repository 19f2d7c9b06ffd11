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
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What modules the program has, and which of the JDK. The JDK looks for names it is told in the program's first. */
class ModulePathTest {

    @TempDir
    private Path folder;

    /** As in an image that jlink has made. */
    @Test
    void shouldWorkWithTheModulesThatAnAgentNeedsAlone() throws Exception {
        try (JvmProcess java = JvmProcess.running(OpenedChannels.class)
                .agent("=policy=tcp")
                .option("--limit-modules=java.base,java.instrument")
                .start()) {
            JvmProcess.Result result = java.await(Duration.ofMinutes(2)).expectSuccess();
            assertEquals(List.of(), result.out());
        }
    }

    @Test
    void shouldLeaveChannelsToTcpWhereTheProgramHasOurModule() throws Exception {
        Files.copy(Site.agentJar(), folder.resolve("rsocket-of-the-program.jar"));
        try (JvmProcess java = JvmProcess.running(OpenedChannels.class)
                .agent("=policy=tcp")
                .option("--module-path=" + folder)
                .option("--add-modules=org.jrsocket.agent")
                .start()) {
            JvmProcess.Result result = java.await(Duration.ofMinutes(2)).expectSuccess();
            assertEquals(List.of("beans=true"), result.out());
            String why = "the program has jrsocket on its own module path (org.jrsocket.agent), "
                    + "where the JVM would look first: put it on the class path";
            assertEquals(
                    List.of("no JMX bean org.jrsocket:type=Transport: " + why, "TCP only for NIO channels: " + why),
                    result.err().stream()
                            .filter(line -> !line.contains("warning: Sharing is only supported"))
                            .map(line -> line.replaceFirst("^(jrsocket: |.* WARN [a-zA-Z.]* - )", ""))
                            .toList());
        }
    }

    /** Its connections would use TCP where they must use RDMA. */
    @ParameterizedTest
    @ValueSource(strings = {"connect 192.0.2.0/24 * rdma\nconnect * * tcp\n", "bind * * rdma\n"})
    void shouldNotStartAProgramWhoseChannelsCannotBeOursAsRulesWant(String text) throws Exception {
        Path rules = Files.writeString(folder.resolve("rules.conf"), text);
        Files.copy(Site.agentJar(), folder.resolve("rsocket-of-the-program.jar"));
        try (JvmProcess java = JvmProcess.running(OpenedChannels.class)
                .agent("=log=error,rules=" + rules)
                .option("--module-path=" + folder)
                .option("--add-modules=org.jrsocket.agent")
                .start()) {
            JvmProcess.Result result = java.await(Duration.ofMinutes(2));
            assertEquals(1, result.status(), result::toString);
            assertEquals(List.of(), result.out());
            List<String> said = result.err().stream()
                    .filter(line -> !line.contains("warning: Sharing is only supported"))
                    .toList();
            assertEquals(1, said.size(), said::toString);
            assertTrue(
                    said.get(0).startsWith("jrsocket: TCP only for NIO channels: the program has jrsocket on its own")
                            && said.get(0).endsWith("policy or rules require RDMA, so this JVM does not start"),
                    said::toString);
        }
    }
}
