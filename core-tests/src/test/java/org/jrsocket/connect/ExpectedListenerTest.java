/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.connect;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.FutureTask;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jrsocket.os.Errno;
import org.jrsocket.os.ErrnoException;
import org.jrsocket.stream.PendingConnect;
import org.jrsocket.stream.RdmaStream;
import org.jrsocket.stream.RdmaTransport;
import org.jrsocket.stream.StreamConfig;
import org.jrsocket.verbs.VerbsUnavailableException;
import org.jrsocket.verbs.VerbsUnavailableException.Reason;
import org.jrsocket.verbs.loopback.LoopbackProvider;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A socket that listens before its host has RDMA. */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class ExpectedListenerTest {

    private static final String LATE = "device.late=on";
    private static final int PORT = 7000;

    private final InetSocketAddress everywhere = new InetSocketAddress(PORT);
    private final FakeRdma rdma = new FakeRdma();
    private LoopbackProvider verbs;
    private RdmaTransport transport;

    @BeforeEach
    void open() throws IOException {
        verbs = new LoopbackProvider();
        transport = RdmaTransport.over(verbs);
        rdma.listenFailure = missing(Reason.NO_DEVICE);
    }

    @AfterEach
    void close() {
        transport.close();
        verbs.assertClean();
        verbs.close();
    }

    private static VerbsUnavailableException missing(Reason reason) {
        return new VerbsUnavailableException(reason, "as the test wants", null);
    }

    private DualListener listen(String settings, InetSocketAddress at) throws Exception {
        return DualListener.open(context(settings), FakePort.given(at), 16, StreamConfig.DEFAULT);
    }

    private TransportContext context(String settings) throws ConfigurationException {
        return new TransportContext(Settings.read(settings, new Properties(), Map.of()), Rules.NONE, rdma);
    }

    /** From now on there is a device. */
    private void plugIn() throws IOException {
        rdma.listener = transport.listen(everywhere, 16, StreamConfig.DEFAULT);
        rdma.listenFailure = null;
    }

    private void look() {
        assertEquals(1, rdma.scheduled.size(), "one look is due");
        rdma.scheduled.remove(0).run();
    }

    private RdmaStream connect() throws IOException {
        InetSocketAddress server = new InetSocketAddress(InetAddress.getLoopbackAddress(), PORT);
        return transport
                .connect(null, server, StreamConfig.DEFAULT, PendingConnect.Observer.NONE)
                .await(0);
    }

    private void assertGetsClients(DualListener listener) throws IOException {
        try (RdmaStream client = connect()) {
            while (!listener.fetch()) {
                Thread.onSpinWait();
            }
            assertNotNull(client);
        }
    }

    @Test
    void shouldListenOverRdmaOnceThereIsADevice() throws Exception {
        Semaphore told = new Semaphore(0);
        try (DualListener listener = listen(LATE, everywhere)) {
            listener.observe(told::release);
            look();
            assertFalse(listener.fetch());
            plugIn();
            look();
            assertEquals(List.of(), rdma.scheduled, "it has found what it looked for");
            for (int i = 0; i < 2; i++) {
                try (RdmaStream client = connect()) {
                    told.acquire();
                    RdmaStream accepted = (RdmaStream) listener.acceptNow(new Taking(null));
                    assertEquals(client.localAddress(), accepted.remoteAddress());
                    accepted.close();
                }
            }
        }
        assertThrows(IOException.class, this::connect);
    }

    /** A client that was there before the acceptor could be told of it. */
    @Test
    void shouldTellOfAConnectionThatCameAsItBeganToListen() throws Exception {
        Semaphore told = new Semaphore(0);
        try (DualListener listener = listen(LATE, everywhere)) {
            listener.observe(told::release);
            plugIn();
            Semaphore established = new Semaphore(0);
            rdma.listener.onReady(established::release);
            try (RdmaStream client = connect()) {
                established.acquire();
                look();
                assertTrue(told.tryAcquire());
                RdmaStream accepted = (RdmaStream) listener.acceptNow(new Taking(null));
                assertEquals(client.localAddress(), accepted.remoteAddress());
                accepted.close();
            }
        }
    }

    @Test
    void shouldAcceptOverTcpMeanwhile() throws Exception {
        try (DualListener listener = listen(LATE, everywhere)) {
            assertSame(rdma, listener.acceptNow(new Taking(rdma)));
            assertFalse(listener.isRdmaAlone());
        }
    }

    @Test
    void shouldStayOnTcpWhereNoDeviceIsExpectedToReachIt() throws Exception {
        assertNull(listen(null, everywhere));
        assertNull(listen(LATE, new InetSocketAddress(InetAddress.getLoopbackAddress(), PORT)));
        for (Reason never : new Reason[] {Reason.PLATFORM, Reason.CLOSED}) {
            rdma.listenFailure = missing(never);
            assertNull(listen(LATE, everywhere));
        }
        rdma.listenFailure = new ErrnoException("rdma_bind_addr", "", Errno.ENODEV);
        assertNull(listen(LATE, everywhere));
        assertEquals(List.of(), rdma.scheduled);
    }

    @Test
    void shouldStayOnTcpWhereNobodyCanLook() throws Exception {
        rdma.unavailable = missing(Reason.LIBRARY);
        assertNull(listen(LATE, everywhere));
    }

    @Test
    void shouldOpenNothingOfRdmaWhileThePolicySaysTcp() throws Exception {
        TransportContext context = context(LATE);
        try (DualListener listener = DualListener.open(context, FakePort.given(everywhere), 16, StreamConfig.DEFAULT)) {
            plugIn();
            context.override(Policy.TCP);
            rdma.listenFailure = new IOException("it was asked for");
            look();
            context.override(null);
            rdma.listenFailure = null;
            look();
            assertGetsClients(listener);
        }
    }

    @Test
    void shouldListenOverRdmaOnceThePolicyAllowsIt() throws Exception {
        TransportContext context = context("policy=tcp," + LATE);
        try (DualListener listener = DualListener.open(context, FakePort.given(everywhere), 16, StreamConfig.DEFAULT)) {
            plugIn();
            rdma.listenFailure = new IOException("it was asked for");
            look();
            context.override(Policy.RDMA);
            rdma.listenFailure = null;
            look();
            assertFalse(listener.isRdmaAlone(), "its TCP clients stay welcome");
            assertGetsClients(listener);
        }
    }

    @Test
    void shouldStayOnTcpWhereNoPolicyChangesThat() throws Exception {
        assertNull(listen("policy=tcp", everywhere));
        assertNull(listen("listen=off," + LATE, everywhere));
        assertEquals(List.of(), rdma.scheduled);
    }

    @Test
    void shouldWaitForThePortIfSomebodyElseHasItByThen() throws Exception {
        try (DualListener listener = listen(LATE, everywhere)) {
            plugIn();
            rdma.listenFailure = new ErrnoException("rdma_bind_addr", "", Errno.EADDRINUSE);
            look();
            assertNotNull(rdma.patience, "waits");
            assertEquals(List.of(), rdma.scheduled);
            assertFalse(listener.fetch());
        }
    }

    @Test
    void shouldLookAgainWhateverKeepsItFromListening() throws Exception {
        try (DualListener listener = listen(LATE, everywhere)) {
            for (IOException each : List.of(
                    new ErrnoException("rdma_bind_addr", "", Errno.ENODEV),
                    new ErrnoException("rdma_create_id", "", Errno.ENOMEM),
                    missing(Reason.PERMISSION))) {
                rdma.listenFailure = each;
                look();
            }
            rdma.atListen = () -> {
                throw new IllegalStateException("odd");
            };
            assertThrows(IllegalStateException.class, this::look); // which the service thread logs
            rdma.atListen = () -> {};
            plugIn();
            look();
            assertEquals(List.of(), rdma.scheduled);
            assertFalse(listener.fetch());
        }
    }

    @Test
    void shouldEndTheLookAtTheClose() throws Exception {
        DualListener listener = listen(LATE, everywhere);
        assertEquals(1, rdma.scheduled.size());
        listener.close();
        listener.close();
        assertEquals(List.of(), rdma.scheduled);
    }

    @Test
    void shouldFreeThePortIfItIsClosedAsItBeginsToListen() throws Exception {
        DualListener listener = listen(LATE, everywhere);
        plugIn();
        rdma.atListen = listener::close;
        look();
        assertEquals(List.of(), rdma.scheduled);
        transport.listen(everywhere, 1, StreamConfig.DEFAULT).close();
    }

    @Test
    void shouldNotLookAfterTheEndOfRdma() throws Exception {
        try (DualListener listener = listen(LATE, everywhere)) {
            rdma.over = true;
            look();
            assertEquals(List.of(), rdma.scheduled);
            assertFalse(listener.fetch());
        }
        listen(LATE, everywhere).close(); // it ended in the meantime
        assertEquals(List.of(), rdma.scheduled);
    }

    /** The JDK's own accept would not notice anything. */
    @Test
    void shouldGoOnAcceptingOverTcpAfterTheEndOfRdma() throws Exception {
        TransportHolder holder = TransportHolder.unavailable(missing(Reason.NO_DEVICE));
        TransportContext context =
                new TransportContext(Settings.read(LATE, new Properties(), Map.of()), Rules.NONE, holder);
        AtomicBoolean come = new AtomicBoolean();
        try (DualListener listener = DualListener.open(context, FakePort.given(everywhere), 16, StreamConfig.DEFAULT)) {
            FutureTask<Object> accepting = new FutureTask<>(() -> listener.accept(
                    new DualListener.Acceptor<Object>() {
                        @Override
                        public Object takeTcp() {
                            return come.get() ? come : null;
                        }

                        @Override
                        public Object adopt(RdmaStream stream) {
                            return stream;
                        }
                    },
                    0));
            Thread thread = new Thread(accepting, "accept");
            thread.start();
            while (thread.getState() != Thread.State.TIMED_WAITING) {
                Thread.onSpinWait();
            }
            holder.close();
            come.set(true);
            assertSame(come, accepting.get(30, TimeUnit.SECONDS));
        }
    }

    @Test
    void shouldLeaveAPortAloneWhoseWildcardSomebodyElseHas() throws Exception {
        InetSocketAddress one = new InetSocketAddress(InetAddress.getByName("192.0.2.1"), PORT);
        try (DualListener listener = listen(LATE, one)) {
            rdma.listenFailure = new ErrnoException("rdma_bind_addr", "", Errno.EADDRNOTAVAIL);
            look();
            assertNull(rdma.patience, "does not wait");
            assertEquals(List.of(), rdma.scheduled);
            assertFalse(listener.fetch());
        }
    }

    /** @param tcp what waits over TCP, or null */
    private record Taking(Object tcp) implements DualListener.Acceptor<Object> {

        @Override
        public Object takeTcp() {
            return tcp;
        }

        @Override
        public Object adopt(RdmaStream stream) {
            return stream;
        }
    }
}
