/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.net;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.Map;
import java.util.Properties;
import org.jrsocket.connect.Rules;
import org.jrsocket.connect.Settings;
import org.jrsocket.connect.TransportContext;
import org.jrsocket.connect.TransportHolder;
import org.jrsocket.stream.RdmaTransport;
import org.jrsocket.verbs.rdmacore.RdmaCoreProvider;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Attempts that are given up about when the answer comes, with the connection manager of a real kernel; runs in the
 * lab.
 */
@Tag("device")
@Tag("lab")
class RdmaCoreHeadStartTest {

    private static RdmaTransport transport;

    @BeforeAll
    static void findDevice() throws IOException {
        assumeTrue(System.getenv("ROCE_LAB_ADDR") != null, "no RoCEv2 lab around this process (scripts/roce-lab)");
        transport = RdmaTransport.over(RdmaCoreProvider.open());
    }

    @AfterAll
    static void close() {
        if (transport != null) {
            transport.close();
        }
    }

    private static TransportContext context(String settings) throws Exception {
        Settings read = Settings.read(settings, new Properties(), Map.of());
        return new TransportContext(read, Rules.NONE, TransportHolder.of(transport));
    }

    @Test
    void shouldAcceptOneConnectionForEachThatIsMade() throws Exception {
        int rdma = 0;
        int rounds = 150;
        try (ServerSocket server = SocketKind.over(context(null), true).serverSocket()) {
            server.bind(new InetSocketAddress(System.getenv("ROCE_LAB_ADDR"), 0));
            for (int i = 0; i < rounds; i++) {
                String headStart = i == 0 ? "60s" : 1 + i % 50 + "ms";
                TransportContext context = context("connect.timeout=" + headStart + ",memory.unanswered=0");
                try (Socket client = SocketKind.over(context, true).socket()) {
                    client.connect(server.getLocalSocketAddress());
                    boolean overRdma = ((SocketKind.OurSocket) client).isRdma();
                    rdma += overRdma ? 1 : 0;
                    try (Socket accepted = server.accept()) {
                        boolean acceptedRdma = ((SocketKind.OurSocket) accepted).isRdma();
                        assertEquals(overRdma, acceptedRdma, "a connection that nobody made");
                        client.getOutputStream().write(i);
                        assertEquals(i & 255, accepted.getInputStream().read());
                    }
                }
            }
        }
        System.out.println(rdma + " of " + rounds + " connections came in time");
        assertTrue(rdma > 0, "none, not even with patience");
    }
}
