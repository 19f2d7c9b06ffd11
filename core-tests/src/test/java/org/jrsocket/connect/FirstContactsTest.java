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

    private TransportContext stack(String settings) throws Exception {
        return new TransportContext(
                Settings.read(settings, new Properties(), Map.of()), Rules.NONE, TransportHolder.of(transport));
    }

    private Connection connect(TransportContext stack, InetSocketAddress to, long timeoutMillis) throws IOException {
        Connection connection = new Connection(stack.connector()
                .attempt(null, to, StreamConfig.DEFAULT, TimeUnit.MILLISECONDS.toNanos(timeoutMillis)));
        connections.add(connection);
        return connection;
    }

    private List<Connection> connect(int count, TransportContext stack, InetSocketAddress to) throws IOException {
        List<Connection> made = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            made.add(connect(stack, to, 0));
        }
        return made;
    }

    private DualListener listen(TransportContext stack, int port) throws IOException {
        return DualListener.open(
                stack, FakePort.given(new InetSocketAddress(served, port)), COUNT, StreamConfig.DEFAULT);
    }

    private void awaitRequest() {
        while (verbs.qpsMade() == 0) {
            Thread.onSpinWait();
        }
    }

    private static long tcp(TransportContext stack, TcpReason reason) {
        return stack.counts().tcpChosen(reason);
    }

    private static void assertOneSilence(TransportContext stack) {
        List<PeerState> remembered = stack.remembered();
        assertEquals(1, remembered.size(), remembered::toString);
        assertEquals(PeerState.Kind.SILENT, remembered.get(0).kind());
        assertTrue(remembered.get(0).avoidedNanos() <= PeerMemory.FIRST_PAUSE_NANOS, remembered::toString);
    }

    // ---- silence ----

    @Test
    void shouldMakeOneQueuePairForASilentHost() throws Exception {
        TransportContext stack = stack("connect.timeout=100ms");
        connect(COUNT, stack, new InetSocketAddress(silent, PORT));
        for (Connection each : connections) {
            assertNull(each.result());
        }
        assertEquals(1, verbs.qpsMade());
        assertEquals(COUNT, tcp(stack, TcpReason.TIMEOUT) + tcp(stack, TcpReason.REMEMBERED));
        assertOneSilence(stack);
    }

    @Test
    void shouldRememberOneSilenceOfAHostToWhichNoRouteIsFoundInTime() throws Exception {
        TransportContext stack = stack("connect.timeout=10ms");
        verbs.place(silent, Reachability.UNRESOLVED);
        connect(COUNT, stack, new InetSocketAddress(silent, PORT));
        for (Connection each : connections) {
            assertNull(each.result());
        }
        assertEquals(0, verbs.qpsMade());
        assertEquals(1, tcp(stack, TcpReason.UNRESOLVED));
        assertEquals(COUNT - 1, tcp(stack, TcpReason.TIMEOUT) + tcp(stack, TcpReason.REMEMBERED));
        assertOneSilence(stack);
    }

    @Test
    void shouldGoOnWithoutRdmaWithTheFirstThatFindsNoRoute() throws Exception {
        TransportContext stack = stack("connect.timeout=1h");
        verbs.place(silent, Reachability.NO_ROUTE);
        connect(COUNT, stack, new InetSocketAddress(silent, PORT));
        for (Connection each : connections) {
            assertNull(each.result());
        }
        assertOneSilence(stack);
    }

    /** Its own timers hold for one that waits, and for the first. */
    @Test
    void shouldNotKeepAConnectionLongerThanItsOwnTime() throws Exception {
        TransportContext stack = stack("connect.timeout=1h");
        InetSocketAddress host = new InetSocketAddress(silent, PORT);
        Connection first = connect(stack, host, 0);
        Connection patient = connect(stack, host, 0);
        assertNull(connect(stack, host, 20).result());
        assertFalse(first.isDecided());
        assertFalse(patient.isDecided());
        awaitRequest();
        assertEquals(1, verbs.qpsMade());
        assertEquals(0, tcp(stack, TcpReason.UNRESOLVED));
    }

    /** Nothing that comes from the peer concerns it. */
    @Test
    void shouldNotNeedTheServiceThreadToEndTheWaitOfAThread() throws Exception {
        TransportContext stack = stack("connect.timeout=1h");
        InetSocketAddress host = new InetSocketAddress(silent, PORT);
        CountDownLatch later = new CountDownLatch(1);
        transport.service().execute(() -> await(later));
        connect(stack, host, 0);
        ConnectAttempt impatient =
                stack.connector().attempt(null, host, StreamConfig.DEFAULT, TimeUnit.MILLISECONDS.toNanos(20));
        assertNull(impatient.await());
        impatient.reportTcpOutcome(null);
        ConnectAttempt cancelled = stack.connector().attempt(null, host, StreamConfig.DEFAULT, 0);
        cancelled.cancel();
        assertThrows(SocketException.class, cancelled::await);
        later.countDown();
        assertEquals(1, tcp(stack, TcpReason.TIMEOUT));
    }

    @Test
    void shouldEndOneThatWaitsWhenItIsCancelled() throws Exception {
        TransportContext stack = stack("connect.timeout=1h");
        InetSocketAddress host = new InetSocketAddress(silent, PORT);
        Connection first = connect(stack, host, 0);
        Connection second = connect(stack, host, 0);
        second.attempt.cancel();
        assertThrows(SocketException.class, second::result);
        assertFalse(first.isDecided());
        assertTrue(verbs.qpsMade() <= 1);
    }

    /** A host that took a connection over RDMA, and is silent now. */
    private InetSocketAddress fallenSilent(TransportContext stack) throws Exception {
        InetSocketAddress host = new InetSocketAddress("127.0.0.5", PORT);
        verbs.serve(host.getAddress(), verbs.device());
        try (DualListener listener = DualListener.open(stack, FakePort.given(host), COUNT, StreamConfig.DEFAULT)) {
            assertAllOverRdma(connect(1, stack, host));
            awaitReady(listener);
        }
        verbs.place(host.getAddress(), Reachability.SILENT);
        return host;
    }

    /** All use TCP at once: nothing is made for them. */
    private void assertSpared(TransportContext stack, InetSocketAddress host) throws Exception {
        int made = verbs.qpsMade();
        long remembered = tcp(stack, TcpReason.REMEMBERED);
        for (int i = 0; i < COUNT; i++) {
            assertNull(connect(stack, host, 0).result());
        }
        assertEquals(made, verbs.qpsMade());
        assertEquals(remembered + COUNT, tcp(stack, TcpReason.REMEMBERED));
    }

    @Test
    void shouldHaveOneConnectionWaitForAHostThatHasAnsweredAndFallsSilent() throws Exception {
        TransportContext stack = stack("connect.timeout=20ms");
        InetSocketAddress host = fallenSilent(stack);
        int made = verbs.qpsMade();
        assertNull(connect(stack, host, 0).result());
        assertEquals(made + 1, verbs.qpsMade());
        assertEquals(1, tcp(stack, TcpReason.TIMEOUT));
        assertOneSilence(stack);
        assertSpared(stack, host);
    }

    /** Each asks, since the host has answered others; what they learn together is one silence. */
    @Test
    void shouldTakeNoteOfOneSilenceWhenManyConnectAtOnceToAHostThatHasAnswered() throws Exception {
        TransportContext stack = stack("connect.timeout=20ms");
        InetSocketAddress host = fallenSilent(stack);
        for (Connection each : connect(COUNT, stack, host)) {
            assertNull(each.result());
        }
        assertEquals(COUNT, tcp(stack, TcpReason.TIMEOUT) + tcp(stack, TcpReason.REMEMBERED));
        assertOneSilence(stack);
        assertSpared(stack, host);
    }

    // ---- answers ----

    @Test
    void shouldUseRdmaForAllToAHostThatAnswers() throws Exception {
        TransportContext stack = stack("connect.timeout=1h");
        verbs.faults().delay(CmMessage.REP, NEVER);
        try (DualListener listener = listen(stack, PORT)) {
            connect(COUNT, stack, new InetSocketAddress(served, PORT));
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
        while (!listener.isReady()) {
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
        TransportContext stack = stack("connect.timeout=1h");
        try (DualListener listener = listen(stack, PORT)) {
            assertAllOverRdma(connect(1, stack, new InetSocketAddress(served, PORT)));
            verbs.faults().delay(CmMessage.REP, NEVER);
            connect(20, stack, new InetSocketAddress(served, PORT));
            while (verbs.qpsMade() < 2 + 2 * 20) { // and none waits for another
                Thread.onSpinWait();
            }
            awaitReady(listener);
        }
    }

    @Test
    void shouldUseTheAnswerToAFirstThatWasClosedMeanwhile() throws Exception {
        TransportContext stack = stack("connect.timeout=1h");
        verbs.faults().delay(CmMessage.REP, NEVER);
        try (DualListener listener = listen(stack, PORT)) {
            Connection first = connect(stack, new InetSocketAddress(served, PORT), 0);
            List<Connection> others = connect(5, stack, new InetSocketAddress(served, PORT));
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
        TransportContext stack = stack("connect.timeout=1h");
        CountDownLatch busy = new CountDownLatch(1);
        CountDownLatch later = new CountDownLatch(1);
        try (DualListener listener = listen(stack, PORT)) {
            transport.service().execute(() -> {
                busy.countDown();
                await(later);
            });
            await(busy); // so the first cannot get so far, nor make a queue pair
            Connection first = connect(stack, new InetSocketAddress(served, PORT), 0);
            List<Connection> others = connect(5, stack, new InetSocketAddress(served, PORT));
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
        TransportContext stack = stack("connect.timeout=1h");
        verbs.faults().delay(CmMessage.REJ, NEVER);
        try (DualListener listener = listen(stack, OTHER_PORT)) {
            List<Connection> refused = connect(COUNT, stack, new InetSocketAddress(served, PORT));
            List<Connection> others = connect(3, stack, new InetSocketAddress(served, OTHER_PORT));
            awaitRequest();
            verbs.faults().delay(CmMessage.REJ, 0);
            while (!refused.get(0).isDecided()) {
                verbs.expireTimeouts();
            }
            assertAllOverRdma(others);
            for (Connection each : refused) {
                assertNull(each.result());
            }
            assertEquals(COUNT, tcp(stack, TcpReason.REFUSED));
            assertEquals(1 + 2 * others.size(), verbs.qpsMade());
            awaitReady(listener);
        }
    }

    @Test
    void shouldFindOutOnceThatNoDeviceServesTheAddress() throws Exception {
        TransportContext stack = stack("connect.timeout=1h");
        InetSocketAddress nowhere = new InetSocketAddress("127.0.0.9", PORT);
        connect(COUNT, stack, nowhere);
        for (Connection each : connections) {
            assertNull(each.result());
        }
        assertEquals(COUNT, tcp(stack, TcpReason.NO_DEVICE));
        assertEquals(0, verbs.qpsMade());
    }

    // ---- where nobody is to wait for another ----

    @Test
    void shouldLetEachAskForItselfWhereNothingIsToBeRemembered() throws Exception {
        TransportContext stack = stack("connect.timeout=50ms,memory.unanswered=0");
        connect(20, stack, new InetSocketAddress(silent, PORT));
        for (Connection each : connections) {
            assertNull(each.result());
        }
        assertEquals(20, verbs.qpsMade());
        assertEquals(20, tcp(stack, TcpReason.TIMEOUT));
    }

    @Test
    void shouldLetEachAskForItselfWhereRdmaIsWanted() throws Exception {
        TransportContext stack = stack("policy=rdma");
        connect(20, stack, new InetSocketAddress(silent, PORT));
        while (verbs.qpsMade() < 20) {
            Thread.onSpinWait();
        }
    }
}
