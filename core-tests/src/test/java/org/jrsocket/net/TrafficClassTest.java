/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.net;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import org.jrsocket.connect.Rules;
import org.jrsocket.connect.Settings;
import org.jrsocket.connect.TransportContext;
import org.jrsocket.connect.TransportHolder;
import org.jrsocket.stream.RdmaTransport;
import org.jrsocket.verbs.loopback.LoopbackId;
import org.jrsocket.verbs.loopback.LoopbackProvider;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** IP_TOS on the way to the device, which marks packets with it. */
@Timeout(60)
class TrafficClassTest {

    @Test
    void shouldConnectWithTheTrafficClassOfTheSocket() throws Exception {
        try (LoopbackProvider verbs = new LoopbackProvider()) {
            try (RdmaTransport transport = RdmaTransport.over(verbs)) {
                // A busy machine is not a silent peer.
                Settings patient = Settings.read("connect.timeout=50s", new Properties(), Map.of());
                SocketKind kind =
                        SocketKind.over(new TransportContext(patient, Rules.NONE, TransportHolder.of(transport)), true);
                try (ServerSocket server = kind.serverSocket();
                        Socket marked = kind.socket();
                        Socket plain = kind.socket()) {
                    server.bind(new InetSocketAddress(InetAddress.getByName("127.0.0.1"), 0));
                    marked.setTrafficClass(0x28);
                    for (Socket each : List.of(marked, plain)) {
                        each.connect(server.getLocalSocketAddress());
                        assertTrue(((SocketKind.OurSocket) each).isRdma());
                    }
                    assertEquals(
                            List.of(0x28, 0),
                            verbs.ids().stream()
                                    .filter(LoopbackId::isActive)
                                    .map(LoopbackId::typeOfService)
                                    .toList());
                }
            }
            verbs.assertClean();
        }
    }
}
