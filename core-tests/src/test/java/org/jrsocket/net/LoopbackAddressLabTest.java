/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.net;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.net.ConnectException;
import java.net.InetAddress;
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
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * What listens at a loopback address is for this host alone, whatever devices it has. The JDK's sockets are the
 * reference.
 */
@Tag("device")
@Tag("lab")
class LoopbackAddressLabTest {

    private static RdmaTransport transport;
    private static SocketKind ours;
    private static InetAddress device;

    @BeforeAll
    static void open() throws Exception {
        String address = System.getenv("ROCE_LAB_ADDR");
        assumeTrue(address != null, "no RoCEv2 lab around this process (scripts/roce-lab)");
        device = InetAddress.getByName(address);
        transport = RdmaTransport.over(RdmaCoreProvider.open());
        Settings patient =
                Settings.read("memory.unanswered=0,memory.rejected=0,connect.timeout=50s", new Properties(), Map.of());
        TransportContext context = new TransportContext(patient, Rules.NONE, TransportHolder.of(transport));
        ours = SocketKind.over(context, false);
    }

    @AfterAll
    static void close() {
        if (transport != null) {
            transport.close();
        }
    }

    private static Socket connect(SocketKind kind, InetAddress from, InetAddress to, int port) throws IOException {
        Socket socket = kind.socket();
        try {
            socket.bind(from == null ? null : new InetSocketAddress(from, 0));
            socket.connect(new InetSocketAddress(to, port));
            return socket;
        } catch (IOException e) {
            socket.close();
            throw e;
        }
    }

    @ParameterizedTest
    @CsvSource({
        "false, 127.0.0.1",
        "false, 127.0.0.2",
        "false, ::1",
        "true, 127.0.0.1",
        "true, 127.0.0.2",
        "true, ::1",
    })
    void shouldBeReachedFromThisHostAlone(boolean isOurs, String loopback) throws Exception {
        SocketKind kind = isOurs ? ours : SocketKind.INSTALLED;
        InetAddress host = InetAddress.getByName(loopback);
        try (ServerSocket server = kind.serverSocket()) {
            server.bind(new InetSocketAddress(host, 0));
            int port = server.getLocalPort();
            assertEquals(
                    "Connection refused",
                    assertThrows(ConnectException.class, () -> connect(kind, null, device, port)
                                    .close())
                            .getMessage());
            try (Socket client = connect(kind, null, host, port);
                    Socket accepted = server.accept()) {
                kind.check(client);
                kind.check(accepted);
                assertEquals(host, accepted.getLocalAddress());
                client.getOutputStream().write(7);
                assertEquals(7, accepted.getInputStream().read());
            }
        }
    }

    @ParameterizedTest
    @CsvSource({"false", "true"})
    void shouldConnectWithADevicesAddressBothWays(boolean isOurs) throws Exception {
        SocketKind kind = isOurs ? ours : SocketKind.INSTALLED;
        InetAddress host = InetAddress.getByName("127.0.0.1");
        assertConnected(kind, device, host);
        assertConnected(kind, host, device);
    }

    private static void assertConnected(SocketKind kind, InetAddress from, InetAddress to) throws Exception {
        try (ServerSocket server = kind.serverSocket()) {
            server.bind(new InetSocketAddress(to, 0));
            try (Socket client = connect(kind, from, to, server.getLocalPort());
                    Socket accepted = server.accept()) {
                kind.check(client);
                assertEquals(from, accepted.getInetAddress());
            }
        }
    }
}
