/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.net;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.net.ConnectException;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Properties;
import org.jrsocket.connect.Settings;
import org.jrsocket.connect.TcpReason;
import org.jrsocket.connect.TransportContext;
import org.jrsocket.connect.TransportHolder;
import org.jrsocket.net.SocketBehaviour.Work;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledForJreRange;
import org.junit.jupiter.api.condition.JRE;
import org.junit.jupiter.api.io.TempDir;

/** Which transport a connection of ours gets: what it falls back from, and what the policy says. */
class ChosenTransportTest extends TwoTransports {

    // ---- falling back ----

    @Test
    void shouldFallBackToAServerWithoutRdma() throws Exception {
        TransportContext context = context(null);
        try (ServerSocket server = plainServer(served)) {
            for (int i = 0; i < 3; i++) {
                try (Socket client = connected(context, server);
                        Socket accepted = server.accept()) {
                    assertFalse(isRdma(client));
                    assertTalks(client, accepted);
                }
            }
        }
        assertEquals(1, context.counts().tcpChosen(TcpReason.REFUSED));
        assertEquals(2, context.counts().tcpChosen(TcpReason.REMEMBERED));
    }

    @Test
    void shouldUseRdmaAgainOnceTheRefusalIsForgotten() throws Exception {
        TransportContext context = context("memory.rejected=50ms");
        int port;
        try (ServerSocket server = plainServer(served);
                Socket client = connected(context, server)) {
            assertFalse(isRdma(client));
            port = server.getLocalPort();
        }
        Thread.sleep(100);
        try (ServerSocket server = SocketKind.over(context, true).serverSocket()) {
            server.bind(new InetSocketAddress(served, port));
            try (Socket client = connected(context, server)) {
                assertTrue(isRdma(client));
            }
        }
    }

    @Test
    void shouldPayOnceForAHostThatDoesNotAnswer() throws Exception {
        TransportContext context = context("connect.timeout=200ms");
        try (ServerSocket server = plainServer(silent)) {
            for (int i = 0; i < 3; i++) {
                try (Socket client = connected(context, server);
                        Socket accepted = server.accept()) {
                    assertFalse(isRdma(client));
                    assertTalks(client, accepted);
                }
            }
        }
        assertEquals(1, context.counts().tcpChosen(TcpReason.TIMEOUT));
        assertEquals(2, context.counts().tcpChosen(TcpReason.REMEMBERED));
    }

    @Test
    void shouldKeepWithinTheCallersTime() throws Exception {
        TransportContext context = context("connect.timeout=1h");
        try (ServerSocket server = plainServer(silent);
                Socket client = socket(context)) {
            client.connect(server.getLocalSocketAddress(), 1_000);
            assertFalse(isRdma(client));
        }
    }

    @Test
    void shouldUseTcpWhereNoDeviceLeads() throws Exception {
        TransportContext context = context(null);
        try (ServerSocket server = listening(context, unserved);
                Socket client = connected(context, server);
                Socket accepted = server.accept()) {
            assertFalse(isRdma(client));
            assertFalse(isRdma(accepted));
            assertTalks(client, accepted);
        }
        assertEquals(1, context.counts().tcpChosen(TcpReason.NO_DEVICE));
    }

    @Test
    void shouldThrowWhatTcpThrowsWhenBothFail() throws Exception {
        TransportContext context = context(null);
        InetSocketAddress nobody;
        try (ServerSocket server = plainServer(served)) {
            nobody = (InetSocketAddress) server.getLocalSocketAddress();
        }
        ConnectException plain = assertThrows(ConnectException.class, () -> new Socket().connect(nobody));
        ConnectException ours =
                assertThrows(ConnectException.class, () -> socket(context).connect(nobody));
        assertEquals(plain.getClass(), ours.getClass());
        assertEquals(plain.getMessage(), ours.getMessage());
    }

    // ---- policies ----

    @Test
    void shouldNotUseTcpWhereThePolicyIsRdma() throws Exception {
        TransportContext context = context("policy=rdma");
        try (ServerSocket server = plainServer(served);
                Socket client = socket(context)) {
            assertThrows(ConnectException.class, () -> client.connect(server.getLocalSocketAddress()));
            assertEquals(Runtime.version().feature() > 17, client.isClosed());
        }
        try (ServerSocket server = listening(context, served)) {
            assertThrows(ConnectException.class, () -> plain(server));
            try (Socket client = connected(context, server);
                    Socket accepted = server.accept()) {
                assertTalks(client, accepted);
            }
            server.setSoTimeout(50);
            assertThrows(SocketTimeoutException.class, server::accept);
        }
        assertThrows(SocketException.class, () -> listening(context, unserved));
    }

    @Test
    void shouldNotUseRdmaWhereThePolicyIsTcp() throws Exception {
        TransportContext auto = context(null);
        TransportContext tcp = context("policy=tcp");
        try (ServerSocket server = listening(auto, served);
                Socket client = connected(tcp, server);
                Socket accepted = server.accept()) {
            assertFalse(isRdma(client));
            assertFalse(isRdma(accepted));
        }
        try (ServerSocket server = listening(tcp, served);
                Socket client = connected(auto, server);
                Socket accepted = server.accept()) {
            assertFalse(isRdma(client));
            assertFalse(isRdma(accepted));
        }
    }

    @Test
    void shouldFollowTheRulesOfAFile(@TempDir Path folder) throws Exception {
        try (ServerSocket one = listening(context(null), served);
                ServerSocket other = listening(context(null), served)) {
            Path file = Files.writeString(folder.resolve("rules"), "connect 127.0.0.0/8 " + one.getLocalPort() + "\n");
            Settings settings = Settings.read("rules=" + file, new Properties(), Map.of());
            TransportContext context = TransportContext.open(settings, TransportHolder.of(transport));
            try (Socket first = connected(context, one);
                    Socket second = connected(context, other)) {
                assertTrue(isRdma(first));
                assertFalse(isRdma(second));
            }
        }
    }

    @Test
    void shouldTimeOutWhereThePolicyIsRdmaAndNobodyAnswers() throws Exception {
        TransportContext context = context("policy=rdma");
        try (Socket client = socket(context)) {
            SocketTimeoutException e = assertThrows(
                    SocketTimeoutException.class, () -> client.connect(new InetSocketAddress(silent, 80), 100));
            assertEquals("Connect timed out", e.getMessage());
        }
    }

    @Test
    void shouldEndAnAttemptByClosing() throws Exception {
        TransportContext context = context("policy=rdma");
        Socket client = socket(context);
        Work<Void> connecting = SocketBehaviour.start(() -> {
            client.connect(new InetSocketAddress(silent, 80));
            return null;
        });
        SocketBehaviour.awaitWaiting(connecting);
        client.close();
        SocketBehaviour.assertSocketException("Socket closed", connecting::get);
    }

    @Test
    @EnabledForJreRange(min = JRE.JAVA_21)
    void shouldEndAVirtualThreadsAttemptByInterrupt() throws Exception {
        TransportContext context = context("policy=rdma");
        Socket client = socket(context);
        Work<Boolean> connecting = SocketBehaviour.startVirtual(() -> {
            SocketBehaviour.assertSocketException(
                    "Closed by interrupt", () -> client.connect(new InetSocketAddress(silent, 80)));
            return Thread.interrupted();
        });
        SocketBehaviour.awaitWaiting(connecting);
        connecting.thread.interrupt();
        assertTrue(connecting.get());
        assertTrue(client.isClosed());
    }
}
