/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.interop;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The drop-in jar attached to a JVM that runs: at most one line of it, and the program goes on. */
@Tag("lab")
class AgentAttachLabTest {

    private static final Duration LIMIT = Duration.ofMinutes(2);

    /** The flag is for JDK 21 and later, which warn of it else. */
    private static List<String> attach(String arguments) throws Exception {
        try (JvmProcess java = JvmProcess.running(SelfAttachment.class)
                .option("-XX:+EnableDynamicAgentLoading")
                .property("jdk.attach.allowAttachSelf", true)
                .arguments(Site.agentJar(), arguments, Site.address())
                .start()) {
            JvmProcess.Result result = java.await(LIMIT).expectSuccess();
            assertEquals(2, result.out().size(), result::toString); // the program's own
            // The JVM says that it shares fewer classes from now on.
            return result.err().stream()
                    .filter(line -> !line.startsWith("OpenJDK 64-Bit Server VM warning: Sharing is only supported"))
                    .toList();
        }
    }

    @Test
    void shouldSayWhyThereIsOnlyTcpUnlessThereIsRdma() throws Exception {
        List<String> lines = attach("connect.timeout=20s"); // a slow guest is not to use TCP
        assertEquals(Site.hasRdma() ? 0 : 1, lines.size(), lines::toString);
        assertTrue(lines.stream().allMatch(line -> line.startsWith("jrsocket: TCP only: ")), lines::toString);
    }

    @Test
    void shouldNotEndAProgramForAnArgumentThatCannotBeUsed() throws Exception {
        assertEquals(
                List.of("jrsocket: the agent was not attached: agent argument policy=fast: not one of auto, rdma, tcp"),
                attach("policy=fast"));
    }
}
