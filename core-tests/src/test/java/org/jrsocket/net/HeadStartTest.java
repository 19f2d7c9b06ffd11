/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.net;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import org.jrsocket.connect.TcpReason;
import org.jrsocket.connect.TransportContext;
import org.jrsocket.net.SocketBehaviour.Work;
import org.jrsocket.verbs.loopback.CmMessage;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What a peer that is silent, late or being restarted costs connections and does to them. */
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class HeadStartTest extends TwoTransports {

    private static final String SHORT = "connect.timeout=30ms";
    private static final String PATIENT = "connect.timeout=50s";

    private static ServerSocket listening(TransportContext context, InetAddress address, int port) throws IOException {
        ServerSocket server = SocketKind.over(context, true).serverSocket();
        server.setReuseAddress(true);
        server.bind(new InetSocketAddress(address, port));
        return server;
    }

    // ---- silence ----

    @Test
    void shouldReachASilentHostAfterSomeTriesThatWereGivenUpSoonerThanTheHeadStart() throws Exception {
        TransportContext context = context("connect.timeout=200ms");
        try (ServerSocket server = new ServerSocket(0, 50, silent)) {
            boolean reached = false;
            while (!reached) { // as a client does that closes a socket which takes long
                Socket client = socket(context);
                Work<Boolean> connecting = SocketBehaviour.start(() -> {
                    client.connect(server.getLocalSocketAddress());
                    return true;
                });
                SocketBehaviour.aMoment();
                client.close();
                try {
                    reached = connecting.get();
                } catch (SocketException e) {
                    reached = false;
                }
            }
        }
        assertEquals(0, context.counts().rdmaConnected());
    }

    @Test
    void shouldLetManyThatAskAtOncePayForOneHeadStart() throws Exception {
        TransportContext context = context(SHORT);
        int count = 20;
        CountDownLatch together = new CountDownLatch(count);
        try (ServerSocket server = new ServerSocket(0, 50, silent)) {
            List<Work<Socket>> clients = new ArrayList<>();
            for (int i = 0; i < count; i++) {
                clients.add(SocketBehaviour.start(() -> {
                    together.countDown();
                    together.await();
                    return connected(context, server);
                }));
            }
            for (Work<Socket> client : clients) {
                try (Socket socket = client.get()) {
                    assertFalse(isRdma(socket));
                }
            }
            assertEquals(1, verbs.qpsMade());
            long tried = context.counts().tcpChosen(TcpReason.TIMEOUT);
            assertEquals(count, tried + context.counts().tcpChosen(TcpReason.REMEMBERED));
            connected(context, server).close();
            assertEquals(tried, context.counts().tcpChosen(TcpReason.TIMEOUT));
        }
    }

    @Test
    void shouldUseRdmaForAllThatConnectAtOnceToAHostOfWhichNothingIsKnown() throws Exception {
        TransportContext context = context(PATIENT);
        int count = 40;
        CountDownLatch together = new CountDownLatch(count);
        try (ServerSocket server = listening(context, served, 0)) {
            List<Work<Socket>> clients = new ArrayList<>();
            for (int i = 0; i < count; i++) {
                clients.add(SocketBehaviour.start(() -> {
                    together.countDown();
                    together.await();
                    return connected(context, server);
                }));
            }
            for (Work<Socket> client : clients) {
                try (Socket socket = client.get();
                        Socket accepted = server.accept()) {
                    assertTrue(isRdma(socket));
                    assertTrue(isRdma(accepted));
                }
            }
        }
    }

    /** Its device came back, or it got the agent: nobody waits for it meanwhile. */
    @Test
    void shouldUseRdmaToAHostThatWasSilentSoonAfterItIsNot() throws Exception {
        TransportContext context = context(SHORT + ",memory.unanswered=20ms");
        try (ServerSocket server = listening(context, InetAddress.getByName("0.0.0.0"), 0)) {
            InetSocketAddress address = new InetSocketAddress(silent, server.getLocalPort());
            int made = 0;
            boolean rdma = false;
            while (!rdma) {
                try (Socket client = socket(context)) {
                    client.connect(address);
                    rdma = isRdma(client);
                    try (Socket accepted = server.accept()) {
                        assertEquals(rdma, isRdma(accepted), "a connection that nobody made");
                    }
                }
                if (++made == 20) {
                    assertEquals(1, context.counts().tcpChosen(TcpReason.TIMEOUT));
                    verbs.serve(silent, verbs.device());
                }
            }
            assertEquals(1, context.counts().tcpChosen(TcpReason.TIMEOUT));
            assertEquals(1, context.counts().rdmaAccepted(), "the server hears of no probe");
        }
    }

    // ---- paths that do not carry what they promise ----

    @Test
    void shouldUseTcpToAHostToWhichAConnectionWasLostOnTheWay() throws Exception {
        TransportContext context = context(PATIENT);
        try (ServerSocket server = listening(context, served, 0)) {
            try (Socket client = connected(context, server);
                    Socket accepted = server.accept()) {
                assertTalks(client, accepted);
                verbs.faults().breakAfter(0);
                assertThrows(SocketException.class, () -> {
                    client.getOutputStream().write(3);
                    client.getInputStream().read();
                });
            }
            try (Socket client = connected(context, server)) {
                assertFalse(isRdma(client));
            }
            assertEquals(1, context.counts().tcpChosen(TcpReason.PATH));
        }
    }

    @Test
    void shouldNotBlameThePathForAPeerThatLeaves() throws Exception {
        TransportContext context = context(PATIENT);
        try (ServerSocket server = listening(context, served, 0)) {
            for (int i = 0; i < 20; i++) {
                try (Socket client = connected(context, server)) {
                    Socket accepted = server.accept();
                    assertTalks(client, accepted);
                    accepted.setSoLinger(true, 0);
                    accepted.close();
                    assertThrows(SocketException.class, () -> {
                        while (client.getInputStream().read() >= 0) {
                            client.getOutputStream().write(1);
                        }
                        throw new SocketException("ended");
                    });
                }
            }
        }
        assertEquals(0, context.counts().tcpChosen(TcpReason.PATH));
    }

    // ---- answers that come late ----

    @Test
    void shouldNotShowTheServerAnAttemptThatWasGivenUp() throws Exception {
        TransportContext context = context(SHORT);
        try (ServerSocket server = listening(context, served, 0)) {
            verbs.faults().delay(CmMessage.REP, 1000); // a busy machine gives up later than it should
            try (Socket client = connected(context, server);
                    Socket accepted = server.accept()) {
                assertFalse(isRdma(client));
                assertFalse(isRdma(accepted));
                assertTalks(client, accepted);
            }
            verbs.faults().delay(CmMessage.REP, 0);
            assertUsesRdmaSoon(context, server);
        }
    }

    /** The answer that came late is what tells it. */
    private static void assertUsesRdmaSoon(TransportContext context, ServerSocket server) throws IOException {
        boolean rdma = false;
        while (!rdma) {
            try (Socket client = connected(context, server);
                    Socket accepted = server.accept()) {
                rdma = isRdma(client);
                assertEquals(rdma, isRdma(accepted), "a connection that nobody made");
                assertTalks(client, accepted);
            }
        }
    }

    @Test
    void shouldGiveAPeerTheTimeThatItsLateAnswerTook() throws Exception {
        TransportContext context = context(SHORT);
        verbs.faults().delay(CmMessage.REP, 150);
        try (ServerSocket server = listening(context, served, 0)) {
            assertUsesRdmaSoon(context, server);
        }
    }

    @Test
    void shouldAcceptOneConnectionForEachThatIsMadeWhenAnswersComeAtTheLastMoment() throws Exception {
        TransportContext context = context("connect.timeout=3ms,memory.unanswered=0");
        try (ServerSocket server = listening(context, served, 0)) {
            for (int i = 0; i < 200; i++) {
                verbs.faults().delay(CmMessage.REP, i % 3 + 2);
                try (Socket client = connected(context, server);
                        Socket accepted = server.accept()) {
                    assertEquals(isRdma(client), isRdma(accepted), "a connection that nobody made");
                    assertTalks(client, accepted);
                }
            }
            verbs.faults().delay(CmMessage.REP, 0);
        }
    }

    @Test
    void shouldNotTakeItsOwnSlownessForAPeersSilence() throws Exception {
        TransportContext context = context("connect.timeout=300ms");
        try (ServerSocket server = listening(context, served, 0)) {
            CountDownLatch busy = new CountDownLatch(1);
            transport
                    .service()
                    .execute(
                            () -> { // longer than the head start, with the answer waiting
                                busy.countDown();
                                try {
                                    Thread.sleep(700);
                                } catch (InterruptedException e) {
                                    throw new AssertionError(e);
                                }
                            });
            busy.await();
            try (Socket client = connected(context, server);
                    Socket accepted = server.accept()) {
                assertTrue(isRdma(client));
                assertTalks(client, accepted);
            }
        }
    }

    // ---- a server that is started again ----

    @Test
    void shouldUseRdmaAtOnceWhenAServerIsBack() throws Exception {
        TransportContext context = context(PATIENT);
        ServerSocket first = listening(context, served, 0);
        int port = first.getLocalPort();
        connected(context, first).close();
        first.close();
        for (int i = 0; i < 3; i++) {
            assertThrows(ConnectException.class, () -> socket(context).connect(new InetSocketAddress(served, port)));
        }
        try (ServerSocket again = listening(context, served, port);
                Socket client = connected(context, again)) {
            assertTrue(isRdma(client));
        }
        assertEquals(3, context.counts().tcpChosen(TcpReason.REFUSED));
        assertEquals(0, context.counts().tcpChosen(TcpReason.REMEMBERED));
    }

    @Test
    void shouldUseRdmaSoonWhenAServerListensOverTcpBeforeRdma() throws Exception {
        TransportContext context = context(PATIENT + ",memory.rejected=1h");
        ServerSocket first = listening(context, served, 0);
        int port = first.getLocalPort();
        connected(context, first).close();
        first.close();
        try (ServerSocket plain = new ServerSocket()) {
            plain.setReuseAddress(true);
            plain.bind(new InetSocketAddress(served, port));
            try (Socket client = connected(context, plain)) {
                assertFalse(isRdma(client));
            }
        }
        try (ServerSocket again = listening(context, served, port)) {
            assertUsesRdmaSoon(context, again);
        }
    }
}
