/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.interop.frameworks;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import org.jrsocket.interop.JvmProcess;
import org.jrsocket.interop.Site;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Our own transport for Netty, as its example uses it: beside the agent, and without it. */
@Tag("lab")
@Tag("frameworks")
class NettyTransportLabTest {

    private static final int MEBIBYTES = 4;

    private static final Path EXAMPLE = Site.classes(NettyTransportLabTest.class)
            .resolve("../../../rsocket-netty/example/target")
            .normalize();

    private static JvmProcess.Builder example(Object... arguments) {
        Path jar = EXAMPLE.resolve("example.jar");
        assertTrue(Files.exists(jar), () -> "no " + jar + "; mvn package builds it");
        return JvmProcess.withArguments("-jar", jar.toString())
                .property("org.jrsocket.connect.timeout", "60s") // see JvmProcess.Builder.agent
                .arguments(arguments);
    }

    @Test
    void shouldCarryTheExampleBetweenAJvmWithTheAgentAndOneWithout() throws Exception {
        try (JvmProcess server = example("server", 0).agent().start()) {
            String port = Programs.port(server, "listening");
            try (Carried carried = Carried.fromNow()) {
                JvmProcess.Result client = Programs.run(example("client", Site.address(), port, MEBIBYTES), server);
                long bytes = (long) MEBIBYTES << 20;
                carried.assertBytes(2 * bytes);
                String expected = bytes + " of " + bytes + " bytes came back, unchanged over ";
                assertTrue(client.toString().contains(expected + (Site.hasRdma() ? "RDMA" : "TCP")), client::toString);
            }
        }
    }
}
