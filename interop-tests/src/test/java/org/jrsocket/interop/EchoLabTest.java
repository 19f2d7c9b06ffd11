/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.interop;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Two processes, one connection, both directions full at once: every byte must come back, over what it should. */
@Tag("lab")
@Tag("once")
class EchoLabTest {

    private static final long DEFAULT = 24 << 20;

    /** Each way. {@code -Djrsocket.echo.bytes=} changes it. */
    private static final long BYTES = Long.getLong("jrsocket.echo.bytes", DEFAULT);

    private static final Duration START = Duration.ofMinutes(2);
    private static final Duration RUN = Duration.ofMinutes(20);

    @Test
    void shouldEchoOnPlainSockets() throws Exception {
        long bytes = Math.min(BYTES, DEFAULT);
        Traffic before = Traffic.now();
        echo(false, bytes);
        Traffic.now().since(before).assertIpCarried(2 * bytes);
    }

    @Test
    void shouldEchoUnderTheAgentOverTheBestTransportThatThereIs() throws Exception {
        Traffic before = Traffic.now();
        echo(true, BYTES);
        Traffic traffic = Traffic.now().since(before);
        if (Site.hasRdma()) {
            traffic.assertRdmaCarried(2 * BYTES);
        } else {
            traffic.assertIpCarried(2 * BYTES);
        }
    }

    private static void echo(boolean agent, long bytes) throws Exception {
        long seed = System.nanoTime();
        try (JvmProcess server = JvmProcess.running(EchoServer.class)
                .agentIf(agent)
                .arguments(Site.address(), seed)
                .start()) {
            String port =
                    server.awaitLine(Pattern.compile("listening=(\\d+)"), START).group(1);
            try (JvmProcess client = JvmProcess.running(EchoClient.class)
                    .agentIf(agent)
                    .arguments(Site.address(), port, bytes, seed)
                    .start()) {
                JvmProcess.Result sender = client.await(RUN).expectSuccess();
                JvmProcess.Result echoer = server.await(START).expectSuccess();
                System.out.printf(
                        "%d bytes each way, %s, in %s ms, seed %d%n",
                        bytes, agent ? "agent" : "no agent", sender.value("ms"), seed);
                assertTrue(sender.value("received").startsWith(bytes + " bytes"), sender::toString);
                assertEquals(sender.value("sent"), echoer.value("echoed"));
                if (agent && !Site.hasRdma()) {
                    assertSaysWhyTcp(sender);
                    assertSaysWhyTcp(echoer);
                }
            }
        }
    }

    private static void assertSaysWhyTcp(JvmProcess.Result result) {
        assertEquals(
                1,
                result.err().stream()
                        .filter(line -> line.startsWith("jrsocket: TCP only: "))
                        .count(),
                result::toString);
    }
}
