/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.nio;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import jdk.jfr.Recording;
import jdk.jfr.consumer.RecordedEvent;
import org.jrsocket.connect.Rules;
import org.jrsocket.connect.Settings;
import org.jrsocket.connect.TransportContext;
import org.jrsocket.connect.TransportHolder;
import org.jrsocket.stream.RdmaTransport;
import org.jrsocket.testkit.Recorded;
import org.jrsocket.verbs.loopback.LoopbackProvider;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What the Flight Recorder is told of channels over loopback verbs and over TCP. */
@Timeout(value = 90, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class RecordedChannelsTest {

    private LoopbackProvider verbs;
    private RdmaTransport transport;
    private RSelectorProvider provider;
    private InetAddress served;
    private InetAddress unserved;
    private Recorded recorded;

    @BeforeEach
    void open() throws Exception {
        verbs = new LoopbackProvider();
        served = InetAddress.getByName("127.0.0.1");
        unserved = InetAddress.getByName("127.0.0.2");
        transport = RdmaTransport.over(verbs);
        TransportHolder holder = TransportHolder.of(transport);
        // A busy machine is not a silent peer.
        Settings patient = Settings.read("connect.timeout=50s", new Properties(), Map.of());
        provider = new RSelectorProvider(new TransportContext(patient, Rules.NONE, holder), holder);
        recorded = new Recorded();
    }

    @AfterEach
    void close() {
        recorded.close();
        transport.close();
        verbs.close();
    }

    @Test
    void shouldRecordBothEndsOfAnRdmaConnection() throws Exception {
        try (ServerSocketChannel server = provider.openServerSocketChannel().bind(new InetSocketAddress(served, 0))) {
            int port = server.socket().getLocalPort();
            try (SocketChannel client = provider.openSocketChannel()) {
                client.connect(server.getLocalAddress());
                try (SocketChannel accepted = server.accept()) {
                    client.write(ByteBuffer.allocate(100));
                    assertEquals(100, accepted.read(ByteBuffer.allocate(200)));
                }
            }
            List<RecordedEvent> opened = recorded.await(2, "ConnectionOpened", port);
            assertEquals(
                    List.of(false, true),
                    opened.stream()
                            .map(event -> event.getBoolean("accepted"))
                            .sorted()
                            .toList());
            assertTrue(
                    opened.stream()
                            .allMatch(event -> event.getString("transport").equals("RDMA")),
                    opened::toString);
            List<RecordedEvent> closed = recorded.await(2, "ConnectionClosed", port);
            assertEquals(
                    List.of(0L, 100L),
                    closed.stream()
                            .map(event -> event.getLong("bytesWritten"))
                            .sorted()
                            .toList());
            assertEquals(
                    List.of(0L, 100L),
                    closed.stream()
                            .map(event -> event.getLong("bytesRead"))
                            .sorted()
                            .toList());
        }
    }

    @Test
    void shouldRecordWhyTcpCarriesABlockingConnection() throws Exception {
        try (ServerSocket server = new ServerSocket(0, 50, unserved)) {
            try (SocketChannel client = provider.openSocketChannel()) {
                client.connect(server.getLocalSocketAddress());
            }
            assertRecordedOverTcp(server.getLocalPort());
        }
    }

    @Test
    void shouldRecordWhyTcpCarriesANonBlockingConnection() throws Exception {
        try (ServerSocket server = new ServerSocket(0, 50, unserved);
                Selector selector = provider.openSelector()) {
            try (SocketChannel client = provider.openSocketChannel()) {
                client.configureBlocking(false);
                client.register(selector, SelectionKey.OP_CONNECT);
                client.connect(server.getLocalSocketAddress());
                while (!client.finishConnect()) {
                    selector.select();
                    selector.selectedKeys().clear();
                }
                assertTrue(client.finishConnect()); // says so again, and is no second connection
            }
            assertRecordedOverTcp(server.getLocalPort());
        }
    }

    /** With JDK 17 the recorder asks the closed inner channel for its address, and the exception is another one. */
    @Test
    void shouldCloseWhenInterruptedWhileReadsAndWritesAreRecorded() throws Exception {
        try (Recording sockets = new Recording();
                ServerSocket server = new ServerSocket(0, 50, unserved);
                SocketChannel reader = provider.openSocketChannel();
                SocketChannel writer = provider.openSocketChannel()) {
            sockets.enable("jdk.SocketRead").withThreshold(Duration.ZERO);
            sockets.enable("jdk.SocketWrite").withThreshold(Duration.ZERO);
            sockets.start();
            reader.connect(server.getLocalSocketAddress());
            writer.connect(server.getLocalSocketAddress());
            Thread.currentThread().interrupt();
            assertThrows(ClosedChannelException.class, () -> reader.read(ByteBuffer.allocate(1)));
            assertThrows(ClosedChannelException.class, () -> writer.write(ByteBuffer.allocate(1)));
            assertTrue(Thread.interrupted());
            assertFalse(reader.isOpen());
            assertFalse(writer.isOpen());
        }
    }

    private void assertRecordedOverTcp(int port) throws Exception {
        RecordedEvent opened = recorded.await(1, "ConnectionOpened", port).get(0);
        assertEquals("TCP", opened.getString("transport"));
        assertEquals("NO_DEVICE", opened.getString("reason"));
        assertEquals("127.0.0.2", opened.getString("remoteAddress"));
        assertEquals("TCP", recorded.await(1, "ConnectionClosed", port).get(0).getString("transport"));
        assertEquals("NO_DEVICE", recorded.await(1, "Fallback", port).get(0).getString("reason"));
    }

    @Test
    void shouldRecordTcpClientsOfAServerThatListensOnBoth() throws Exception {
        try (ServerSocketChannel server = provider.openServerSocketChannel().bind(new InetSocketAddress(served, 0))) {
            int port = server.socket().getLocalPort();
            int clientPort;
            try (Socket client = new Socket(served, port)) {
                clientPort = client.getLocalPort();
                server.accept().close();
            }
            RecordedEvent opened = recorded.await(1, "ConnectionOpened", port).get(0);
            assertEquals(clientPort, opened.getInt("remotePort"));
            assertEquals("TCP", opened.getString("transport"));
            assertEquals(true, opened.getBoolean("accepted"));
            assertNull(opened.getString("reason"));
            assertEquals(
                    clientPort,
                    recorded.await(1, "ConnectionClosed", port).get(0).getInt("remotePort"));
        }
    }
}
