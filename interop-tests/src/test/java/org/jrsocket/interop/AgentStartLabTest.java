/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.interop;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** What an operator sees of the agent in a JVM that opens no socket. */
@Tag("lab")
class AgentStartLabTest {

    private static final Duration LIMIT = Duration.ofMinutes(2);

    @Test
    void shouldPrintAtMostOneLineOfItsOwn() throws Exception {
        JvmProcess.Result plain = version(false);
        JvmProcess.Result agent = version(true);
        assertEquals(plain.out(), agent.out());
        List<String> more = new ArrayList<>(agent.err());
        plain.err().forEach(more::remove);
        assertEquals(agent.err().size() - plain.err().size(), more.size(), agent::toString);
        assertTrue(more.isEmpty() || more.size() == 1 && more.get(0).startsWith("jrsocket: "), more::toString);
    }

    @Test
    void shouldSayWhyThereIsOnlyTcpUnlessThereIsRdma() throws Exception {
        long reasons = version(true).err().stream()
                .filter(line -> line.startsWith("jrsocket: TCP only: "))
                .count();
        assertEquals(Site.hasRdma() ? 0 : 1, reasons);
    }

    private static JvmProcess.Result version(boolean agent) throws Exception {
        try (JvmProcess java =
                JvmProcess.withArguments("-version").agentIf(agent).start()) {
            return java.await(LIMIT).expectSuccess();
        }
    }
}
