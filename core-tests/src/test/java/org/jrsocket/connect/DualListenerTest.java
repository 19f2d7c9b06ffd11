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
import java.net.BindException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.FutureTask;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.jrsocket.stream.PendingConnect;
import org.jrsocket.stream.RdmaListener;
import org.jrsocket.stream.RdmaStream;
import org.jrsocket.stream.RdmaTransport;
import org.jrsocket.stream.StreamConfig;
import org.jrsocket.verbs.VerbsUnavailableException;
import org.jrsocket.verbs.loopback.LoopbackProvider;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Which port both transports get, and whose connection is accepted next. */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class DualListenerTest {

    private static final int BACKLOG = 16;

    private final List<RdmaListener> taken = new ArrayList<>();
    private final List<RdmaStream> clients = new ArrayList<>();
    private LoopbackProvider verbs;
    private RdmaTransport transport;
    private InetSocketAddress first;

    @BeforeEach
    void open() throws IOException {
        verbs = new LoopbackProvider();
        transport = RdmaTransport.over(verbs);
        first = new InetSocketAddress(InetAddress.getByName("127.0.0.1"), 7000);
    }

    @AfterEach
    void close() {
        taken.forEach(RdmaListener::close);
        transport.close();
        verbs.assertClean();
        verbs.close();
    }

    private TransportContext context(String settings, String... rules) throws ConfigurationException {
        return new TransportContext(
                Settings.read(settings, new Properties(), Map.of()),
                rules.length == 0 ? Rules.NONE : RulesFile.parse("rules", List.of(rules)),
                TransportHolder.of(transport));
    }

    /** Somebody else has the first ports over RDMA. */
    private void take(int ports) throws IOException {
        for (int i = 0; i < ports; i++) {
            taken.add(transport.listen(
                    new InetSocketAddress(first.getAddress(), first.getPort() + i), 1, StreamConfig.DEFAULT));
        }
    }

    private static DualListener listen(TransportContext context, TcpPort port) throws IOException {
        return DualListener.open(context, port, BACKLOG, StreamConfig.DEFAULT);
    }

    // ---- ports ----

    @Test
    void shouldChangeAPortOfTcpsChoiceUntilRdmaCanHaveItToo() throws Exception {
        take(7);
        FakePort port = FakePort.any(first);
        try (DualListener listener = listen(context(null), port)) {
            assertFalse(listener.isRdmaAlone());
        }
        assertEquals(7, port.changes);
    }

    @Test
    void shouldWaitForTheLastPortWhenEightWereTaken() throws Exception {
        take(8);
        FakePort port = FakePort.any(first);
        listen(context(null), port).close();
        assertEquals(7, port.changes);
    }

    @Test
    void shouldNotChangeAPortThatWasAskedFor() throws Exception {
        take(1);
        FakePort port = FakePort.given(first);
        listen(context(null), port).close();
        assertThrows(BindException.class, () -> listen(context("policy=rdma"), port));
        assertEquals(0, port.changes);
    }

    /** As TCP lets it: a process without IPv6 may have the port at each of its addresses. */
    @Test
    void shouldShareAPortWithTheWildcardOfTheOtherFamily() throws Exception {
        taken.add(transport.listen(new InetSocketAddress("0.0.0.0", 7000), 1, StreamConfig.DEFAULT));
        InetSocketAddress six = new InetSocketAddress("::1", 7000);
        taken.add(transport.listen(six, 1, StreamConfig.DEFAULT));
        assertEquals(six, taken.get(1).localAddress());
    }

    @Test
    void shouldFollowTheRuleOfEachPortThatIsTried() throws Exception {
        take(1);
        FakePort port = FakePort.any(first);
        assertNull(listen(context("policy=rdma", "bind * 7001 tcp"), port));
        FakePort next = FakePort.any(first);
        try (DualListener listener = listen(context("policy=auto", "bind * 7001 rdma"), next)) {
            assertTrue(listener.isRdmaAlone());
        }
    }

    /** Its clients would be refused, though all that is new is to use TCP. */
    @Test
    void shouldNotBeThereForRdmaAloneWhileAnOverrideSaysTcp() throws Exception {
        TransportContext context = context("policy=rdma");
        try (DualListener listener = listen(context, FakePort.given(first))) {
            assertTrue(listener.isRdmaAlone());
            context.override(Policy.TCP);
            assertFalse(listener.isRdmaAlone());
        }
    }

    // ---- accepting ----

    /** TCP connections are numbers. */
    private static final class Numbers implements DualListener.Acceptor<Object> {
        private int waiting;
        private int looks; // before the first is there
        private boolean broken;

        @Override
        public Object takeTcp() throws IOException {
            if (broken) {
                throw new SocketException("too many open files");
            }
            return looks-- <= 0 && waiting > 0 ? waiting-- : null;
        }

        @Override
        public Object adopt(RdmaStream stream) {
            return stream;
        }
    }

    /** Listens where so many RDMA connections wait. */
    private DualListener listenWithClients(int count) throws Exception {
        Queue<RdmaStream> established = new ArrayDeque<>();
        Semaphore ready = new Semaphore(0);
        RdmaListener real = transport.listen(first, BACKLOG, StreamConfig.DEFAULT);
        taken.add(real);
        real.onReady(ready::release);
        for (int i = 0; i < count; i++) {
            clients.add(transport
                    .connect(null, first, StreamConfig.DEFAULT, PendingConnect.Observer.NONE)
                    .await(0));
            ready.acquire();
            established.add(real.poll());
        }
        FakeRdma rdma = new FakeRdma();
        rdma.listener = new RdmaListener() {
            @Override
            public InetSocketAddress localAddress() {
                return first;
            }

            @Override
            public RdmaStream poll() {
                return established.poll();
            }

            @Override
            public void onReady(Runnable action) {
                // nothing comes later
            }

            @Override
            public void close() {
                established.forEach(RdmaStream::abort);
            }
        };
        Settings settings = Settings.read(null, new Properties(), Map.of());
        return listen(new TransportContext(settings, Rules.NONE, rdma), FakePort.given(first));
    }

    @Test
    void shouldTakeTurnsWhenBothHaveConnections() throws Exception {
        try (DualListener listener = listenWithClients(3)) {
            Numbers acceptor = new Numbers();
            acceptor.waiting = 3;
            List<String> order = new ArrayList<>();
            for (int i = 0; i < 6; i++) {
                order.add(listener.accept(acceptor, 0) instanceof RdmaStream ? "RDMA" : "TCP");
            }
            assertEquals(List.of("RDMA", "TCP", "RDMA", "TCP", "RDMA", "TCP"), order);
            assertNull(listener.acceptNow(acceptor));
        }
    }

    @Test
    void shouldGoOnOverRdmaWhenAcceptingOverTcpFails() throws Exception {
        try (DualListener listener = listenWithClients(2)) {
            Numbers acceptor = new Numbers();
            assertNotNull(listener.acceptNow(acceptor));
            acceptor.broken = true;
            assertThrows(SocketException.class, () -> listener.acceptNow(acceptor));
            assertNotNull(listener.acceptNow(acceptor));
        }
    }

    @Test
    void shouldTakeNothingAwayByLooking() throws Exception {
        try (DualListener listener = listenWithClients(1)) {
            assertTrue(listener.fetch());
            assertTrue(listener.fetch());
            assertNotNull(listener.acceptNow(new Numbers()));
            assertFalse(listener.fetch());
        }
    }

    @Test
    void shouldResetAConnectionThatTheSocketCannotTake() throws Exception {
        try (DualListener listener = listenWithClients(1)) {
            DualListener.Acceptor<Object> closed = new DualListener.Acceptor<>() {
                @Override
                public Object takeTcp() {
                    return null;
                }

                @Override
                public Object adopt(RdmaStream stream) throws IOException {
                    throw new SocketException("Socket closed");
                }
            };
            assertThrows(SocketException.class, () -> listener.accept(closed, 0));
            assertThrows(
                    SocketException.class, () -> clients.get(0).read(new byte[1], 0, 1, TimeUnit.MINUTES.toNanos(1)));
        }
    }

    /** Nobody else knows of it any more. */
    @Test
    void shouldResetAtTheCloseWhatSomebodyHasSeenWaiting() throws Exception {
        DualListener listener = listenWithClients(2);
        assertTrue(listener.fetch());
        listener.close();
        assertFalse(listener.fetch());
        assertThrows(SocketException.class, () -> clients.get(0).read(new byte[1], 0, 1, TimeUnit.MINUTES.toNanos(1)));
    }

    /** Over RDMA nothing ever comes. */
    private DualListener listenOver(FakeRdma rdma) throws Exception {
        rdma.listener = new RdmaListener() {
            @Override
            public InetSocketAddress localAddress() {
                return first;
            }

            @Override
            public RdmaStream poll() {
                return null;
            }

            @Override
            public void onReady(Runnable action) {
                // never
            }

            @Override
            public void close() {
                // nothing waits
            }
        };
        Settings settings = Settings.read(null, new Properties(), Map.of());
        return listen(new TransportContext(settings, Rules.NONE, rdma), FakePort.given(first));
    }

    /** So many looks find nothing, so it has to wait, and to ask anew, more often than a wake-up may be left over. */
    @Test
    void shouldBeWokenByTcpAsOftenAsItWaits() throws Exception {
        FakeRdma rdma = new FakeRdma();
        rdma.watching = readable -> readable; // before arming has returned
        Numbers acceptor = new Numbers();
        acceptor.waiting = 1;
        acceptor.looks = 5;
        DualListener listener = listenOver(rdma);
        listener.watchTcp(1);
        listener.watchTcp(1);
        assertEquals(1, rdma.watches);
        assertEquals(1, listener.accept(acceptor, 0));
        listener.close();
        assertEquals(0, rdma.watches);
        listener.watchTcp(1);
        assertEquals(0, rdma.watches);
    }

    /** Else it would wait beside a TCP connection of which nobody tells it. */
    @Test
    void shouldAskAgainForTcpConnectionsWhenAskingHasFailed() throws Exception {
        FakeRdma rdma = new FakeRdma();
        AtomicInteger asked = new AtomicInteger();
        rdma.watching = readable -> () -> {
            if (asked.incrementAndGet() == 1) {
                throw new OutOfMemoryError("says a test");
            }
        };
        try (DualListener listener = listenOver(rdma)) {
            listener.watchTcp(1);
            assertThrows(OutOfMemoryError.class, () -> listener.await(1));
            listener.await(1);
            listener.await(1);
            assertEquals(2, asked.get());
        }
    }

    /** No service thread tells of them then. */
    @Test
    void shouldLookForTcpConnectionsAfterTheEndOfRdma() throws Exception {
        FakeRdma rdma = new FakeRdma();
        rdma.over = true;
        try (DualListener listener = listenOver(rdma)) {
            listener.watchTcp(1);
            for (long nanos : new long[] {0, TimeUnit.HOURS.toNanos(1)}) {
                Numbers acceptor = new Numbers();
                acceptor.waiting = 1;
                acceptor.looks = 3;
                assertEquals(1, listener.accept(acceptor, nanos));
            }
        }
    }

    /** A device whose firmware hangs may hold up the service thread, which would tell of them, for a minute. */
    @Test
    void shouldLookForTcpConnectionsOfWhichNobodyTells() throws Exception {
        FakeRdma rdma = new FakeRdma();
        rdma.watching = readable -> () -> {};
        try (DualListener listener = listenOver(rdma)) {
            listener.watchTcp(1);
            for (long nanos : new long[] {0, TimeUnit.HOURS.toNanos(1)}) {
                Numbers acceptor = new Numbers();
                acceptor.waiting = 1;
                acceptor.looks = 2;
                assertEquals(1, listener.accept(acceptor, nanos));
            }
        }
    }

    /** It may have been open when the descriptor was to be watched. */
    @Test
    void shouldDoWithoutAWatchWhereRdmaHasJustEnded() throws Exception {
        FakeRdma rdma = new FakeRdma();
        try (DualListener listener = listenOver(rdma)) {
            rdma.unavailable = new VerbsUnavailableException(
                    VerbsUnavailableException.Reason.NO_DEVICE, "as the test wants", null);
            assertThrows(VerbsUnavailableException.class, () -> listener.watchTcp(1));
            rdma.atService = () -> rdma.over = true;
            listener.watchTcp(1);
        }
    }

    @Test
    void shouldEndAWaitThatHasBegun() throws Exception {
        DualListener listener = listenOver(new FakeRdma());
        FutureTask<Object> waiting =
                new FutureTask<>(() -> assertThrows(SocketException.class, () -> listener.accept(new Numbers(), 0)));
        Thread thread = new Thread(waiting, "accept");
        thread.start();
        while (thread.getState() != Thread.State.TIMED_WAITING && thread.isAlive()) {
            Thread.onSpinWait();
        }
        assertTrue(thread.isAlive(), "it does not wait");
        listener.close();
        waiting.get(30, TimeUnit.SECONDS);
    }

    @Test
    void shouldTellWhoDoesNotWaitOfTheClose() throws Exception {
        DualListener listener = listenOver(new FakeRdma());
        Semaphore told = new Semaphore(0);
        listener.observe(told::release);
        listener.close();
        assertEquals(1, told.availablePermits());
    }

    @Test
    void shouldEndTheWaitAtItsTimeAndAtTheClose() throws Exception {
        DualListener listener = listen(context(null), FakePort.given(first));
        assertThrows(SocketTimeoutException.class, () -> listener.accept(new Numbers(), 1));
        CompletableFuture<Object> waiting = CompletableFuture.supplyAsync(
                () -> assertThrows(SocketException.class, () -> listener.accept(new Numbers(), 0))
                        .getMessage());
        listener.close();
        assertEquals("Socket closed", waiting.get(60, TimeUnit.SECONDS));
        assertFalse(listener.fetch());
    }
}
