/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.interop;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledForJreRange;
import org.junit.jupiter.api.condition.JRE;
import org.junit.jupiter.api.io.TempDir;

/** A program under a security manager needs no right with the agent that it does not need without. */
@EnabledForJreRange(max = JRE.JAVA_17) // later ones warn of security managers, or have none
class SecuredProgramTest {

    @TempDir
    private Path folder;

    @Test
    void shouldNeedNoMoreRightsThanWithoutTheAgent() throws Exception {
        Path policy = Files.writeString(folder.resolve("policy"), """
                grant {
                    permission java.net.SocketPermission "*", "connect,accept,listen,resolve";
                    permission java.util.PropertyPermission "*", "read";
                    permission javax.management.MBeanServerPermission "createMBeanServer";
                };
                """);
        JvmProcess.Result reference = run(policy, JvmProcess.running(SecuredProgram.class));
        JvmProcess.Result ours =
                run(policy, JvmProcess.running(SecuredProgram.class).agent("=policy=tcp"));
        assertEquals(
                List.of(
                        "sockets: 1",
                        "channels: 2",
                        "asynchronous channels: 3",
                        "HTTP server: 204",
                        "management: true"),
                reference.out());
        assertEquals(reference.out(), ours.out());
        assertEquals(reference.err(), ours.err());
    }

    private static JvmProcess.Result run(Path policy, JvmProcess.Builder program) throws Exception {
        try (JvmProcess java = program.option("-Djava.security.manager")
                .option("-Djava.security.policy==" + policy)
                .start()) {
            return java.await(Duration.ofMinutes(2)).expectSuccess();
        }
    }
}
