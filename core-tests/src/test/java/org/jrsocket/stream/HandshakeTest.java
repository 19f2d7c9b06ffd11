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
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.jrsocket.stream.HookedVerbs.Point;
import org.jrsocket.stream.RdmaConnectException.Reason;
import org.jrsocket.verbs.CmEvent;
import org.jrsocket.verbs.ConnParam;
import org.jrsocket.verbs.VerbsProvider;
import org.jrsocket.verbs.loopback.CmMessage;
import org.jrsocket.verbs.loopback.LoopbackConfig;
import org.jrsocket.verbs.loopback.LoopbackProvider;
import org.jrsocket.verbs.loopback.RawEndpoint;
import org.jrsocket.verbs.loopback.Reachability;
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

    private HookedVerbs hooked;

    @Override
    VerbsProvider wrap(LoopbackProvider provider) {
        hooked = new HookedVerbs(provider);
        return hooked;
    }

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
        transport.limits(Admission.Limits.DEFAULT.handshakeNanos(PATIENCE).heldNanos(PATIENCE));
        RdmaListener listener = listen(CONFIG);
        verbs.faults().delay(CmMessage.RTU, 3_600_000);
        RawPeer peer = active(listener.localAddress(), RawPeer.Spec.DEFAULT);
        peer.request(peer.connData());
        peer.established();
        peer.data(bytes(100));
        peer.ctrl(Imm.CTRL_SHUTDOWN);
        Thread.sleep(50);
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

    /** 1.6: a client that never confirms delays nobody else, and is forgotten. */
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
        assertEquals(
                EventType.RDMA_CM_EVENT_ESTABLISHED, peer.nextEvent(5000), "the manager's RTU was under way by then");
        assertEquals(EventType.RDMA_CM_EVENT_DISCONNECTED, peer.nextEvent(5000));
        assertEquals(0, peer.arrivals());
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

    // ---- what is missing here ----

    /** A device whose queues are too small for a single credit. */
    @Test
    void shouldFailAConnectOnADeviceWithoutRoomForCredits() throws Exception {
        InetAddress there = InetAddress.getByName("127.0.0.9");
        verbs.addDevice(new LoopbackConfig().name("tiny").maxQpWr(8), there);
        RdmaListener listener = listen(CONFIG);
        RdmaConnectException e = assertThrows(RdmaConnectException.class, () -> transport
                .connect(new InetSocketAddress(there, 0), listener.localAddress(), CONFIG)
                .await(PATIENCE));
        assertEquals(Reason.RESOURCES, e.reason());
    }

    /** Lack of memory fails one connection, on either side; the connections after it are made as ever. */
    @Test
    void shouldSurviveLackOfMemory() throws Exception {
        RdmaListener listener = listen(CONFIG);
        // three regions an endpoint: the connecting one's, then the accepting one's
        for (int failing = 1; failing <= 6; failing++) {
            AtomicInteger left = new AtomicInteger(failing);
            RawPeer.await(
                    () -> verbs.liveObjects().ids() <= 1,
                    () -> "the last attempt is not freed: " + verbs.liveObjects());
            transport.freeIdle();
            hooked.hook = (at, cookie) -> {
                if (at == Point.BEFORE_REGISTER && left.decrementAndGet() == 0) {
                    throw new OutOfMemoryError("for this test");
                }
            };
            PendingConnect pending = transport.connect(null, listener.localAddress(), CONFIG);
            RdmaConnectException e = assertThrows(RdmaConnectException.class, () -> pending.await(PATIENCE));
            assertEquals(failing <= 3 ? Reason.RESOURCES : Reason.BUSY, e.reason(), "registration " + failing);
        }
        hooked.hook = (at, cookie) -> {};
        RdmaStream client =
                transport.connect(null, listener.localAddress(), CONFIG).await(PATIENCE);
        RdmaStream server = StreamPair.accept(listener);
        client.write(bytes(10), 0, 10, PATIENCE);
        assertArrayEquals(bytes(10), read(server, 10));
    }

    // ---- cancelling ----

    /** Where a connection attempt can hang. */
    enum Stage {
        ADDRESS,
        REQUEST,
        ANSWER,
        CONFIRMATION
    }

    /** @param millis until the message that is late arrives */
    private InetSocketAddress hang(Stage stage, RdmaListener listener, long millis) throws IOException {
        switch (stage) {
            case ADDRESS -> {
                InetAddress nobody = InetAddress.getByName("127.0.0.77");
                verbs.place(nobody, Reachability.UNRESOLVED);
                return new InetSocketAddress(nobody, 1);
            }
            case REQUEST -> verbs.faults().delay(CmMessage.REQ, millis);
            case ANSWER -> verbs.faults().delay(CmMessage.REP, millis);
            default -> verbs.faults().delay(CmMessage.RTU, millis);
        }
        return listener.localAddress();
    }

    @ParameterizedTest
    @EnumSource(Stage.class)
    void shouldCancelAConnectThatHangsAtThe(Stage stage) throws Exception {
        RdmaListener listener = listen(CONFIG);
        long millis = 50; // what is late comes while the next ones connect
        InetSocketAddress to = hang(stage, listener, millis);
        List<PendingConnect> all = new ArrayList<>();
        for (int i = 0; i < 20; i++) {
            long begun = System.nanoTime();
            PendingConnect pending = transport.connect(null, to, CONFIG);
            all.add(pending);
            Future<IOException> waiter = background(() -> assertThrows(IOException.class, () -> {
                pending.await(0);
                throw new IOException("connected: only the confirmation may be late");
            }));
            if (i % 2 == 0) {
                Thread.sleep(i % 4);
            }
            pending.cancel();
            pending.cancel();
            boolean hung = System.nanoTime() - begun < TimeUnit.MILLISECONDS.toNanos(millis);
            IOException e = get(waiter);
            if (stage == Stage.ADDRESS || hung && stage != Stage.CONFIRMATION) {
                assertEquals(Reason.CANCELLED, ((RdmaConnectException) e).reason());
            }
            assertTrue(pending.isDone());
        }
        // one that was connected before it was cancelled, and was taken: ours to close
        for (PendingConnect pending : all) {
            try {
                pending.await(1).close();
            } catch (RdmaConnectException expected) {
                // cancelled
            }
        }
    }

    /** The same with a time limit instead. */
    @ParameterizedTest
    @EnumSource(value = Stage.class, names = "CONFIRMATION", mode = EnumSource.Mode.EXCLUDE)
    void shouldGiveUpAConnectThatHangsAtThe(Stage stage) throws Exception {
        RdmaListener listener = listen(CONFIG);
        // longer than the test may take: on a busy machine the limit is noticed late
        InetSocketAddress to = hang(stage, listener, TimeUnit.HOURS.toMillis(1));
        PendingConnect pending = transport.connect(null, to, CONFIG);
        RdmaConnectException e = assertThrows(RdmaConnectException.class, () -> pending.await(5_000_000));
        assertEquals(Reason.TIMEOUT, e.reason());
    }

    /** Messages of the manager that are lost for good end an attempt, too, in time that the manager sets. */
    @ParameterizedTest
    @EnumSource(
            value = CmMessage.class,
            names = {"REQ", "REP"})
    void shouldFailWhenAMessageOfTheManagerIsLost(CmMessage lost) throws Exception {
        RdmaListener listener = listen(CONFIG);
        verbs.faults().drop(lost, 1);
        RdmaConnectException e = assertThrows(
                RdmaConnectException.class,
                () -> transport.connect(null, listener.localAddress(), CONFIG).await(PATIENCE));
        assertEquals(Reason.UNREACHABLE, e.reason());
        RdmaStream next =
                transport.connect(null, listener.localAddress(), CONFIG).await(PATIENCE);
        next.write(bytes(3), 0, 3, PATIENCE);
        assertArrayEquals(bytes(3), read(StreamPair.accept(listener), 3));
    }

    /** At any moment, with nothing delayed. */
    @Test
    void shouldCancelAtAnyMoment() throws Exception {
        RdmaListener listener = listen(CONFIG);
        Random random = new Random(4711);
        for (int i = 0; i < 400; i++) {
            PendingConnect pending = transport.connect(null, listener.localAddress(), CONFIG);
            long until = System.nanoTime() + random.nextInt(400_000);
            while (System.nanoTime() < until) {
                Thread.onSpinWait();
            }
            pending.cancel();
            for (RdmaStream s = listener.poll(); s != null; s = listener.poll()) {
                s.close();
            }
        }
    }

    /** Closing a listener refuses, resets or gives up whatever is under way, at any moment. */
    @Test
    void shouldCloseAListenerDuringHandshakes() throws Exception {
        Random random = new Random(815);
        for (int i = 0; i < 60; i++) {
            verbs.faults().delay(CmMessage.REP, i % 3 == 0 ? 2 : 0);
            verbs.faults().delay(CmMessage.RTU, i % 3 == 1 ? 2 : 0);
            RdmaListener listener = transport.listen(new InetSocketAddress(HERE, 0), 1 + i % 5, CONFIG);
            List<PendingConnect> all = new ArrayList<>();
            for (int k = 0; k < 8; k++) {
                all.add(transport.connect(null, listener.localAddress(), CONFIG));
            }
            Thread.sleep(0, random.nextInt(999_999));
            listener.close();
            listener.close();
            for (PendingConnect pending : all) {
                try {
                    RdmaStream stream = pending.await(PATIENCE);
                    assertThrows(IOException.class, () -> {
                        if (stream.read(new byte[1], 0, 1, PATIENCE) < 0) {
                            throw new IOException("ended");
                        }
                    });
                    stream.close();
                } catch (RdmaConnectException e) {
                    assertTrue(e.reason() == Reason.REFUSED || e.reason() == Reason.UNREACHABLE, e.toString());
                }
            }
        }
    }

    /**
     * The passive side may give up after its answer made this side a connected one: a reject then ends the connection
     * like a disconnect.
     */
    @Test
    void shouldResetAConnectionThatIsRejectedAfterTheAnswer() throws Exception {
        verbs.faults().delay(CmMessage.RTU, 3_600_000);
        RawPeer.RawListener listener = rawListen();
        PendingConnect pending = transport.connect(null, listener.address(), CONFIG);
        RawPeer peer = listener.take(RawPeer.Spec.DEFAULT);
        peer.answer(peer.connData());
        RdmaStream stream = pending.await(PATIENCE);
        Future<SocketException> reader =
                background(() -> assertThrows(SocketException.class, () -> stream.read(new byte[1], 0, 1, 0)));
        Thread.sleep(10);
        peer.close();
        assertEquals("Connection reset", get(reader).getMessage());
    }

    /** A timer would hold the stream, however short its life, for as long as the attempt might have taken. */
    @Test
    void shouldLeaveNoTimerOfAnAttemptThatIsOver() throws Exception {
        RdmaListener listener = listen(CONFIG);
        int before = timersLaterThan(TimeUnit.HOURS.toNanos(1));
        PendingConnect connected = transport.connect(null, listener.localAddress(), CONFIG);
        connected.expire(() -> TimeUnit.HOURS.toNanos(2));
        connected.await(PATIENCE);
        PendingConnect cancelled = transport.connect(null, listener.localAddress(), CONFIG);
        cancelled.expire(() -> TimeUnit.HOURS.toNanos(2));
        cancelled.cancel();
        cancelled.expire(() -> TimeUnit.HOURS.toNanos(2));
        assertEquals(before, timersLaterThan(TimeUnit.HOURS.toNanos(1)));
    }

    private int timersLaterThan(long nanos) throws Exception {
        CompletableFuture<Integer> count = new CompletableFuture<>();
        transport
                .service()
                .execute(() -> count.complete(transport.serviceThread().timersLaterThan(nanos)));
        return count.get(30, TimeUnit.SECONDS);
    }

    /** [25] Cancelled before it began to wait, or after it was taken: nothing happens to others. */
    @Test
    void shouldRunItsActionOnceWhateverTheOutcome() throws Exception {
        RdmaListener listener = listen(CONFIG);
        PendingConnect pending = transport.connect(null, listener.localAddress(), CONFIG);
        AtomicInteger runs = new AtomicInteger();
        pending.onDone(runs::incrementAndGet);
        RdmaStream stream = pending.await(PATIENCE);
        RawPeer.await(() -> runs.get() == 1, () -> "ran " + runs);
        pending.cancel();
        AtomicBoolean late = new AtomicBoolean();
        pending.onDone(() -> late.set(true));
        assertTrue(late.get());
        stream.write(bytes(4), 0, 4, PATIENCE);
        assertArrayEquals(bytes(4), read(StreamPair.accept(listener), 4));
        assertEquals(1, runs.get());
    }

    /** One event that cannot be read, for lack of memory or for whatever reason, is not the end of all others. */
    @Test
    void shouldGoOnAfterAnEventThatCouldNotBeRead() throws Exception {
        RdmaListener listener = listen(CONFIG);
        for (Throwable trouble : List.of(new IOException("no such event"), new OutOfMemoryError("says a test"))) {
            AtomicBoolean once = new AtomicBoolean();
            hooked.beforeEvent = () -> {
                if (!once.getAndSet(true)) {
                    if (trouble instanceof IOException e) {
                        throw e;
                    }
                    throw (Error) trouble;
                }
            };
            try (RdmaStream client = transport
                            .connect(null, listener.localAddress(), CONFIG)
                            .await(PATIENCE);
                    RdmaStream server = StreamPair.accept(listener)) {
                assertTrue(once.get());
                client.write(bytes(4), 0, 4, PATIENCE);
                assertArrayEquals(bytes(4), read(server, 4));
            }
        }
    }

    /** A raw client that goes away in the middle of the handshake. */
    @Test
    void shouldForgetAClientThatGoesAwayInTheHandshake() throws Exception {
        RdmaListener listener = listen(CONFIG);
        for (int i = 0; i < 30; i++) {
            try (RawPeer peer = RawPeer.active(verbs, listener.localAddress(), RawPeer.Spec.DEFAULT)) {
                peer.request(peer.connData());
                if (i % 2 == 0) {
                    RawEndpoint.await(peer.raw.cm, peer.raw.events, EventType.RDMA_CM_EVENT_ESTABLISHED);
                }
            }
            RdmaStream stream = listener.poll();
            if (stream != null) {
                stream.close();
            }
        }
    }
}
