/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.connect;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jrsocket.stream.RdmaStream;
import org.jrsocket.stream.RdmaTransport;
import org.jrsocket.stream.StreamConfig;
import org.jrsocket.verbs.loopback.CmMessage;
import org.jrsocket.verbs.loopback.LoopbackConfig;
import org.jrsocket.verbs.loopback.LoopbackProvider;
import org.jrsocket.verbs.loopback.Reachability;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Many connections at once to a host of which nothing is known: what the first meets is what the others do. As channels
 * connect, so that one thread begins them all, in order.
 */
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class FirstContactsTest {

    private static final int COUNT = 200;
    private static final int PORT = 7000;
    private static final int OTHER_PORT = 7001;
    private static final long NEVER = 600_000; // milliseconds; a test lets it end

    private final List<Connection> connections = new ArrayList<>();
    private LoopbackProvider verbs;
    private RdmaTransport transport;
    private InetAddress served;
    private InetAddress silent;

    /** As a channel that does not block has one. */
    private static final class Connection {
        private final ConnectAttempt attempt;
        private final CountDownLatch decided = new CountDownLatch(1);

        Connection(ConnectAttempt attempt) {
            this.attempt = attempt;
            attempt.whenDecided(decided::countDown);
        }

        /** @return the stream; null is TCP, which connects */
        RdmaStream result() throws IOException, InterruptedException {
            assertTrue(decided.await(100, TimeUnit.SECONDS), "it is never decided");
            RdmaStream stream = attempt.await();
            if (stream == null) {
                attempt.reportTcpOutcome(null);
            }
            return stream;
        }

        boolean isDecided() {
            return decided.getCount() == 0;
        }
    }

    @BeforeEach
    void open() throws IOException {
        verbs = new LoopbackProvider(new LoopbackConfig().cmTimeoutMillis(NEVER));
        transport = RdmaTransport.over(verbs);
        served = InetAddress.getByName("127.0.0.1");
        silent = InetAddress.getByName("127.0.0.3");
        verbs.place(silent, Reachability.SILENT);
    }

    @AfterEach
    void close() {
        connections.forEach(each -> each.attempt.cancel());
        transport.close();
        verbs.assertClean();
        verbs.close();
    }

    private TransportContext context(String settings) throws Exception {
        return new TransportContext(
                Settings.read(settings, new Properties(), Map.of()), Rules.NONE, TransportHolder.of(transport));
    }

    private Connection connect(TransportContext context, InetSocketAddress to, long timeoutMillis) throws IOException {
        Connection connection = new Connection(context.connector()
                .attempt(null, to, StreamConfig.DEFAULT, TimeUnit.MILLISECONDS.toNanos(timeoutMillis)));
        connections.add(connection);
        return connection;
    }

    private List<Connection> connect(int count, TransportContext context, InetSocketAddress to) throws IOException {
        List<Connection> made = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            made.add(connect(context, to, 0));
        }
        return made;
    }

    private DualListener listen(TransportContext context, int port) throws IOException {
        return DualListener.open(
                context, FakePort.given(new InetSocketAddress(served, port)), COUNT, StreamConfig.DEFAULT);
    }

    private void awaitRequest() {
        while (verbs.qpsMade() == 0) {
            Thread.onSpinWait();
        }
    }

    private static long tcp(TransportContext context, TcpReason reason) {
        return context.counts().tcpChosen(reason);
    }

    private static void assertOneSilence(TransportContext context) {
        List<PeerState> remembered = context.remembered();
        assertEquals(1, remembered.size(), remembered::toString);
        assertEquals(PeerState.Kind.SILENT, remembered.get(0).kind());
        assertTrue(remembered.get(0).avoidedNanos() <= KnownHost.FIRST_PAUSE_NANOS, remembered::toString);
    }

    // ---- silence ----

    @Test
    void shouldMakeOneQueuePairForASilentHost() throws Exception {
        TransportContext context = context("connect.timeout=100ms");
        connect(COUNT, context, new InetSocketAddress(silent, PORT));
        for (Connection each : connections) {
            assertNull(each.result());
        }
        assertEquals(1, verbs.qpsMade());
        assertEquals(COUNT, tcp(context, TcpReason.TIMEOUT) + tcp(context, TcpReason.REMEMBERED));
        assertOneSilence(context);
    }

    @Test
    void shouldRememberOneSilenceOfAHostToWhichNoRouteIsFoundInTime() throws Exception {
        TransportContext context = context("connect.timeout=10ms");
        verbs.place(silent, Reachability.UNRESOLVED);
        connect(COUNT, context, new InetSocketAddress(silent, PORT));
        for (Connection each : connections) {
            assertNull(each.result());
        }
        assertEquals(0, verbs.qpsMade());
        assertEquals(1, tcp(context, TcpReason.UNRESOLVED));
        assertEquals(COUNT - 1, tcp(context, TcpReason.TIMEOUT) + tcp(context, TcpReason.REMEMBERED));
        assertOneSilence(context);
    }

    @Test
    void shouldGoOnWithoutRdmaWithTheFirstThatFindsNoRoute() throws Exception {
        TransportContext context = context("connect.timeout=1h");
        verbs.place(silent, Reachability.NO_ROUTE);
        connect(COUNT, context, new InetSocketAddress(silent, PORT));
        for (Connection each : connections) {
            assertNull(each.result());
        }
        assertOneSilence(context);
    }

    /** Its own timers hold for one that waits, and for the first. */
    @Test
    void shouldNotKeepAConnectionLongerThanItsOwnTime() throws Exception {
        TransportContext context = context("connect.timeout=1h");
        InetSocketAddress host = new InetSocketAddress(silent, PORT);
        Connection first = connect(context, host, 0);
        Connection patient = connect(context, host, 0);
        assertNull(connect(context, host, 20).result());
        assertFalse(first.isDecided());
        assertFalse(patient.isDecided());
        awaitRequest();
        assertEquals(1, verbs.qpsMade());
        assertEquals(0, tcp(context, TcpReason.UNRESOLVED));
    }

    /** Nothing that comes from the peer concerns it. */
    @Test
    void shouldNotNeedTheServiceThreadToEndTheWaitOfAThread() throws Exception {
        TransportContext context = context("connect.timeout=1h");
        InetSocketAddress host = new InetSocketAddress(silent, PORT);
        CountDownLatch later = new CountDownLatch(1);
        transport.service().execute(() -> await(later));
        connect(context, host, 0);
        ConnectAttempt impatient =
                context.connector().attempt(null, host, StreamConfig.DEFAULT, TimeUnit.MILLISECONDS.toNanos(20));
        assertNull(impatient.await());
        impatient.reportTcpOutcome(null);
        ConnectAttempt cancelled = context.connector().attempt(null, host, StreamConfig.DEFAULT, 0);
        cancelled.cancel();
        assertThrows(SocketException.class, cancelled::await);
        later.countDown();
        assertEquals(1, tcp(context, TcpReason.TIMEOUT));
    }

    @Test
    void shouldEndOneThatWaitsWhenItIsCancelled() throws Exception {
        TransportContext context = context("connect.timeout=1h");
        InetSocketAddress host = new InetSocketAddress(silent, PORT);
        Connection first = connect(context, host, 0);
        Connection second = connect(context, host, 0);
        second.attempt.cancel();
        assertThrows(SocketException.class, second::result);
        assertFalse(first.isDecided());
        assertTrue(verbs.qpsMade() <= 1);
    }

    /** A host that took a connection over RDMA, and is silent now. */
    private InetSocketAddress fallenSilent(TransportContext context) throws Exception {
        InetSocketAddress host = new InetSocketAddress("127.0.0.5", PORT);
        verbs.serve(host.getAddress(), verbs.device());
        try (DualListener listener = DualListener.open(context, FakePort.given(host), COUNT, StreamConfig.DEFAULT)) {
            assertAllOverRdma(connect(1, context, host));
            awaitReady(listener);
        }
        verbs.place(host.getAddress(), Reachability.SILENT);
        return host;
    }

    /** All use TCP at once: nothing is made for them. */
    private void assertSpared(TransportContext context, InetSocketAddress host) throws Exception {
        int made = verbs.qpsMade();
        long remembered = tcp(context, TcpReason.REMEMBERED);
        for (int i = 0; i < COUNT; i++) {
            assertNull(connect(context, host, 0).result());
        }
        assertEquals(made, verbs.qpsMade());
        assertEquals(remembered + COUNT, tcp(context, TcpReason.REMEMBERED));
    }

    @Test
    void shouldHaveOneConnectionWaitForAHostThatHasAnsweredAndFallsSilent() throws Exception {
        TransportContext context = context("connect.timeout=20ms");
        InetSocketAddress host = fallenSilent(context);
        int made = verbs.qpsMade();
        assertNull(connect(context, host, 0).result());
        assertEquals(made + 1, verbs.qpsMade());
        assertEquals(1, tcp(context, TcpReason.TIMEOUT));
        assertOneSilence(context);
        assertSpared(context, host);
    }

    /** Each asks, since the host has answered others; what they learn together is one silence. */
    @Test
    void shouldTakeNoteOfOneSilenceWhenManyConnectAtOnceToAHostThatHasAnswered() throws Exception {
        TransportContext context = context("connect.timeout=20ms");
        InetSocketAddress host = fallenSilent(context);
        for (Connection each : connect(COUNT, context, host)) {
            assertNull(each.result());
        }
        assertEquals(COUNT, tcp(context, TcpReason.TIMEOUT) + tcp(context, TcpReason.REMEMBERED));
        assertOneSilence(context);
        assertSpared(context, host);
    }

    // ---- answers ----

    @Test
    void shouldUseRdmaForAllToAHostThatAnswers() throws Exception {
        TransportContext context = context("connect.timeout=1h");
        verbs.faults().delay(CmMessage.REP, NEVER);
        try (DualListener listener = listen(context, PORT)) {
            connect(COUNT, context, new InetSocketAddress(served, PORT));
            while (verbs.qpsMade() < 2) { // the first's, and that of its peer
                Thread.onSpinWait();
            }
            verbs.faults().delay(CmMessage.REP, 0);
            assertEquals(2, verbs.qpsMade());
            while (!connections.get(0).isDecided()) {
                verbs.expireTimeouts(); // and so it is answered
            }
            assertAllOverRdma(connections);
            assertEquals(2 * COUNT, verbs.qpsMade());
            awaitReady(listener);
        }
    }

    /** A client may be connected before its server knows. */
    private static void awaitReady(DualListener listener) {
        while (!listener.fetch()) {
            Thread.onSpinWait();
        }
    }

    private static void assertAllOverRdma(List<Connection> connections) throws Exception {
        for (Connection each : connections) {
            try (RdmaStream stream = each.result()) {
                assertNotNull(stream);
            }
        }
    }

    @Test
    void shouldNotHoldUpConnectionsToAHostThatHasAnsweredBefore() throws Exception {
        TransportContext context = context("connect.timeout=1h");
        try (DualListener listener = listen(context, PORT)) {
            assertAllOverRdma(connect(1, context, new InetSocketAddress(served, PORT)));
            verbs.faults().delay(CmMessage.REP, NEVER);
            connect(20, context, new InetSocketAddress(served, PORT));
            while (verbs.qpsMade() < 2 + 2 * 20) { // and none waits for another
                Thread.onSpinWait();
            }
            awaitReady(listener);
        }
    }

    @Test
    void shouldUseTheAnswerToAFirstThatWasClosedMeanwhile() throws Exception {
        TransportContext context = context("connect.timeout=1h");
        verbs.faults().delay(CmMessage.REP, NEVER);
        try (DualListener listener = listen(context, PORT)) {
            Connection first = connect(context, new InetSocketAddress(served, PORT), 0);
            List<Connection> others = connect(5, context, new InetSocketAddress(served, PORT));
            while (verbs.qpsMade() < 2) {
                Thread.onSpinWait();
            }
            first.attempt.cancel();
            assertThrows(SocketException.class, first::result);
            verbs.faults().delay(CmMessage.REP, 0);
            while (!others.get(0).isDecided()) {
                verbs.expireTimeouts();
            }
            assertAllOverRdma(others);
            awaitReady(listener);
        }
    }

    @Test
    void shouldLetAnotherTakeThePlaceOfAFirstThatIsClosedBeforeItAsks() throws Exception {
        TransportContext context = context("connect.timeout=1h");
        CountDownLatch busy = new CountDownLatch(1);
        CountDownLatch later = new CountDownLatch(1);
        try (DualListener listener = listen(context, PORT)) {
            transport.service().execute(() -> {
                busy.countDown();
                await(later);
            });
            await(busy); // so the first cannot get so far, nor make a queue pair
            Connection first = connect(context, new InetSocketAddress(served, PORT), 0);
            List<Connection> others = connect(5, context, new InetSocketAddress(served, PORT));
            first.attempt.cancel();
            later.countDown();
            assertThrows(SocketException.class, first::result);
            assertAllOverRdma(others);
            assertEquals(2 * others.size(), verbs.qpsMade());
            awaitReady(listener);
        }
    }

    private static void await(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    // ---- refusals ----

    @Test
    void shouldTakeTheRefusalOfThePortForAllThatConnectToIt() throws Exception {
        TransportContext context = context("connect.timeout=1h");
        verbs.faults().delay(CmMessage.REJ, NEVER);
        try (DualListener listener = listen(context, OTHER_PORT)) {
            List<Connection> refused = connect(COUNT, context, new InetSocketAddress(served, PORT));
            List<Connection> others = connect(3, context, new InetSocketAddress(served, OTHER_PORT));
            awaitRequest();
            verbs.faults().delay(CmMessage.REJ, 0);
            while (!refused.get(0).isDecided()) {
                verbs.expireTimeouts();
            }
            assertAllOverRdma(others);
            for (Connection each : refused) {
                assertNull(each.result());
            }
            assertEquals(COUNT, tcp(context, TcpReason.REFUSED));
            assertEquals(1 + 2 * others.size(), verbs.qpsMade());
            awaitReady(listener);
        }
    }

    @Test
    void shouldFindOutOnceThatNoDeviceServesTheAddress() throws Exception {
        TransportContext context = context("connect.timeout=1h");
        InetSocketAddress nowhere = new InetSocketAddress("127.0.0.9", PORT);
        connect(COUNT, context, nowhere);
        for (Connection each : connections) {
            assertNull(each.result());
        }
        assertEquals(COUNT, tcp(context, TcpReason.NO_DEVICE));
        assertEquals(0, verbs.qpsMade());
    }

    // ---- where nobody is to wait for another ----

    @Test
    void shouldLetEachAskForItselfWhereNothingIsToBeRemembered() throws Exception {
        TransportContext context = context("connect.timeout=50ms,memory.unanswered=0");
        connect(20, context, new InetSocketAddress(silent, PORT));
        for (Connection each : connections) {
            assertNull(each.result());
        }
        assertEquals(20, verbs.qpsMade());
        assertEquals(20, tcp(context, TcpReason.TIMEOUT));
    }

    @Test
    void shouldLetEachAskForItselfWhereRdmaIsWanted() throws Exception {
        TransportContext context = context("policy=rdma");
        connect(20, context, new InetSocketAddress(silent, PORT));
        while (verbs.qpsMade() < 20) {
            Thread.onSpinWait();
        }
    }
}
