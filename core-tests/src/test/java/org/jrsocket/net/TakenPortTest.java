/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.net;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.net.BindException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.TimeUnit;
import org.jrsocket.connect.Rules;
import org.jrsocket.connect.Settings;
import org.jrsocket.connect.TransportContext;
import org.jrsocket.connect.TransportHolder;
import org.jrsocket.stream.RdmaListener;
import org.jrsocket.stream.RdmaTransport;
import org.jrsocket.stream.StreamConfig;
import org.jrsocket.verbs.loopback.LoopbackProvider;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A listener whose port, chosen by TCP, somebody else has over RDMA. */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class TakenPortTest {

    private static final int BACKLOG = 5;

    private LoopbackProvider verbs;
    private RdmaTransport transport;
    private InetAddress served;

    @BeforeEach
    void open() throws IOException {
        verbs = new LoopbackProvider();
        transport = RdmaTransport.over(verbs);
        served = InetAddress.getByName("127.0.0.1");
    }

    @AfterEach
    void close() {
        transport.close();
        verbs.assertClean();
        verbs.close();
    }

    private TransportContext context(String settings) throws Exception {
        return new TransportContext(
                Settings.read(settings, new Properties(), Map.of()), Rules.NONE, TransportHolder.of(transport));
    }

    /** As {@link java.net.ServerSocket} makes one, up to the point where it would listen. */
    private static RServerSocketImpl bound(TransportContext context, InetAddress address, int port) throws IOException {
        RServerSocketImpl impl = new RServerSocketImpl(context);
        impl.create(true);
        impl.bind(address, port);
        return impl;
    }

    private RdmaListener take(int port) throws IOException {
        return transport.listen(new InetSocketAddress(served, port), BACKLOG, StreamConfig.DEFAULT);
    }

    private void assertTakenOverRdma(int port) {
        assertThrows(IOException.class, () -> take(port).close());
    }

    @ParameterizedTest
    @ValueSource(strings = {"127.0.0.1", "0.0.0.0"})
    void shouldChooseAnotherPortIfNobodyAskedForThisOne(String address) throws Exception {
        RServerSocketImpl impl = bound(context(null), InetAddress.getByName(address), 0);
        int chosen = impl.getLocalPort();
        try (RdmaListener taken = take(chosen)) {
            assertEquals(chosen, taken.localAddress().getPort());
            impl.listen(BACKLOG);
            assertNotEquals(chosen, impl.getLocalPort());
            assertTakenOverRdma(impl.getLocalPort());
        } finally {
            impl.close();
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"127.0.0.1", "0.0.0.0"})
    void shouldListenOverTcpAloneOnAPortThatWasAskedFor(String address) throws Exception {
        int port = freePort();
        RServerSocketImpl impl = bound(context(null), InetAddress.getByName(address), port);
        try (RdmaListener taken = take(port)) {
            impl.listen(BACKLOG);
            assertEquals(port, impl.getLocalPort());
            assertEquals(port, taken.localAddress().getPort());
            try (Socket client = new Socket(served, port)) {
                assertTrue(client.isConnected());
            }
        } finally {
            impl.close();
        }
    }

    /** As when a process takes over a port from another one. */
    @ParameterizedTest
    @ValueSource(strings = {"127.0.0.1", "0.0.0.0"})
    void shouldListenOverRdmaTooOnceThePortIsFree(String address) throws Exception {
        int port = freePort();
        TransportContext context = context("connect.timeout=50s,memory.rejected=0");
        try (ServerSocket server = SocketKind.over(context, true).serverSocket()) {
            RdmaListener taken = take(port);
            server.bind(new InetSocketAddress(InetAddress.getByName(address), port));
            try (Socket client = new Socket(served, port)) {
                server.accept().close(); // over TCP meanwhile
                assertTrue(client.isConnected());
            }
            taken.close();
            boolean rdma = false;
            long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(30);
            while (!rdma) {
                assertTrue(System.nanoTime() - end < 0, "no RDMA on a port that is free");
                Thread.sleep(20);
                try (Socket client = SocketKind.over(context, true).socket()) {
                    client.connect(new InetSocketAddress(served, port));
                    rdma = TwoTransports.isRdma(client);
                    try (Socket accepted = server.accept()) {
                        assertEquals(rdma, TwoTransports.isRdma(accepted));
                        TwoTransports.assertTalks(client, accepted);
                    }
                }
            }
        }
        assertTakenByNobody(port);
    }

    /** A listener that waits for its port stops waiting when it is closed. */
    @Test
    void shouldNotListenOverRdmaOnceItIsClosed() throws Exception {
        int port = freePort();
        TransportContext context = context("connect.timeout=50s");
        RdmaListener taken = take(port);
        try (ServerSocket server = SocketKind.over(context, true).serverSocket()) {
            server.bind(new InetSocketAddress(served, port));
        }
        taken.close();
        Thread.sleep(1200); // it would try twice
        assertTakenByNobody(port);
    }

    private void assertTakenByNobody(int port) throws IOException {
        take(port).close();
    }

    @Test
    void shouldFailOnAPortThatWasAskedForWhereRdmaIsWanted() throws Exception {
        int port = freePort();
        RServerSocketImpl impl = bound(context("policy=rdma"), served, port);
        try (RdmaListener taken = take(port)) {
            assertEquals(port, taken.localAddress().getPort());
            assertEquals(
                    "Address already in use: the RDMA port; see rdma resource show cm_id",
                    assertThrows(BindException.class, () -> impl.listen(BACKLOG))
                            .getMessage());
        } finally {
            impl.close();
        }
    }

    private static int freePort() throws IOException {
        try (ServerSocket server = new ServerSocket(0)) {
            return server.getLocalPort();
        }
    }
}
