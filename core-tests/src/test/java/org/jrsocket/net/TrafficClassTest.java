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
        assertEquals(List.of(0x28, 0), classesOfMarkedAndPlain("connect.timeout=50s"));
    }

    @Test
    void shouldConnectWithTheTrafficClassOfTheSettingIfTheSocketHasNone() throws Exception {
        assertEquals(List.of(0x28, 106), classesOfMarkedAndPlain("connect.timeout=50s,traffic.class=106"));
    }

    /**
     * Returns the traffic class of a connection whose socket has one of its own, and of one whose socket has none.
     *
     * @param settings with a long head start, because a busy machine is not a silent peer
     */
    private static List<Integer> classesOfMarkedAndPlain(String settings) throws Exception {
        List<Integer> classes;
        try (LoopbackProvider verbs = new LoopbackProvider()) {
            try (RdmaTransport transport = RdmaTransport.over(verbs)) {
                Settings read = Settings.read(settings, new Properties(), Map.of());
                SocketKind kind =
                        SocketKind.over(new TransportContext(read, Rules.NONE, TransportHolder.of(transport)), true);
                try (ServerSocket server = kind.serverSocket();
                        Socket marked = kind.socket();
                        Socket plain = kind.socket()) {
                    server.bind(new InetSocketAddress(InetAddress.getByName("127.0.0.1"), 0));
                    marked.setTrafficClass(0x28);
                    for (Socket each : List.of(marked, plain)) {
                        each.connect(server.getLocalSocketAddress());
                        assertTrue(((SocketKind.OurSocket) each).isRdma());
                    }
                    classes = verbs.ids().stream()
                            .filter(LoopbackId::isActive)
                            .map(LoopbackId::typeOfService)
                            .toList();
                }
            }
            verbs.assertClean();
        }
        return classes;
    }
}
