/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.connect;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.NoRouteToHostException;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jrsocket.HopelessError;
import org.jrsocket.stream.RdmaConnectException;
import org.jrsocket.stream.RdmaConnectException.Reason;
import org.jrsocket.stream.StreamConfig;
import org.junit.jupiter.api.Test;

/** The turn of TCP when RDMA does not come about. */
class OutgoingConnectionTest {

    private static final InetSocketAddress PEER = new InetSocketAddress("10.0.0.1", 80);
    private static final InetSocketAddress LOCAL = new InetSocketAddress("10.0.0.2", 1080);
    private final IOException down = new NoRouteToHostException("No route to host");

    private final FakeRdma rdma = new FakeRdma();
    private final FakeTcp tcp = new FakeTcp();

    /** A TCP socket that answers as the test wants. */
    private static final class FakeTcp implements OutgoingConnection.Tcp {
        private boolean blocking = true;
        private boolean arrived;
        private IOException failure;
        private Error error;
        private int connects;
        private int millis = -1;

        @Override
        public boolean connect(int left) throws IOException {
            connects++;
            millis = left;
            if (error != null) {
                throw error;
            }
            return blocking && finish();
        }

        @Override
        public boolean finish() throws IOException {
            if (failure != null) {
                throw failure;
            }
            return blocking || arrived;
        }

        @Override
        public InetSocketAddress localAddress() {
            return LOCAL;
        }
    }

    private static TransportContext context(FakeRdma rdma, String settings) throws ConfigurationException {
        return new TransportContext(Settings.read(settings, new Properties(), Map.of()), Rules.NONE, rdma);
    }

    private OutgoingConnection connect(TransportContext context, long millis) throws IOException {
        return context.connector()
                .connect(null, PEER, StreamConfig.DEFAULT, TimeUnit.MILLISECONDS.toNanos(millis), tcp);
    }

    @Test
    void shouldGiveTcpWhatIsLeftOfTheCallersTime() throws Exception {
        OutgoingConnection connection = connect(context(rdma, null), 60_000);
        assertFalse(connection.isTcp());
        assertNull(connection.awaitRdma());
        assertTrue(connection.connectTcp());
        assertTrue(tcp.millis > 0 && tcp.millis <= 60_000, () -> tcp.millis + " ms");
    }

    @Test
    void shouldGiveTcpNoLimitIfTheCallerHasNone() throws Exception {
        OutgoingConnection connection = connect(context(rdma, null), 0);
        assertNull(connection.awaitRdma());
        assertTrue(connection.connectTcp());
        assertEquals(0, tcp.millis);
    }

    @Test
    void shouldGiveTcpSomeTimeEvenIfRdmaTookAllOfIt() throws Exception {
        rdma.outcome = Reason.TIMEOUT;
        OutgoingConnection connection = connect(context(rdma, "connect.timeout=1s"), 1);
        assertNull(connection.awaitRdma());
        assertTrue(connection.connectTcp());
        assertEquals(1, tcp.millis);
    }

    /** The kernel would have connected a plain socket meanwhile. */
    @Test
    void shouldGiveTcpTimeForARoundTripAfterThisProcessStoodStill() throws Exception {
        OutgoingConnection connection = connect(context(rdma, null), 300);
        assertNull(connection.awaitRdma());
        Thread.sleep(301);
        assertTrue(connection.connectTcp());
        assertEquals(100, tcp.millis);
    }

    @Test
    void shouldTellThoseWhoDoNotBlockThatTcpCouldNotBegin() throws Exception {
        OutgoingConnection connection = connect(context(rdma, null), 0);
        connection.start(() -> {});
        tcp.error = new OutOfMemoryError("as the test wants");
        assertTrue(connection.needsTcp());
        connection.startTcp();
        assertTrue(connection.isReady());
        assertSame(tcp.error, connection.failure().getCause());
    }

    /** Else a selector would wait for ever. */
    @Test
    void shouldTellThoseWhoDoNotBlockOfLackOfMemory() throws Exception {
        rdma.error = new OutOfMemoryError("as the test wants");
        OutgoingConnection connection = connect(context(rdma, null), 0);
        AtomicBoolean told = new AtomicBoolean();
        connection.start(() -> told.set(true));
        assertTrue(told.get());
        assertTrue(connection.isReady());
        assertSame(rdma.error, connection.failure().getCause());
        assertTrue(rdma.cancelled, "what it comes to would belong to nobody");
        assertFalse(connection.needsTcp());
    }

    @Test
    void shouldLeaveTcpAloneWhereTheAttemptFailsForGood() throws Exception {
        OutgoingConnection connection = connect(context(rdma, "policy=rdma"), 0);
        connection.start(() -> {});
        assertTrue(connection.isDecided());
        assertTrue(connection.failure() instanceof RdmaConnectException);
        assertFalse(connection.needsTcp());
        assertEquals(0, tcp.connects);
    }

    @Test
    void shouldStartTcpWhenRdmaIsDecidedAndFinishItLater() throws Exception {
        tcp.blocking = false;
        OutgoingConnection connection = connect(context(rdma, null), 0);
        boolean[] told = new boolean[1];
        connection.start(() -> told[0] = true);
        assertTrue(told[0]);
        assertTrue(connection.needsTcp());
        connection.startTcp();
        assertFalse(connection.needsTcp());
        assertTrue(connection.waitsForTcp());
        assertFalse(connection.isReady());
        assertFalse(connection.finishTcp());
        tcp.arrived = true;
        assertTrue(connection.finishTcp());
        assertEquals(1, tcp.connects);
    }

    @Test
    void shouldKeepWhatTcpSaidAtOnce() throws Exception {
        tcp.failure = down;
        OutgoingConnection connection = connect(context(rdma, null), 0);
        connection.start(() -> {});
        connection.startTcp();
        assertSame(down, connection.failure());
        assertTrue(connection.isReady());
        assertFalse(connection.waitsForTcp());
    }

    /** A silent host may be down; while that is open its connections use TCP at once, and tell. */
    @Test
    void shouldTellWhatATcpSocketThatDoesNotBlockSaysLater() throws Exception {
        rdma.outcome = Reason.TIMEOUT;
        TransportContext context = context(rdma, "connect.timeout=1ms");
        assertNull(connect(context, 0).awaitRdma()); // and its caller closes, so whether the host is up stays open
        tcp.blocking = false;
        OutgoingConnection second = connect(context, 0);
        assertTrue(second.isTcp());
        assertFalse(second.connectTcp());
        tcp.failure = down;
        assertThrows(NoRouteToHostException.class, second::finishTcp);
        assertFalse(connect(context, 0).isTcp(), "the host is down: that it is silent over RDMA says nothing");
    }

    @Test
    void shouldNotTakeABrokenSocketForAHostThatIsUp() throws Exception {
        rdma.outcome = Reason.REFUSED;
        TransportContext context = context(rdma, null);
        OutgoingConnection connection = context.connector()
                .connect(null, PEER, StreamConfig.DEFAULT, 0, new OutgoingConnection.Tcp() {
                    @Override
                    public boolean connect(int millis) {
                        throw new SecurityException("not allowed");
                    }

                    @Override
                    public InetSocketAddress localAddress() {
                        throw new AssertionError("not connected");
                    }
                });
        assertNull(connection.awaitRdma());
        assertThrows(SecurityException.class, connection::connectTcp);
        assertFalse(connect(context, 0).isTcp(), "nothing was learned of the port");
    }

    @Test
    void shouldBindRdmaToTheWildcardOfThePeersFamily() throws Exception {
        InetSocketAddress any = new InetSocketAddress("::", 1080);
        context(rdma, null).connector().connect(any, PEER, StreamConfig.DEFAULT, 0, tcp);
        assertEquals(new InetSocketAddress("0.0.0.0", 1080), rdma.lastLocal);
        context(rdma, null).connector().connect(LOCAL, PEER, StreamConfig.DEFAULT, 0, tcp);
        assertEquals(LOCAL, rdma.lastLocal);
    }

    @Test
    void shouldNotTryRdmaThroughAProxy() throws Exception {
        TransportContext context = context(rdma, "policy=rdma");
        OutgoingConnection connection =
                context.connector().connectThroughProxy(PEER, TimeUnit.SECONDS.toNanos(60), tcp);
        assertTrue(connection.isTcp());
        assertNull(connection.awaitRdma());
        assertTrue(connection.connectTcp());
        assertEquals(0, rdma.attempts);
        assertEquals(1, context.counts().tcpChosen(TcpReason.PROXY));
    }

    /** Nor is there any for an exception. */
    @Test
    void shouldTellThoseWhoDoNotBlockThoughMemoryIsLackingForThat() throws Exception {
        rdma.error = new HopelessError(1);
        OutgoingConnection connection = connect(context(rdma, null), 0);
        AtomicBoolean told = new AtomicBoolean();
        HopelessError.ensureNone(() -> connection.start(() -> told.set(true)));
        assertTrue(told.get());
        assertTrue(connection.isReady());
        assertEquals("out of memory", connection.failure().getMessage());
    }
}
