/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.net;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Random;
import org.jrsocket.connect.Rules;
import org.jrsocket.connect.Settings;
import org.jrsocket.connect.TcpReason;
import org.jrsocket.connect.TransportContext;
import org.jrsocket.connect.TransportHolder;
import org.jrsocket.net.SocketBehaviour.Work;
import org.jrsocket.stream.RdmaTransport;
import org.jrsocket.verbs.loopback.LoopbackConfig;
import org.jrsocket.verbs.loopback.LoopbackProvider;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A process that may register no more memory: what it has goes on, and what is new uses TCP. Nothing fails. */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class MemoryBoundTest {

    /** Enough for three ends of connections, of which each has two. */
    private static final long BOUND = 3 * 40 * 1024;

    private LoopbackProvider verbs;
    private RdmaTransport transport;
    private TransportContext context;
    private ServerSocket server;

    @BeforeEach
    void open() throws Exception {
        verbs = new LoopbackProvider(new LoopbackConfig().cmTimeoutMillis(60_000));
        transport = RdmaTransport.over(verbs);
        context = new TransportContext(
                Settings.read("connect.timeout=50s", new Properties(), Map.of()),
                Rules.NONE,
                TransportHolder.of(transport));
        transport.limitMemory(BOUND);
        server = SocketKind.over(context, true).serverSocket();
        server.bind(new InetSocketAddress(InetAddress.getByName("127.0.0.1"), 0));
    }

    @AfterEach
    void close() throws IOException {
        server.close();
        transport.close();
        verbs.assertClean();
        verbs.close();
    }

    /** Two ends that talk to each other. */
    private record Ends(Socket client, Socket accepted) {

        boolean areRdma() {
            boolean rdma = ((SocketKind.OurSocket) client).isRdma();
            assertEquals(rdma, ((SocketKind.OurSocket) accepted).isRdma());
            return rdma;
        }

        void talk() throws IOException {
            client.getOutputStream().write(1);
            assertEquals(1, accepted.getInputStream().read());
            accepted.getOutputStream().write(2);
            assertEquals(2, client.getInputStream().read());
        }

        void close() throws IOException {
            client.close();
            assertEquals(-1, accepted.getInputStream().read());
            accepted.close();
        }
    }

    private Ends connect() throws IOException {
        Socket client = SocketKind.over(context, true).socket();
        client.connect(server.getLocalSocketAddress());
        Ends ends = new Ends(client, server.accept());
        ends.talk();
        return ends;
    }

    @Test
    void shouldUseTcpForConnectionsThatTheMemoryDoesNotReachFor() throws Exception {
        List<Ends> all = new ArrayList<>();
        for (int i = 0; i < 6; i++) {
            all.add(connect());
        }
        assertTrue(all.get(0).areRdma());
        for (Ends ends : all.subList(1, all.size())) {
            assertFalse(ends.areRdma());
            ends.talk();
        }
        // here and there, as the ends of one process share its bound; neither is a verdict on the peer
        assertEquals(
                5, context.counts().tcpChosen(TcpReason.BUSY) + context.counts().tcpChosen(TcpReason.RESOURCES));
        for (Ends ends : all) {
            ends.close();
        }
        Ends ends = connect();
        while (!ends.areRdma()) { // until what was closed has given its memory back
            ends.close();
            ends = connect();
        }
        ends.close();
    }

    @Test
    void shouldGoOnWithWhatItHasWhereAStreamWantsMore() throws Exception {
        Ends ends = connect();
        assertTrue(ends.areRdma());
        byte[] sent = new byte[2 << 20];
        new Random(1).nextBytes(sent);
        Work<Void> writing = SocketBehaviour.start(() -> {
            ends.client.getOutputStream().write(sent);
            return null;
        });
        assertArrayEquals(sent, ends.accepted.getInputStream().readNBytes(sent.length));
        writing.get();
        assertTrue(transport.registeredMemory() <= BOUND, () -> transport.registeredMemory() + " bytes");
        ends.close();
    }
}
