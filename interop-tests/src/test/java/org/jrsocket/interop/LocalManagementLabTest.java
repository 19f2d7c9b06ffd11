/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.interop;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The listener that a JVM has for who attaches to it: jcmd, jconsole, {@code ctl}. */
@Tag("lab")
@Tag("commands")
@Timeout(300)
class LocalManagementLabTest {

    /** It admits clients by their addresses alone, and those of RDMA clients prove nothing. */
    @Test
    void shouldUseTcpAloneThoughThePolicyWantsRdma() throws Exception {
        try (JvmProcess java = JvmProcess.running(SelfControl.class)
                .agent()
                .property("org.jrsocket.policy", "rdma")
                .arguments(Site.agentJar())
                .start()) {
            JvmProcess.Result result = java.await(Duration.ofMinutes(4)).expectSuccess();
            assertTrue(result.out().stream().anyMatch(line -> line.contains("policy=rdma")), result::toString);
        }
    }
}
