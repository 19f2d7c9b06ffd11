/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.interop;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/** JVMs whose sockets are the agent's also on a host without RDMA, and what their bean has to say. */
final class Observed {

    private Observed() {}

    /** Insists on RDMA for an address that it does not use. A slow machine is given its time. */
    static JvmProcess.Builder running(Class<?> program, Path folder) throws IOException {
        Path rules = Files.write(
                folder.resolve("rules"), List.of("connect 192.0.2.1 * rdma", "connect * * auto", "bind * * auto"));
        return JvmProcess.running(program)
                .agent()
                .property("org.jrsocket.rules", rules)
                .property("org.jrsocket.connect.timeout", "60s");
    }

    /** @param builder of MBean servers, that is named after all was done */
    static void assertRead(String builder, JvmProcess.Result result) {
        assertEquals("false", result.value("foreign"));
        assertTrue(result.value("Version").matches("[0-9].*"), result::toString);
        assertEquals(builder, result.value("builder"));
        if (Site.hasRdma()) {
            assertEquals("1", result.value("RdmaConnected"));
            assertEquals("1", result.value("RdmaAccepted"));
            assertEquals(Integer.toString(SelfConnection.BYTES), result.value("BytesWritten"));
            assertEquals("[]", result.value("TcpChosen"));
            assertTrue(result.value("Verbs").startsWith("rdma-core"), result::toString);
        } else {
            assertEquals("0", result.value("RdmaConnected"));
            assertEquals("[UNAVAILABLE]", result.value("TcpChosen"));
            assertTrue(result.value("Verbs").startsWith("none: "), result::toString);
        }
    }
}
