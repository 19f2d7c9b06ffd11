/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.net;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import jdk.jfr.consumer.RecordedEvent;
import org.jrsocket.connect.Rules;
import org.jrsocket.connect.Settings;
import org.jrsocket.connect.TransportContext;
import org.jrsocket.connect.TransportHolder;
import org.jrsocket.net.SocketBehaviour.Work;
import org.jrsocket.stream.RdmaTransport;
import org.jrsocket.testkit.Recorded;
import org.jrsocket.verbs.loopback.LoopbackProvider;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What the Flight Recorder is told of sockets over loopback verbs and over TCP. */
@Timeout(value = 90, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class RecordedConnectionsTest {

    private LoopbackProvider verbs;
    private RdmaTransport transport;
    private TransportContext context;
    private InetAddress served;
    private InetAddress unserved;
    private Recorded recorded;

    @BeforeEach
    void open() throws Exception {
        verbs = new LoopbackProvider();
        served = InetAddress.getByName("127.0.0.1");
        unserved = InetAddress.getByName("127.0.0.2");
        transport = RdmaTransport.over(verbs);
        // A busy machine is not a silent peer.
        Settings patient = Settings.read("connect.timeout=50s", new Properties(), Map.of());
        context = new TransportContext(patient, Rules.NONE, TransportHolder.of(transport));
        recorded = new Recorded();
    }

    @AfterEach
    void close() {
        recorded.close();
        transport.close();
        verbs.assertClean();
        verbs.close();
    }

    private ServerSocket listening(InetAddress address) throws IOException {
        ServerSocket server = SocketKind.over(context, true).serverSocket();
        server.bind(new InetSocketAddress(address, 0));
        return server;
    }

    private Socket connected(ServerSocket server) throws IOException {
        Socket socket = SocketKind.over(context, true).socket();
        socket.connect(server.getLocalSocketAddress());
        return socket;
    }

    private static RecordedEvent of(List<RecordedEvent> events, int localPort) {
        return events.stream()
                .filter(event -> event.getInt("localPort") == localPort)
                .findFirst()
                .orElseThrow(() -> new AssertionError(events.toString()));
    }

    @Test
    void shouldRecordBothEndsOfAnRdmaConnection() throws Exception {
        try (ServerSocket server = listening(served)) {
            int port = server.getLocalPort();
            int clientPort;
            try (Socket client = connected(server);
                    Socket accepted = server.accept()) {
                clientPort = client.getLocalPort();
                client.getOutputStream().write(new byte[1000]);
                assertEquals(1000, accepted.getInputStream().readNBytes(1000).length);
                accepted.getOutputStream().write(new byte[10]);
                assertEquals(10, client.getInputStream().readNBytes(10).length);
            }
            List<RecordedEvent> opened = recorded.await(2, "ConnectionOpened", port);
            for (RecordedEvent event : opened) {
                assertEquals("RDMA", event.getString("transport"));
                assertEquals(verbs.devices().get(0).name(), event.getString("device"));
                assertNull(event.getString("reason"));
                assertEquals("127.0.0.1", event.getString("localAddress"));
                assertEquals("127.0.0.1", event.getString("remoteAddress"));
                assertTrue(event.getDuration("setupTime").compareTo(Duration.ZERO) > 0, event::toString);
            }
            assertEquals(port, of(opened, clientPort).getInt("remotePort"));
            assertEquals(false, of(opened, clientPort).getBoolean("accepted"));
            assertEquals(true, of(opened, port).getBoolean("accepted"));
            List<RecordedEvent> closed = recorded.await(2, "ConnectionClosed", port);
            assertEquals(1000, of(closed, clientPort).getLong("bytesWritten"));
            assertEquals(10, of(closed, clientPort).getLong("bytesRead"));
            assertEquals(10, of(closed, port).getLong("bytesWritten"));
            assertEquals(1000, of(closed, port).getLong("bytesRead"));
            for (RecordedEvent event : closed) {
                assertEquals("RDMA", event.getString("transport"));
                assertEquals("closed", event.getString("outcome"));
                assertNull(event.getString("detail"));
                assertTrue(event.getDuration("lifetime").compareTo(Duration.ZERO) > 0, event::toString);
            }
            recorded.await(0, "Fallback", port);
        }
    }

    /** As much as the peer makes room for has arrived; the rest never will. */
    @Test
    void shouldRecordThatAClosedConnectionCouldNotSendAll() throws Exception {
        for (boolean reset : new boolean[] {true, false}) {
            try (ServerSocket server = listening(served)) {
                int port = server.getLocalPort();
                Socket client = connected(server);
                int clientPort = client.getLocalPort();
                try (Socket accepted = server.accept()) {
                    client.getOutputStream().write(new byte[512 * 1024]); // the peer has room for a part of it
                    client.close();
                    accepted.setSoLinger(reset, 0); // with unread data it is a reset in any case
                }
                RecordedEvent closed = of(recorded.await(2, "ConnectionClosed", port), clientPort);
                assertEquals("failed", closed.getString("outcome"));
                assertEquals("the connection ended before all was sent", closed.getString("detail"));
            }
        }
    }

    /** This side's own doing, whatever the peer does then. */
    @Test
    void shouldRecordAResetOfWhoDropsTheRest() throws Exception {
        try (ServerSocket server = listening(served)) {
            int port = server.getLocalPort();
            Socket client = connected(server);
            int clientPort = client.getLocalPort();
            Socket accepted = server.accept();
            client.getOutputStream().write(new byte[512 * 1024]);
            client.setSoLinger(true, 0);
            client.close();
            accepted.close();
            RecordedEvent closed = of(recorded.await(2, "ConnectionClosed", port), clientPort);
            assertEquals("reset", closed.getString("outcome"));
        }
    }

    @Test
    void shouldNotCountWhatNobodyReadAsRead() throws Exception {
        try (ServerSocket server = listening(served)) {
            int port = server.getLocalPort();
            int clientPort;
            try (Socket client = connected(server);
                    Socket accepted = server.accept()) {
                clientPort = client.getLocalPort();
                client.getOutputStream().write(new byte[10]);
                assertEquals(10, accepted.getInputStream().readNBytes(10).length);
                accepted.shutdownInput();
                client.getOutputStream().write(new byte[1000]);
                client.shutdownOutput();
                accepted.getOutputStream().write(1);
                client.getInputStream().read();
            }
            List<RecordedEvent> closed = recorded.await(2, "ConnectionClosed", port);
            assertEquals(10, of(closed, port).getLong("bytesRead"));
            assertEquals(1010, of(closed, clientPort).getLong("bytesWritten"));
        }
    }

    @Test
    void shouldRecordAResetOnBothEnds() throws Exception {
        try (ServerSocket server = listening(served)) {
            int port = server.getLocalPort();
            int clientPort;
            try (Socket client = connected(server)) {
                clientPort = client.getLocalPort();
                try (Socket accepted = server.accept()) {
                    accepted.setSoLinger(true, 0);
                }
                SocketBehaviour.assertSocketException(
                        "Connection reset", () -> client.getInputStream().read());
            }
            List<RecordedEvent> closed = recorded.await(2, "ConnectionClosed", port);
            assertEquals("reset", of(closed, port).getString("outcome"));
            assertEquals("failed", of(closed, clientPort).getString("outcome"));
            assertEquals("reset by the peer", of(closed, clientPort).getString("detail"));
        }
    }

    @Test
    void shouldRecordWhyTcpCarriesAConnection() throws Exception {
        try (ServerSocket server = new ServerSocket(0, 50, unserved)) {
            int port = server.getLocalPort();
            for (int i = 0; i < 2; i++) {
                try (Socket client = connected(server);
                        Socket accepted = server.accept()) {
                    client.getOutputStream().write(1);
                    assertEquals(1, accepted.getInputStream().read());
                }
            }
            List<RecordedEvent> fallback = recorded.await(2, "Fallback", port);
            assertEquals(
                    List.of("NO_DEVICE", "REMEMBERED"),
                    fallback.stream().map(event -> event.getString("reason")).toList());
            assertEquals(
                    List.of(false, false),
                    fallback.stream()
                            .map(event -> event.getBoolean("listening"))
                            .toList());
            List<RecordedEvent> opened = recorded.await(2, "ConnectionOpened", port);
            assertEquals(
                    List.of("NO_DEVICE", "REMEMBERED"),
                    opened.stream().map(event -> event.getString("reason")).toList());
            for (RecordedEvent event : opened) {
                assertEquals("TCP", event.getString("transport"));
                assertNull(event.getString("device"));
                assertEquals("127.0.0.2", event.getString("remoteAddress"));
                assertEquals(port, event.getInt("remotePort"));
                assertTrue(event.getInt("localPort") > 0);
                assertTrue(event.getDuration("setupTime").compareTo(Duration.ZERO) > 0, event::toString);
            }
            for (RecordedEvent event : recorded.await(2, "ConnectionClosed", port)) {
                assertEquals("TCP", event.getString("transport"));
                assertEquals(-1, event.getLong("bytesRead"));
                assertEquals(-1, event.getLong("bytesWritten"));
                assertEquals("closed", event.getString("outcome"));
            }
        }
    }

    @Test
    void shouldRecordTcpClientsOfAServerThatListensOnBoth() throws Exception {
        try (ServerSocket server = listening(served)) {
            int port = server.getLocalPort();
            int clientPort;
            try (Socket client = new Socket(served, port);
                    Socket accepted = server.accept()) {
                clientPort = client.getLocalPort();
                client.getOutputStream().write(1);
                assertEquals(1, accepted.getInputStream().read());
            }
            RecordedEvent opened = recorded.await(1, "ConnectionOpened", port).get(0);
            assertEquals("TCP", opened.getString("transport"));
            assertEquals(true, opened.getBoolean("accepted"));
            assertNull(opened.getString("reason"));
            assertEquals(clientPort, opened.getInt("remotePort"));
            assertEquals(
                    clientPort,
                    recorded.await(1, "ConnectionClosed", port).get(0).getInt("remotePort"));
        }
    }

    @Test
    void shouldRecordThatAServerListensOverTcpAlone() throws Exception {
        try (ServerSocket server = listening(unserved)) {
            RecordedEvent fallback =
                    recorded.await(1, "Fallback", server.getLocalPort()).get(0);
            assertEquals("NO_DEVICE", fallback.getString("reason"));
            assertEquals(true, fallback.getBoolean("listening"));
            assertEquals("127.0.0.2", fallback.getString("address"));
        }
    }

    @Test
    void shouldRecordThatAPeerDoesNotReadForSomeTime() throws Exception {
        int bytes = 4 << 20;
        try (ServerSocket server = listening(served);
                Socket client = connected(server);
                Socket accepted = server.accept()) {
            Work<Void> writer = SocketBehaviour.start(() -> {
                client.getOutputStream().write(new byte[bytes]);
                return null;
            });
            int before;
            do { // until what was granted is used up, and the writer has waited for a while
                before = accepted.getInputStream().available();
                SocketBehaviour.awaitWaiting(writer);
            } while (before == 0 || accepted.getInputStream().available() > before);
            assertEquals(bytes, accepted.getInputStream().readNBytes(bytes).length);
            writer.get();
            List<RecordedEvent> stalls = recorded.events(
                    "CreditStall",
                    event -> event.getInt("localPort") == client.getLocalPort()
                            && event.getDuration().toMillis() >= 50);
            assertFalse(stalls.isEmpty());
            RecordedEvent stall = stalls.get(0);
            assertEquals(server.getLocalPort(), stall.getInt("remotePort"));
            assertEquals(verbs.devices().get(0).name(), stall.getString("device"));
            assertTrue(stall.getLong("bytesWaiting") > 0, stall::toString);
        }
    }
}
