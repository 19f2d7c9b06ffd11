/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.stream;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.List;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jrsocket.endpoint.Bundle;
import org.jrsocket.os.NativeMemory;
import org.jrsocket.stream.HookedVerbs.Point;
import org.jrsocket.verbs.SendBatch;
import org.jrsocket.verbs.VerbsProvider;
import org.jrsocket.verbs.loopback.LoopbackProvider;
import org.jrsocket.wire.ConnData;
import org.jrsocket.wire.Grant;
import org.jrsocket.wire.Imm;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * A peer that breaks the protocol, section 10 of the protocol page: each way resets this one connection, with one line
 * in the log, frees its objects although the application holds on to it, and leaves other connections alone. The verbs
 * check every access against what was registered.
 */
class HostilePeerTest extends RawPeerTests {

    private static final StreamConfig RINGS_OF_8K =
            CONFIG.withBuffers(16 * 1024, 8192).withQueues(32, 16);

    private HookedVerbs hooked;

    @Override
    VerbsProvider wrap(LoopbackProvider provider) {
        hooked = new HookedVerbs(provider);
        return hooked;
    }

    private interface Crime {
        void commit(Link link) throws IOException;
    }

    private static void imm(Link l, int imm, long address, int key, int bytes) throws IOException {
        l.peer().post(SendBatch.RDMA_WRITE_WITH_IMM, imm, address, key, new byte[bytes]);
    }

    private static void data(Link l, int announced, int written) throws IOException {
        imm(l, announced, l.peer().position(), l.peer().positionKey(), written);
    }

    private static void sgl(Link l, int limit, int written) throws IOException {
        imm(l, Imm.sgl(limit), l.peer().stream.targetAddr(), l.peer().stream.targetKey(), written);
    }

    private static void reserved(Link l, int op) throws IOException {
        imm(l, op << 29 | 5, l.peer().position(), l.peer().positionKey(), 5);
    }

    /** What a peer may do wrong, and what the log says of it. */
    enum Violation {
        DATA_LONGER_THAN_ANNOUNCED("announced", l -> data(l, 4, 5)),
        DATA_SHORTER_THAN_ANNOUNCED("announced", l -> data(l, 6, 5)),
        DATA_WITHOUT_BYTES("announced", l -> data(l, 100, 0)),
        DATA_OF_THE_LARGEST_LENGTH("announced", l -> data(l, Imm.MAX_DATA, 0)),
        DATA_LONGER_THAN_THE_RING("announced", l -> data(l, 8193, 8192)),
        DATA_BEYOND_WHAT_WAS_GRANTED("beyond", l -> {
            l.peer().data(new byte[4096]);
            l.peer().room();
            l.peer().data(new byte[4096]);
            imm(l, 1, l.peer().stream.dataAddr(), l.peer().stream.dataKey(), 1);
        }),
        DATA_ACROSS_THE_RINGS_END("beyond", l -> {
            l.peer().data(new byte[4096]);
            l.peer().room();
            l.peer().data(new byte[4000]);
            read(l.stream(), 8096); // which grants the first half again
            imm(l, 200, l.peer().stream.dataAddr(), l.peer().stream.dataKey(), 200);
        }),
        MORE_MESSAGES_THAN_CREDITS("credits", l -> {
            for (int i = 0; i < 17; i++) {
                data(l, 1, 1);
            }
        }),
        MORE_EMPTY_MESSAGES_THAN_CREDITS("credits", l -> {
            for (int i = 0; i < 17; i++) {
                data(l, 0, 0);
            }
        }),
        OPERATION_1("unknown kind", l -> reserved(l, 1)),
        OPERATION_2("unknown kind", l -> reserved(l, 2)),
        OPERATION_3("unknown kind", l -> reserved(l, 3)),
        OPERATION_5("unknown kind", l -> reserved(l, 5)),
        IOMAP_ENTRY("unknown kind", l -> reserved(l, 6)),
        CREDITS_BEYOND_THE_WINDOW("credit limit", l -> l.peer().credit(385)),
        CREDITS_THAT_GO_BACK("credit limit", l -> l.peer().credit(383)),
        CREDITS_FAR_AWAY("credit limit", l -> l.peer().credit(384 + 32768)),
        UPDATE_OF_8_BYTES("credit update", l -> sgl(l, 384, 8)),
        UPDATE_OF_17_BYTES("credit update", l -> sgl(l, 384, 17)),
        UPDATE_OF_32_BYTES("credit update", l -> sgl(l, 384, 32)),
        GRANT_OF_NEGATIVE_LENGTH("grant of", l -> l.peer().grant(4096, 1, -1)),
        GRANT_OF_THE_SIGN_BIT("grant of", l -> l.peer().grant(0, 1, Integer.MIN_VALUE)),
        GRANT_PAST_THE_END_OF_MEMORY("grant of", l -> l.peer().grant(-100, 1, 101)),
        MORE_UNUSED_GRANTS_THAN_ENTRIES("a grant while", l -> {
            for (int i = 0; i < 16; i++) {
                l.peer().grantRing(0, 10);
            }
            l.stream().poll();
            l.peer().grantRing(0, 10);
        }),
        CONTROL_MESSAGE_WITH_PAYLOAD(
                "control message",
                l -> imm(
                        l,
                        Imm.ctrl(Imm.CTRL_SHUTDOWN),
                        l.peer().position(),
                        l.peer().positionKey(),
                        4)),
        DISCONNECT_WITH_PAYLOAD(
                "control message",
                l -> imm(
                        l,
                        Imm.ctrl(Imm.CTRL_DISCONNECT),
                        l.peer().position(),
                        l.peer().positionKey(),
                        4)),
        SEND_WITHOUT_IMMEDIATE_VALUE("not rsocket's", l -> l.peer().post(SendBatch.SEND, 0, 0, 0)),
        DATA_BY_SEND("announced", l -> l.peer().post(SendBatch.SEND_WITH_IMM, 5, 0, 0));

        final String logged;
        final Crime crime;

        Violation(String logged, Crime crime) {
            this.logged = logged;
            this.crime = crime;
        }
    }

    @ParameterizedTest
    @EnumSource(Violation.class)
    void shouldResetTheConnectionAfter(Violation violation) throws Exception {
        reset(violation, Role.PASSIVE);
    }

    @ParameterizedTest
    @EnumSource(
            value = Violation.class,
            names = {"DATA_LONGER_THAN_ANNOUNCED", "CREDITS_BEYOND_THE_WINDOW", "GRANT_PAST_THE_END_OF_MEMORY"})
    void shouldResetAConnectionItMadeAfter(Violation violation) throws Exception {
        reset(violation, Role.ACTIVE);
    }

    private void reset(Violation violation, Role role) throws Exception {
        Link other = link(Role.PASSIVE);
        Link l = link(role, RawPeer.Spec.DEFAULT, RINGS_OF_8K);
        List<String> warnings = warningsIn(() -> {
            violation.crime.commit(l);
            SocketException e = assertThrows(SocketException.class, () -> {
                while (l.stream().read(new byte[10_000], 0, 10_000, PATIENCE) > 0) {
                    // what came before the violation may be read
                }
            });
            assertEquals("Connection reset", e.getMessage());
            e = assertThrows(SocketException.class, () -> l.stream().write(new byte[1], 0, 1, PATIENCE));
            assertEquals("Connection reset", e.getMessage());
            RawPeer.await(() -> transport.liveStreams() == 1, () -> "not freed without the application");
        });
        assertEquals(1, warnings.size(), warnings.toString());
        assertTrue(warnings.get(0).contains(violation.logged), warnings.toString());
        assertEquals(0, l.stream().available());
        l.stream().shutdownInput();
        l.stream().close();
        l.stream().close();
        assertTrue(l.stream().awaitDrained(PATIENCE));
        other.peer().data(bytes(100));
        assertArrayEquals(bytes(100), read(other.stream(), 100));
        other.stream().write(bytes(100), 0, 100, PATIENCE);
        RawPeer.await(() -> other.peer().dataBytes() == 100, () -> "the other connection no longer works");
    }

    /** Whoever may connect decides how often: not how many lines there are. */
    @Test
    void shouldNotLetPeersFillTheLog() throws Exception {
        long start = System.nanoTime();
        List<String> warnings = warningsIn(() -> {
            for (int i = 0; i < 20; i++) {
                Link l = link(Role.PASSIVE, RawPeer.Spec.DEFAULT, RINGS_OF_8K);
                l.peer().bare(3 << 29);
                assertThrows(SocketException.class, () -> l.stream().read(new byte[1], 0, 1, PATIENCE));
                l.stream().close();
            }
        });
        assertLimited(warnings, start);
    }

    /** The peer is told before its queue pair goes, however long that takes. */
    @Test
    void shouldDeliverTheDisconnectAfterAViolation() throws Exception {
        Link l = link(Role.PASSIVE);
        verbs.faults().holdAcks(true);
        l.peer().bare(3 << 29);
        assertThrows(SocketException.class, () -> l.stream().read(new byte[1], 0, 1, PATIENCE));
        l.peer().awaitImm(Imm.ctrl(Imm.CTRL_DISCONNECT));
        passTheServiceThread(); // which the violation had do something
        assertEquals(1, transport.liveStreams(), "not acknowledged, and yet freed");
        verbs.faults().holdAcks(false);
        RawPeer.await(() -> transport.liveStreams() == 0, () -> "not freed");
    }

    /** Waiters learn of it at once. */
    @ParameterizedTest
    @EnumSource(Role.class)
    void shouldWakeReaderAndWriterAfterAViolation(Role role) throws Exception {
        Link l = link(role, RawPeer.Spec.DEFAULT.half(100), RINGS_OF_8K);
        Future<SocketException> reader = background(
                () -> assertThrows(SocketException.class, () -> l.stream().read(new byte[1], 0, 1, 0)));
        Future<SocketException> writer = background(
                () -> assertThrows(SocketException.class, () -> l.stream().write(new byte[100_000], 0, 100_000, 0)));
        StreamBehaviour.awaitInside("read", 1);
        StreamBehaviour.awaitInside("write", 1);
        l.peer().bare(3 << 29);
        assertEquals("Connection reset", get(reader).getMessage());
        assertEquals("Connection reset", get(writer).getMessage());
    }

    /** What the device itself refuses: keys, bounds, a SEND that is too long. */
    enum Device {
        WRITE_BEHIND_THE_RING(l ->
                imm(l, 5, l.peer().stream.dataAddr() + 8190, l.peer().stream.dataKey(), 5)),
        WRITE_BEFORE_THE_RING(
                l -> imm(l, 5, l.peer().stream.dataAddr() - 1, l.peer().stream.dataKey(), 5)),
        WRITE_BEHIND_THE_TABLE(l -> imm(
                l,
                Imm.sgl(384),
                l.peer().stream.targetAddr() + Bundle.TABLE_BYTES,
                l.peer().stream.targetKey(),
                16)),
        WRITE_INTO_THE_RING_WITH_THE_TABLES_KEY(
                l -> imm(l, 5, l.peer().stream.dataAddr(), l.peer().stream.targetKey(), 5)),
        WRITE_WITH_NO_KEY(l -> imm(l, 5, l.peer().stream.dataAddr(), 0, 5)),
        PLAIN_WRITE_TO_NOWHERE(l -> l.peer().post(SendBatch.RDMA_WRITE, 0, 4096, 77, new byte[8])),
        SEND_WITH_PAYLOAD(l -> l.peer().post(SendBatch.SEND_WITH_IMM, 5, 0, 0, new byte[5]));

        final Crime crime;

        Device(Crime crime) {
            this.crime = crime;
        }
    }

    @ParameterizedTest
    @EnumSource(Device.class)
    void shouldResetTheConnectionWhenTheDeviceRefuses(Device device) throws Exception {
        Link l = link(Role.PASSIVE, RawPeer.Spec.DEFAULT, RINGS_OF_8K);
        Future<SocketException> reader = background(
                () -> assertThrows(SocketException.class, () -> l.stream().read(new byte[1], 0, 1, 0)));
        device.crime.commit(l);
        assertEquals("Connection reset", get(reader).getMessage());
    }

    /** Keys of one connection open nothing of another. */
    @Test
    void shouldNotLetOnePeerWriteWithTheKeysOfAnother() throws Exception {
        Link victim = link(Role.PASSIVE);
        Link l = link(Role.PASSIVE);
        l.peer()
                .post(
                        SendBatch.RDMA_WRITE,
                        0,
                        victim.peer().stream.dataAddr(),
                        victim.peer().stream.dataKey(),
                        bytes(50));
        assertThrows(SocketException.class, () -> l.stream().read(new byte[1], 0, 1, PATIENCE));
        assertEquals(
                ByteBuffer.allocate(50), NativeMemory.view(victim.peer().stream.dataAddr(), 50));
        victim.peer().data(bytes(10));
        assertArrayEquals(bytes(10), read(victim.stream(), 10));
    }

    /** What we were given may be wrong: our writes then fail at the peer's device. */
    @Test
    void shouldResetWhenThePeersGrantIsNoMemoryOfIts() throws Exception {
        Link l = link(Role.PASSIVE, RawPeer.Spec.DEFAULT.half(10));
        l.peer().grant(4096, 12345, 1000);
        assertThrows(SocketException.class, () -> {
            for (; ; ) {
                l.stream().write(new byte[100], 0, 100, PATIENCE);
            }
        });
    }

    /**
     * The table is the peer's to change at any time: only what is there when the message is handled counts, and it
     * counts once.
     */
    @Test
    void shouldTakeEachGrantOnceWhateverBecomesOfTheTable() throws Exception {
        Link l = link(Role.PASSIVE, RawPeer.Spec.DEFAULT.half(10));
        RawPeer peer = l.peer();
        l.stream().write(bytes(40), 0, 40, PATIENCE);
        peer.grantRing(10, 10);
        l.stream().poll();
        ByteBuffer nonsense = ByteBuffer.allocate(32).order(ByteOrder.nativeOrder());
        Grant.put(nonsense, 0, Grant.BIG_ENDIAN_HOST, -1, -1, -1);
        Grant.put(nonsense, 16, Grant.BIG_ENDIAN_HOST, -1, -1, -1);
        peer.post(SendBatch.RDMA_WRITE, 0, peer.stream.targetAddr(), peer.stream.targetKey(), nonsense.array());
        l.stream().poll();
        assertEquals(20, peer.dataBytes());
        peer.grantRing(0, 10); // into entry 0, which it thereby repairs
        l.stream().poll();
        assertEquals(30, peer.dataBytes());
    }

    /** Messages that say nothing, and that cost their sender next to nothing. */
    enum Flood {
        CONTROL(l -> l.peer().ctrl(99)),
        THE_LIMIT_THAT_IS_KNOWN(l -> l.peer().credit(384)),
        LIMITS_IN_TURN(l -> {
            l.peer().credit(1000);
            l.peer().credit(33_768);
        }),
        DATA_OF_NO_BYTES(l -> l.peer().bare(0)),
        GRANTS_OF_NO_BYTES(l -> l.peer().grantRing(0, 0)),
        DATA_AFTER_ITS_END(l -> data(l, 1, 0));

        final Crime message;

        Flood(Crime message) {
            this.message = message;
        }
    }

    /** A peer that sends faster than we look: somebody waits, and would never sleep again. */
    @ParameterizedTest
    @EnumSource(Flood.class)
    void shouldEndAFloodBesideAReaderAndAWriter(Flood kind) throws Exception {
        // so many credits that a limit and one half a circle away from it are both plausible
        int credits = kind == Flood.LIMITS_IN_TURN ? 40_000 : 384;
        Link l = link(Role.PASSIVE, new RawPeer.Spec(credits, 384, 100, 2, ConnData.LOCAL_FLAGS, false, 7), CONFIG);
        if (kind == Flood.DATA_AFTER_ITS_END) {
            l.peer().ctrl(Imm.CTRL_SHUTDOWN);
            assertEquals(-1, l.stream().read(new byte[1], 0, 1, PATIENCE));
        }
        AtomicBoolean over = flood(l, kind);
        try {
            SocketException e = assertThrows(
                    SocketException.class, () -> l.stream().write(new byte[1_000_000], 0, 1_000_000, PATIENCE));
            assertEquals("Connection reset", e.getMessage());
            String why = StreamFailure.of(e).getMessage();
            assertTrue(why.contains("messages without content"), why);
            RawPeer.await(() -> transport.liveStreams() == 0, () -> "not freed without the application");
        } finally {
            over.set(true);
        }
    }

    /** The same beside a reader alone, which minds its time limit until then. */
    @Test
    void shouldKeepItsTimeLimitsUnderAFlood() throws Exception {
        Link l = link(Role.PASSIVE);
        AtomicBoolean over = flood(l, Flood.CONTROL);
        try {
            IOException e = assertThrows(IOException.class, () -> l.stream().read(new byte[1], 0, 1, 50_000_000));
            assertTrue(e instanceof SocketTimeoutException || e.getMessage().equals("Connection reset"), e::toString);
            e = assertThrows(SocketException.class, () -> l.stream().read(new byte[1], 0, 1, 0));
            assertEquals("Connection reset", e.getMessage());
        } finally {
            over.set(true);
        }
    }

    /** Nor does it keep the service thread from the others. */
    @Test
    void shouldCloseUnderAFlood() throws Exception {
        Link l = link(Role.PASSIVE);
        AtomicBoolean over = flood(l, Flood.THE_LIMIT_THAT_IS_KNOWN);
        try {
            l.stream().close();
            assertTrue(l.stream().awaitDrained(PATIENCE));
            Link next = link(Role.ACTIVE);
            next.peer().data((byte) 1);
            assertEquals(1, read(next.stream(), 1).length);
        } finally {
            over.set(true);
        }
    }

    /** At every poll there is more: as from a peer that is faster than this host. */
    private AtomicBoolean flood(Link l, Flood kind) {
        AtomicBoolean over = new AtomicBoolean();
        hooked.hook = (at, cookie) -> {
            if (at == Point.BEFORE_POLL && cookie == Bundle.RECV_COOKIE && !over.get()) {
                try {
                    // until the receives are used up, or nearly
                    for (int i = 0;
                            i < 300 && l.peer().inFlight() < 40 && l.peer().reap() && floods(l) > 40;
                            i++) {
                        kind.message.commit(l);
                    }
                } catch (IOException e) {
                    throw new AssertionError(e);
                }
            }
        };
        return over;
    }

    private int floods(Link l) {
        return verbs.qps().stream()
                .filter(qp -> qp != l.peer().qp())
                .mapToInt(qp -> qp.postedReceives())
                .max()
                .orElse(0);
    }
}
