/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.interop;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * A system for which there is no native library. A developer may have the agent in JAVA_TOOL_OPTIONS there, too. RDMA
 * cannot come later, and no socket of ours has been tried.
 */
class OtherSystemTest {

    @ParameterizedTest
    @ValueSource(strings = {"", "=device.late=on", "=policy=tcp", "=policy=tcp,device.late=on"})
    void shouldLeaveTheJvmItsOwnSockets(String arguments) throws Exception {
        try (JvmProcess java = JvmProcess.running(SelfConnection.class)
                .agent(arguments)
                .property("os.name", "Plan9")
                .option("-Xlog:class+load")
                .arguments(Site.address())
                .start()) {
            JvmProcess.Result result = java.await(Duration.ofMinutes(2)).expectSuccess();
            assertEquals(List.of("jrsocket: TCP only: RDMA verbs need Linux, this is Plan9"), result.err());
            List<String> loaded = result.out();
            assertTrue(loaded.stream().anyMatch(line -> line.contains("org.jrsocket.agent.Agent")), loaded::toString);
            assertEquals(
                    List.of(),
                    loaded.stream()
                            .filter(line -> line.contains("org.jrsocket.net.RSocketImpl"))
                            .toList());
        }
    }
}
