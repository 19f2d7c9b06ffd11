/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.stream;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.ibm.disni.verbs.RdmaCmEvent.EventType;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import org.jrsocket.stream.RdmaConnectException.Reason;
import org.jrsocket.threads.ServiceThreads;
import org.jrsocket.threads.Threads;
import org.jrsocket.verbs.CmEvent;
import org.jrsocket.verbs.ConnParam;
import org.jrsocket.verbs.loopback.CmMessage;
import org.jrsocket.wire.ConnData;
import org.jrsocket.wire.Imm;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Getting connected: section 1 of the protocol page, its traps 1, 14, 19 and 25, and what section 10 says of connection
 * data. Whatever happens, every object is given back.
 */
class HandshakeTest extends RawPeerTests {

    // ---- what the stream says ----

    private static void checkData(byte[] bytes, ConnData data) {
        assertEquals(1, bytes[0]);
        assertEquals(ConnData.LOCAL_FLAGS, bytes[1], "the truth about this machine's byte order");
        ByteBuffer network = ByteBuffer.wrap(bytes); // [19] network order
        assertEquals(CONFIG.receiveQueue(), network.getShort(2));
        assertEquals(0, network.getInt(4), "reserved bytes and no iomap");
        assertEquals(16, network.getInt(20), "[7] a count of entries");
        assertEquals(CONFIG.receiveBuffer() / 2, network.getInt(36), "[7] half of the ring");
        assertEquals(data.targetAddr(), network.getLong(8));
        assertEquals(data.dataAddr(), network.getLong(24));
        assertTrue(data.targetKey() != data.dataKey(), "the table must not share a region with anything");
    }

    /** [1] rnr_retry_count 7, depths 0, in the request; 1.2: the 40 bytes, and our 16 behind them. */
    @Test
    void shouldAskAsRsocketsDo() throws Exception {
        Link l = link(Role.ACTIVE);
        checkData(l.peer().streamBytes, l.peer().stream);
        ConnParam param = l.peer().streamParam;
        assertEquals(7, param.getRnr_retry_count());
        assertEquals(6, param.getRetry_count(), "7 is for ever on soft-RoCE");
        assertEquals(0, param.getResponder_resources());
        assertEquals(0, param.getInitiator_depth());
        assertEquals(1, param.getFlow_control());
        assertTrue(l.peer().stream.hasExtension());
        assertEquals(56, l.peer().streamBytes.length);
    }

    /**
     * [1] 7 and 0 in the answer too, whatever was asked: C echoes, and a client that asks for 0 loses its connection at
     * the first RNR NAK.
     */
    @ParameterizedTest
    @MethodSource("rnrRetries")
    void shouldAnswerAsRsocketsShould(int asked) throws Exception {
        Link l = link(Role.PASSIVE, RawPeer.Spec.DEFAULT.rnrRetries(asked));
        checkData(l.peer().streamBytes, l.peer().stream);
        ConnParam param = l.peer().streamParam;
        assertEquals(7, param.getRnr_retry_count());
        assertEquals(0, param.getResponder_resources());
        assertEquals(0, param.getInitiator_depth());
    }

    static int[] rnrRetries() {
        return new int[] {0, 1, 7};
    }

    /** The extension is in the answer only if it was in the request, undamaged. */
    @Test
    void shouldAnswerWithItsExtensionOnlyToItsOwnKind() throws Exception {
        RawPeer c = link(Role.PASSIVE).peer();
        assertFalse(c.stream.hasExtension());
        assertArrayEquals(
                new byte[c.streamBytes.length - 40], Arrays.copyOfRange(c.streamBytes, 40, c.streamBytes.length));
        assertTrue(link(Role.PASSIVE, RawPeer.Spec.DEFAULT.ours()).peer().stream.hasExtension());
        try (RdmaListener listener = listen(CONFIG)) {
            for (int i = 40; i < 56; i++) {
                RawPeer damaged = active(listener.localAddress(), RawPeer.Spec.DEFAULT.ours());
                byte[] data = damaged.connData();
                data[i] ^= 0x10;
                damaged.request(data);
                damaged.established();
                assertFalse(damaged.stream.hasExtension(), "byte " + i);
                StreamPair.accept(listener).close();
            }
        }
    }

    /** An answer of a C peer with noise behind the 40 bytes is a C peer's. */
    @Test
    void shouldTakeNoiseBehindTheConnectionDataForNothing() throws Exception {
        RawPeer.RawListener listener = rawListen();
        PendingConnect pending = transport.connect(null, listener.address(), CONFIG);
        RawPeer peer = listener.take(RawPeer.Spec.DEFAULT);
        peers.add(peer);
        byte[] data = Arrays.copyOf(peer.connData(), 196);
        Arrays.fill(data, 40, 196, (byte) 0x4a);
        peer.answer(data);
        RdmaStream stream = pending.await(PATIENCE);
        peer.confirmed();
        peer.ctrl(Imm.CTRL_RESET);
        peer.data((byte) 1);
        assertEquals(1, read(stream, 1).length);
    }

    /** [14] The passive side says nothing before the connection is confirmed; what comes before that is kept. */
    @Test
    void shouldBeSilentUntilTheConnectionIsConfirmed() throws Exception {
        transport
                .cmServices()
                .limits(Admission.Limits.DEFAULT.handshakeNanos(PATIENCE).heldNanos(PATIENCE));
        RdmaListener listener = listen(CONFIG);
        verbs.faults().delay(CmMessage.RTU, 3_600_000);
        RawPeer peer = active(listener.localAddress(), RawPeer.Spec.DEFAULT);
        peer.request(peer.connData());
        peer.established();
        peer.data(bytes(100));
        peer.ctrl(Imm.CTRL_SHUTDOWN);
        passTheServiceThread();
        assertEquals(0, peer.arrivals());
        assertEquals(null, listener.poll());
        verbs.faults().delay(CmMessage.RTU, 0);
        verbs.expireTimeouts();
        RdmaStream stream = StreamPair.accept(listener);
        assertArrayEquals(bytes(100), read(stream, 100));
        assertEquals(-1, stream.read(new byte[1], 0, 1, PATIENCE));
        stream.write(bytes(5), 0, 5, PATIENCE);
        RawPeer.await(() -> peer.dataBytes() == 5, () -> "nothing came");
    }

    /** The confirmation may be lost, and the client be done. What it sent is no less valid for that. */
    @Test
    void shouldHandOverWhatAClientSentThatEndedBeforeItWasConfirmed() throws Exception {
        RdmaListener listener = listen(CONFIG);
        verbs.faults().drop(CmMessage.RTU, 1);
        RawPeer peer = active(listener.localAddress(), RawPeer.Spec.DEFAULT);
        peer.request(peer.connData());
        peer.established();
        peer.data(bytes(100));
        peer.ctrl(Imm.CTRL_DISCONNECT);
        peer.raw.cm.disconnect(peer.raw.id);
        RdmaStream stream = StreamPair.accept(listener);
        assertArrayEquals(bytes(100), read(stream, 100));
        assertEquals(-1, stream.read(new byte[1], 0, 1, PATIENCE));
        stream.close();
    }

    /** But one that has sent nothing has changed its mind. */
    @Test
    void shouldForgetAClientThatWentAwayBeforeItWasConfirmed() throws Exception {
        RdmaListener listener = listen(CONFIG);
        verbs.faults().drop(CmMessage.RTU, 1);
        RawPeer gone = active(listener.localAddress(), RawPeer.Spec.DEFAULT);
        gone.request(gone.connData());
        gone.established();
        gone.raw.cm.disconnect(gone.raw.id);
        RawPeer other = active(listener.localAddress(), RawPeer.Spec.DEFAULT);
        other.request(other.connData());
        other.established();
        RdmaStream stream = StreamPair.accept(listener);
        other.data((byte) 3);
        assertArrayEquals(new byte[] {3}, read(stream, 1));
        RawPeer.await(() -> transport.liveStreams() == 1, () -> "not freed");
        assertEquals(null, listener.poll());
    }

    /** 1.6: a client that never confirms delays nobody else. {@link HalfOpenTest} has it forgotten. */
    @Test
    void shouldServeOthersWhileOneClientNeverConfirms() throws Exception {
        RdmaListener listener = listen(CONFIG);
        verbs.faults().drop(CmMessage.RTU, 1);
        RawPeer silent = active(listener.localAddress(), RawPeer.Spec.DEFAULT);
        silent.request(silent.connData());
        silent.established();
        RawPeer other = active(listener.localAddress(), RawPeer.Spec.DEFAULT);
        other.request(other.connData());
        other.established();
        RdmaStream stream = StreamPair.accept(listener);
        other.data((byte) 3);
        assertArrayEquals(new byte[] {3}, read(stream, 1));
    }

    /** 1.6: connected and served before anybody accepts; a client's data waits. */
    @Test
    void shouldTakeDataBeforeAnybodyAccepts() throws Exception {
        RdmaListener listener = listen(CONFIG);
        RawPeer peer = active(listener.localAddress(), RawPeer.Spec.DEFAULT);
        peer.request(peer.connData());
        peer.established();
        peer.data(bytes(30));
        peer.ctrl(Imm.CTRL_DISCONNECT);
        peer.close();
        RdmaStream stream = StreamPair.accept(listener);
        assertArrayEquals(bytes(30), read(stream, 30));
        assertEquals(-1, stream.read(new byte[1], 0, 1, PATIENCE));
    }

    // ---- what the stream refuses ----

    /** Connection data that no rsocket sends: what to change, and what the message must name. */
    enum Bad {
        VERSION_0(0, 1, 0, "version"),
        VERSION_2(0, 1, 2, "version"),
        VERSION_255(0, 1, -1, "version"),
        CREDITS_0(2, 2, 0, "credits"),
        ENTRIES_0(20, 4, 0, "target_sgl.length"),
        ENTRIES_1(20, 4, 1, "target_sgl.length"),
        ENTRIES_1025(20, 4, 1025, "target_sgl.length"),
        ENTRIES_MAX(20, 4, -1, "target_sgl.length"),
        ENTRIES_SIGN(20, 4, Integer.MIN_VALUE, "target_sgl.length"),
        TABLE_OVERFLOW(8, 8, -16, "target_sgl.addr"),
        RING_OVERFLOW(24, 8, -100, "data_buf.addr"),
        RING_MAX(36, 4, -1, "data_buf.length"),
        RING_SIGN(36, 4, Integer.MIN_VALUE, "data_buf.length"),
        NOTHING(0, 0, 0, "version"),
        SHORT(0, -1, 0, "");

        final int at;
        final int size;
        final long value;
        final String field;

        Bad(int at, int size, long value, String field) {
            this.at = at;
            this.size = size;
            this.value = value;
            this.field = field;
        }

        byte[] apply(byte[] good) {
            ByteBuffer data = ByteBuffer.wrap(good.clone());
            switch (size) {
                case 1 -> data.put(at, (byte) value);
                case 2 -> data.putShort(at, (short) value);
                case 4 -> data.putInt(at, (int) value);
                case 8 -> data.putLong(at, value);
                case 0 -> data = ByteBuffer.allocate(0);
                // zeros follow on IB and RoCE: half of the table's count is gone
                default -> data = ByteBuffer.wrap(Arrays.copyOf(good, 22));
            }
            return data.array();
        }
    }

    @ParameterizedTest
    @EnumSource(Bad.class)
    void shouldRejectARequestWith(Bad bad) throws Exception {
        RdmaListener listener = listen(CONFIG);
        RawPeer peer = active(listener.localAddress(), RawPeer.Spec.DEFAULT);
        List<String> warnings = warningsIn(() -> {
            peer.request(bad.apply(peer.connData()));
            CmEvent answer = peer.raw.await(EventType.RDMA_CM_EVENT_REJECTED);
            assertEquals(28, answer.getStatus());
        });
        assertEquals(1, warnings.size(), warnings.toString());
        assertTrue(warnings.get(0).contains(bad.field), warnings.toString());
        assertEquals(null, listener.poll());
        RawPeer good = active(listener.localAddress(), RawPeer.Spec.DEFAULT);
        good.request(good.connData());
        good.established();
        StreamPair.accept(listener);
    }

    @ParameterizedTest
    @EnumSource(Bad.class)
    void shouldFailAConnectThatIsAnsweredWith(Bad bad) throws Exception {
        RawPeer.RawListener listener = rawListen();
        PendingConnect pending = transport.connect(null, listener.address(), CONFIG);
        RawPeer peer = listener.take(RawPeer.Spec.DEFAULT);
        peers.add(peer);
        peer.answer(bad.apply(peer.connData()));
        RdmaConnectException e = assertThrows(RdmaConnectException.class, () -> pending.await(PATIENCE));
        assertEquals(Reason.PROTOCOL, e.reason());
        assertTrue(e.getMessage().contains(bad.field), e.getMessage());
        assertEquals(EventType.RDMA_CM_EVENT_REJECTED, peer.nextEvent(5000), "it is told of no connection");
        assertEquals(0, peer.arrivals());
    }

    /** A thread that accepts may free memory next. */
    @Test
    void shouldLetOthersAcceptWhileItsTimerLacksMemory() throws Exception {
        RdmaListener listener = listen(CONFIG);
        CountDownLatch lacking = new CountDownLatch(1);
        ServiceThreads.afterPlacing(transport.services().service, () -> {
            lacking.countDown();
            throw new OutOfMemoryError("says a test");
        });
        PendingConnect pending;
        try {
            pending = transport.connect(null, listener.localAddress(), CONFIG);
            assertTrue(Threads.await(lacking, PATIENCE));
            FutureTask<RdmaStream> polling = new FutureTask<>(listener::poll);
            new Thread(polling, "accepts").start();
            assertEquals(null, polling.get(10, TimeUnit.SECONDS));
        } finally {
            ServiceThreads.afterPlacing(transport.services().service, () -> {});
        }
        later(pending.await(PATIENCE));
        later(StreamPair.accept(listener));
    }

    /** The refused side: C rejects with reason 28 what it cannot speak to. */
    @Test
    void shouldReportARejection() throws Exception {
        RawPeer.RawListener listener = rawListen();
        PendingConnect pending = transport.connect(null, listener.address(), CONFIG);
        RawPeer peer = listener.take(RawPeer.Spec.DEFAULT);
        peers.add(peer);
        peer.raw.cm.reject(peer.raw.id, new byte[0]);
        RdmaConnectException e = assertThrows(RdmaConnectException.class, () -> pending.await(PATIENCE));
        assertEquals(Reason.REFUSED, e.reason());
    }
}
