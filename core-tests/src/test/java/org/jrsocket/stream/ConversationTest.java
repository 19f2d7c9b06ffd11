/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.stream;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.net.SocketException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import org.jrsocket.protocol.Inbound;
import org.jrsocket.verbs.SendBatch;
import org.jrsocket.verbs.loopback.CmMessage;
import org.jrsocket.verbs.loopback.LoopbackQp;
import org.jrsocket.wire.ConnData;
import org.jrsocket.wire.Grant;
import org.jrsocket.wire.Imm;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * What a stream puts on the wire and what it makes of a correct peer's messages, message by message: sections 2, 3 and
 * 8 of the protocol page, with the traps of section 9 that concern them (their numbers in brackets).
 */
class ConversationTest extends RawPeerTests {

    private static final int SHUTDOWN = Imm.ctrl(Imm.CTRL_SHUTDOWN);
    private static final int DISCONNECT = Imm.ctrl(Imm.CTRL_DISCONNECT);
    private static final int RESET = Imm.ctrl(Imm.CTRL_RESET);

    private static final StreamConfig RINGS_OF_8K = CONFIG.withBuffers(16 * 1024, 8192);

    /** [7, 13] The second half is granted at once, into entry 1, under the table's key. */
    @ParameterizedTest
    @EnumSource(Role.class)
    void shouldGrantItsSecondHalfIntoEntryOneAsSoonAsItIsConnected(Role role) throws Exception {
        Link l = link(role);
        RawPeer.Message first = l.peer().takeMessages(1).get(0);
        assertEquals(SendBatch.RDMA_WRITE_WITH_IMM, first.opcode());
        assertEquals(Imm.sgl(l.peer().stream.credits()), first.imm());
        assertEquals(l.peer().tableAddress() + 16, first.address());
        assertEquals(l.peer().tableMr.getRkey(), first.key());
        int half = l.peer().stream.dataLength();
        assertEquals(CONFIG.receiveBuffer() / 2, half);
        assertEquals(
                new RawPeer.Area(
                        l.peer().stream.dataAddr() + half, l.peer().stream.dataKey(), half),
                l.peer().areas().peek());
    }

    /** Section 8: the same five bytes there and back, half close, close. */
    @ParameterizedTest
    @EnumSource(Role.class)
    void shouldSpeakAsInTheWorkedExample(Role role) throws Exception {
        Link l = link(role);
        RawPeer peer = l.peer();
        peer.takeMessages(1);
        peer.grantRing(65536, 65536);
        l.stream().write("hello".getBytes(UTF_8), 0, 5, PATIENCE);
        RawPeer.Message data = peer.takeMessages(1).get(0);
        assertEquals(5, data.imm());
        assertEquals(peer.ringAddress(), data.address(), "[7] data goes into the area of the connection data first");
        assertEquals(peer.ringMr.getRkey(), data.key());
        assertArrayEquals("hello".getBytes(UTF_8), data.payload());
        peer.data("olleh".getBytes(UTF_8));
        assertArrayEquals("olleh".getBytes(UTF_8), read(l.stream(), 5));
        l.stream().shutdownOutput();
        assertEquals(List.of(SHUTDOWN), imms(peer.takeMessages(1)));
        peer.ctrl(Imm.CTRL_DISCONNECT);
        assertEquals(-1, l.stream().read(new byte[1], 0, 1, PATIENCE));
        l.stream().close();
        RawPeer.await(() -> transport.liveStreams() == 0, () -> "not freed");
        assertEquals(List.of(), peer.takeMessages(), "a peer that disconnected is told nothing more");
    }

    static List<Integer> imms(List<RawPeer.Message> messages) {
        return messages.stream().map(RawPeer.Message::imm).toList();
    }

    /** [8] Section 8's large write: the first half to its last byte, then the second. */
    @Test
    void shouldFillEachGrantToItsLastByteAndNeverCross() throws Exception {
        Link l = link(Role.PASSIVE);
        RawPeer peer = l.peer();
        peer.takeMessages(1);
        peer.grantRing(65536, 65536);
        byte[] sent = bytes(102405);
        l.stream().write(sent, 0, sent.length, PATIENCE);
        List<RawPeer.Message> got = awaitData(peer, sent.length);
        assertArrayEquals(sent, RawPeer.bytesOf(got));
        long at = peer.ringAddress();
        for (RawPeer.Message m : got) {
            assertEquals(at, m.address(), "no gap, no early switch");
            assertTrue(
                    at >= peer.ringAddress() + 65536 || at + m.length() <= peer.ringAddress() + 65536, "crosses: " + m);
            at += m.length();
        }
    }

    /** Everything until that many bytes of data came. */
    static List<RawPeer.Message> awaitData(RawPeer peer, int count) {
        List<RawPeer.Message> got = new ArrayList<>();
        RawPeer.await(
                () -> {
                    got.addAll(peer.takeMessages());
                    return RawPeer.bytesOf(got).length >= count;
                },
                () -> "awaited " + count + " bytes, came " + got);
        return got;
    }

    /** Adds what arrives to {@code got} until {@code imm} is among it. */
    private static void takeUntil(int imm, RawPeer peer, List<RawPeer.Message> got) {
        RawPeer.await(
                () -> {
                    got.addAll(peer.takeMessages());
                    return imms(got).contains(imm);
                },
                () -> "awaited " + Imm.describe(imm) + ", came " + got);
    }

    /** Section 11: grants of any size, address and order of addresses; two unused at a time. */
    @Test
    void shouldFollowGrantsOfAnySizeToDifferentPlaces() throws Exception {
        Link l = link(Role.PASSIVE, RawPeer.Spec.DEFAULT.half(64));
        RawPeer peer = l.peer();
        peer.takeMessages(1);
        byte[] sent = bytes(64 + 100 - 36 + 50 + 7 + 1);
        l.stream().write(sent, 0, sent.length, PATIENCE);
        List<RawPeer.Message> got = new ArrayList<>(awaitData(peer, 64));
        assertEquals(List.of(64), RawPeer.dataLengths(got));
        peer.grantRing(20, 100);
        got.addAll(awaitData(peer, 100));
        peer.grantRing(3, 7);
        got.addAll(awaitData(peer, 7));
        peer.grantRing(127, 1);
        got.addAll(awaitData(peer, 1));
        peer.grantRing(64, 50);
        got.addAll(awaitData(peer, sent.length - 172));
        assertArrayEquals(sent, RawPeer.bytesOf(got));
        assertEquals(List.of(64, 100, 7, 1, sent.length - 172), RawPeer.dataLengths(got));
    }

    /** [9, 10] A grant is taken out of the table once, and its slot is free for the next at once. */
    @Test
    void shouldClearATableEntryWhenItTakesTheGrant() throws Exception {
        Link l = link(Role.PASSIVE, RawPeer.Spec.DEFAULT.half(64));
        for (int i = 0; i < 40; i++) { // entries 1, 0, 1, 0, ...
            byte[] sent = bytes(64);
            l.stream().write(sent, 0, 64, PATIENCE);
            awaitData(l.peer(), 64);
            l.peer().grantRing(i % 2 * 64, 64);
            l.stream().poll();
        }
    }

    /** [10] The peer may write its grant long before the message that announces it is looked at. */
    @Test
    void shouldNotUseAGrantBeforeItIsAnnounced() throws Exception {
        Link l = link(Role.PASSIVE, RawPeer.Spec.DEFAULT.half(64));
        RawPeer peer = l.peer();
        peer.takeMessages(1);
        byte[] grant = new byte[16];
        Grant.put(
                ByteBuffer.wrap(grant).order(ByteOrder.nativeOrder()),
                0,
                Grant.BIG_ENDIAN_HOST,
                peer.ringAddress() + 64,
                peer.ringMr.getRkey(),
                64);
        peer.post(SendBatch.RDMA_WRITE, 0, peer.stream.targetAddr() + 16, peer.stream.targetKey(), grant);
        l.stream().write(bytes(128), 0, 128, PATIENCE);
        l.stream().poll();
        assertEquals(List.of(64), RawPeer.dataLengths(awaitData(peer, 64)));
        peer.grantRing(64, 64);
        assertEquals(List.of(64), RawPeer.dataLengths(awaitData(peer, 64)));
    }

    /** The writer wraps at the peer's count of entries, not at two. */
    @Test
    void shouldWriteItsGrantsAroundAsManyEntriesAsThePeerHas() throws Exception {
        Link l = link(Role.PASSIVE, RawPeer.Spec.DEFAULT.entries(5), RINGS_OF_8K);
        RawPeer peer = l.peer();
        byte[] half = bytes(4096);
        for (int i = 0; i < 12; i++) {
            peer.room();
            peer.data(half);
            assertArrayEquals(half, read(l.stream(), 4096));
            peer.pump();
        }
        List<Long> entries = peer.takeMessages(13).stream()
                .filter(RawPeer.Message::isGrant)
                .map(m -> (m.address() - peer.tableAddress()) / 16)
                .toList();
        assertEquals(List.of(1L, 2L, 3L, 4L, 0L, 1L, 2L, 3L, 4L, 0L, 1L, 2L, 3L), entries);
    }

    /** [19] NET: a grant is written in the order of the side that reads it. */
    @Test
    void shouldWriteGrantsInABigEndianPeersOrder() throws Exception {
        Link l = link(Role.PASSIVE, RawPeer.Spec.DEFAULT.flags(ConnData.NET | ConnData.IOMAP));
        RawPeer.Message grant = l.peer().takeMessages(1).get(0);
        ByteBuffer big = ByteBuffer.wrap(grant.payload());
        assertEquals(l.peer().stream.dataAddr() + l.peer().stream.dataLength(), big.getLong(0));
        assertEquals(l.peer().stream.dataKey(), big.getInt(8));
        assertEquals(l.peer().stream.dataLength(), big.getInt(12));
        l.peer().data(bytes(10));
        assertArrayEquals(bytes(10), read(l.stream(), 10));
    }

    /** Unknown flags and reserved bytes are ignored. */
    @Test
    void shouldIgnoreUnknownFlagsAndReservedBytes() throws Exception {
        try (RdmaListener listener = listen(CONFIG)) {
            RawPeer peer = active(listener.localAddress(), RawPeer.Spec.DEFAULT);
            byte[] data = peer.connData();
            data[1] |= (byte) 0xfc;
            data[4] = data[5] = data[6] = (byte) 0xff;
            data[7] = (byte) 0x83; // 768 entries of iomap, which nobody uses
            peer.request(data);
            peer.established();
            RdmaStream stream = StreamPair.accept(listener);
            stream.write(bytes(10), 0, 10, PATIENCE);
            awaitData(peer, 10);
        }
    }

    /** [2, 5] No data message beyond the limit; some of a C peer's receives are left to control messages. */
    @Test
    void shouldStopSendingWhenThePeersCreditsAreUsedUp() throws Exception {
        Link l = link(Role.PASSIVE, RawPeer.Spec.DEFAULT.credits(16));
        RawPeer peer = l.peer();
        peer.takeMessages(1);
        List<RawPeer.Message> got = new ArrayList<>();
        for (int i = 0; i < 40; i++) {
            l.stream().write(bytes(1), 0, 1, PATIENCE);
            l.stream().poll();
            got.addAll(peer.takeMessages());
        }
        int first = RawPeer.dataLengths(got).size();
        assertTrue(first >= 8 && first <= 16, first + " messages: a C peer updates at half of its credits");
        peer.consumed(first);
        peer.credit(first + 16);
        l.stream().poll();
        got.addAll(awaitData(peer, 40 - RawPeer.bytesOf(got).length));
        assertEquals(40, RawPeer.bytesOf(got).length);
        assertEquals(0, verbs.rnrCount());
    }

    /** One of ours posts receives for control messages beyond its credits: all of them are for data. */
    @Test
    void shouldUseAllCreditsOfAPeerOfItsOwnKind() throws Exception {
        Link l =
                link(Role.PASSIVE, RawPeer.Spec.DEFAULT.credits(16).receives(24).ours());
        for (int i = 0; i < 40; i++) {
            l.stream().write(bytes(1), 0, 1, PATIENCE);
            l.stream().poll();
        }
        assertEquals(16, RawPeer.dataLengths(l.peer().messages()).size());
    }

    /** A peer with a single credit is slow, not stuck. */
    @Test
    void shouldTalkToAPeerWithOneCredit() throws Exception {
        Link l = link(Role.PASSIVE, RawPeer.Spec.DEFAULT.credits(1).receives(16));
        RawPeer peer = l.peer();
        peer.takeMessages(1);
        for (int i = 1; i <= 5; i++) {
            l.stream().write(bytes(3), 0, 3, PATIENCE);
            assertEquals(List.of(3), RawPeer.dataLengths(awaitData(peer, 3)));
            peer.credit(i + 1);
            l.stream().poll();
        }
    }

    /** [5] The limit is absolute, 16 bits wide, and C sends more bits than that. Both counters wrap more than once. */
    @Test
    void shouldCountCreditsAroundSixteenBits() throws Exception {
        Link l = link(Role.PASSIVE);
        RawPeer peer = l.peer();
        peer.stopRecording();
        int granted = 65536;
        int place = 0;
        for (int i = 1; peer.dataMessages() < 140_000; i++) {
            if (i == granted) {
                peer.consumed(peer.dataMessages());
                place = 65536 - place;
                peer.grantRing(place, 65536);
                granted += 65536;
            }
            l.stream().write(bytes(1), 0, 1, PATIENCE);
            if (i % 100 == 0) {
                peer.credit((peer.dataMessages() & 0xffff) + 384); // C: not cut to 16 bits
                l.stream().poll();
                peer.pump();
            }
        }
        RawPeer.await(
                () -> {
                    l.stream().poll();
                    return peer.dataBytes() == l.stream().bytesWritten();
                },
                () -> "arrived " + peer.dataBytes() + " of " + l.stream().bytesWritten());
        assertEquals(0, verbs.rnrCount());
    }

    /** [3, 4] More than 65536 messages in, each with credits that we gave. */
    @Test
    void shouldGiveCreditsAroundSixteenBits() throws Exception {
        Link l = link(Role.PASSIVE);
        RawPeer peer = l.peer();
        peer.stopRecording();
        byte[] b = new byte[1];
        for (int i = 0; i < 140_000; i++) {
            peer.room();
            peer.data((byte) i);
            assertEquals(1, l.stream().read(b, 0, 1, PATIENCE));
            assertEquals((byte) i, b[0]);
            peer.pump();
        }
        assertEquals(0, verbs.rnrCount());
    }

    /** [4] Receives and credits come back although the application reads nothing; only the ring limits the peer. */
    @Test
    void shouldGiveBackReceivesAndCreditsWithoutTheApplicationReading() throws Exception {
        Link l = link(Role.PASSIVE, RawPeer.Spec.DEFAULT, CONFIG.withQueues(16, 16));
        RawPeer peer = l.peer();
        for (int i = 0; i < 2000; i++) {
            peer.room();
            peer.data((byte) i);
            l.stream().available(); // counts as polling, not as reading
            l.stream().poll();
            peer.pump();
            assertTrue(peer.window() > 0, "no credits after " + i);
        }
        assertEquals(0, verbs.rnrCount());
        assertEquals(2000, read(l.stream(), 2000).length);
    }

    /**
     * [1, 18, 20] While we do not poll at all, a peer that keeps the rules never meets an empty receive queue, not even
     * to close.
     */
    @ParameterizedTest
    @EnumSource(Role.class)
    void shouldHaveReceivesForAllCreditsAndControlMessagesWhenIdle(Role role) throws Exception {
        Link l = link(role, RawPeer.Spec.DEFAULT, CONFIG.withQueues(64, 64));
        assertEquals(64 + Inbound.SPARE_RECEIVES, streamQp(l).postedReceives());
        for (int i = 0; i < 64; i++) {
            l.peer().data((byte) i);
        }
        useUpControl(l.peer());
        assertEquals(0, verbs.rnrCount());
        assertEquals(64, read(l.stream(), 64).length);
        assertEquals(-1, l.stream().read(new byte[1], 0, 1, PATIENCE));
    }

    /** All that C sends beyond its data while we do not poll. */
    private static void useUpControl(RawPeer peer) throws IOException {
        peer.grantRing(65536, 1);
        peer.grantRing(0, 1);
        peer.credit(peer.spec.credits());
        peer.credit(peer.spec.credits());
        peer.ctrl(Imm.CTRL_SHUTDOWN);
        peer.ctrl(Imm.CTRL_DISCONNECT);
    }

    LoopbackQp streamQp(Link l) {
        return verbs.qps().stream()
                .filter(qp -> qp != l.peer().qp())
                .findFirst()
                .orElseThrow();
    }

    /**
     * [1, 3, 18] The same at whatever moment we stopped polling: control messages of before may not have eaten the
     * spare receives.
     */
    @Test
    void shouldKeepReceivesForAPeersCloseAtAnyMoment() throws Exception {
        for (int before = 0; before < 24; before++) {
            Link l = link(Role.PASSIVE, RawPeer.Spec.DEFAULT, CONFIG.withQueues(64, 64));
            for (int i = 0; i < before; i++) {
                l.peer().credit(384);
                l.stream().poll();
            }
            while (l.peer().window() > 0) {
                l.peer().data((byte) 1);
            }
            useUpControl(l.peer());
            assertEquals(0, verbs.rnrCount(), "after " + before + " control messages");
            l.peer().close();
            l.stream().close();
        }
    }

    /** [6] A DATA message of no bytes is consumed and delivers nothing: no false end. */
    @ParameterizedTest
    @EnumSource(Role.class)
    void shouldIgnoreDataOfLengthZero(Role role) throws Exception {
        Link l = link(role);
        RawPeer peer = l.peer();
        for (int i = 0; i < 1000; i++) {
            peer.bare(0);
            peer.moved(0);
            l.stream().poll();
        }
        assertTrue(peer.window() > 0, "they cost credits and give them back");
        assertFalse(l.stream().isReadable());
        peer.data((byte) 7);
        assertArrayEquals(new byte[] {7}, read(l.stream(), 1));
    }

    /** [6] Nothing written is no message. */
    @Test
    void shouldNotSendAnEmptyMessage() throws Exception {
        Link l = link(Role.PASSIVE);
        l.peer().takeMessages(1);
        l.stream().write(new byte[0], 0, 0, PATIENCE);
        l.stream().write(ByteBuffer.allocate(0));
        assertEquals(List.of(), l.peer().takeMessages());
    }

    /** [15] Data after SHUTDOWN is dropped. */
    @ParameterizedTest
    @EnumSource(Role.class)
    void shouldDropDataAfterShutdown(Role role) throws Exception {
        Link l = link(role);
        l.peer().data(bytes(3));
        l.peer().ctrl(Imm.CTRL_SHUTDOWN);
        l.peer().data(bytes(4));
        assertArrayEquals(bytes(3), read(l.stream(), 3));
        assertEquals(-1, l.stream().read(new byte[1], 0, 1, PATIENCE));
        assertEquals(0, l.stream().available());
        l.stream().write(bytes(5), 0, 5, PATIENCE);
        awaitData(l.peer(), 5);
    }

    /**
     * [15] A C client that only sends and closes pays its second half after its DISCONNECT; data after it is nothing
     * either.
     */
    @Test
    void shouldTolerateAnythingAfterDisconnect() throws Exception {
        Link l = link(Role.PASSIVE);
        List<String> warnings = warningsIn(() -> {
            l.peer().data(bytes(9));
            l.peer().ctrl(Imm.CTRL_DISCONNECT);
            l.peer().grantRing(65536, 65536);
            l.peer().credit(384);
            l.peer().data(bytes(2));
            l.peer().ctrl(Imm.CTRL_SHUTDOWN);
            l.peer().ctrl(Imm.CTRL_DISCONNECT);
            assertArrayEquals(bytes(9), read(l.stream(), 9));
            assertEquals(-1, l.stream().read(new byte[1], 0, 1, PATIENCE));
            assertEquals(-1, l.stream().read(new byte[1], 0, 1, PATIENCE));
        });
        assertEquals(List.of(), warnings);
        l.stream().write(bytes(1), 0, 1, PATIENCE); // in vain, as over TCP
        SocketException e = assertThrows(SocketException.class, () -> l.stream().write(bytes(1), 0, 1, PATIENCE));
        assertEquals("Broken pipe", e.getMessage());
    }

    /** Section 10: other control codes are ignored, as C does; keepalive too. */
    @Test
    void shouldIgnoreUnknownControlCodes() throws Exception {
        Link l = link(Role.PASSIVE);
        for (int code : new int[] {Imm.CTRL_KEEPALIVE, Imm.CTRL_RESET, 4, 5, 0xffff, 0x1fff_ffff}) {
            l.peer().ctrl(code);
        }
        l.peer().data(bytes(1));
        assertEquals(1, read(l.stream(), 1).length);
    }

    /** RESET counts only from a peer that has shown that it is one of ours. */
    @Test
    void shouldResetWhenAPeerOfItsOwnKindSaysSo() throws Exception {
        Link l = link(Role.PASSIVE, RawPeer.Spec.DEFAULT.ours());
        l.peer().ctrl(Imm.CTRL_RESET);
        SocketException e = assertThrows(SocketException.class, () -> l.stream().read(new byte[1], 0, 1, PATIENCE));
        assertEquals("Connection reset", e.getMessage());
    }

    /** Section 3.4: a keepalive of C is a plain write of nothing to nowhere; it is invisible. */
    @Test
    void shouldNotNoticeAKeepalive() throws Exception {
        Link l = link(Role.PASSIVE);
        assertTrue(l.peer().post(SendBatch.RDMA_WRITE, 0, 0, 0));
        assertTrue(l.peer().reap());
        l.peer().data(bytes(1));
        assertEquals(1, read(l.stream(), 1).length);
    }

    /** Section 3.4: ours is the same: no immediate value, no payload, no receive at the peer. */
    @Test
    void shouldProbeWithAPlainEmptyWrite() throws Exception {
        Link l = link(Role.PASSIVE);
        l.peer().takeMessages(1);
        l.stream().keepAlive(1_000_000);
        RawPeer.Message probe = l.peer().takeMessages(3).get(2);
        l.stream().keepAlive(0);
        assertEquals(SendBatch.RDMA_WRITE, probe.opcode());
        assertEquals(0, probe.length());
        assertEquals(0, probe.address());
        assertEquals(0, probe.key());
    }

    /** Asked for again, also with the same interval, it does not probe twice as often. */
    @Test
    void shouldProbeInOneChainOnly() throws Exception {
        Link l = link(Role.PASSIVE);
        l.peer().takeMessages(1);
        long interval = 20_000_000;
        long start = System.nanoTime();
        for (int i = 0; i < 100; i++) {
            l.stream().keepAlive(interval);
        }
        int probes = l.peer().takeMessages(5).size();
        l.stream().keepAlive(0);
        assertTrue(probes <= 1 + (System.nanoTime() - start) / interval, probes + " probes");
    }

    /** C takes a zero-length SEND_WITH_IMM for a message just as well; so do we. */
    @Test
    void shouldAcceptControlMessagesThatAreSends() throws Exception {
        Link l = link(Role.PASSIVE);
        l.peer().post(SendBatch.SEND_WITH_IMM, Imm.sgl(384), 0, 0);
        l.peer().post(SendBatch.SEND_WITH_IMM, SHUTDOWN, 0, 0);
        assertEquals(-1, l.stream().read(new byte[1], 0, 1, PATIENCE));
    }

    /** Section 3.2: all data posted before SHUTDOWN goes out before it. */
    @ParameterizedTest
    @EnumSource(Role.class)
    void shouldSendShutdownAfterAllData(Role role) throws Exception {
        Link l = link(role, RawPeer.Spec.DEFAULT.half(100));
        RawPeer peer = l.peer();
        peer.takeMessages(1);
        byte[] sent = bytes(350);
        l.stream().write(sent, 0, sent.length, PATIENCE);
        l.stream().shutdownOutput();
        assertFalse(peer.has(SHUTDOWN));
        List<RawPeer.Message> got = new ArrayList<>(awaitData(peer, 100));
        for (int place = 100; RawPeer.bytesOf(got).length < 350; place = 100 - place) {
            int before = RawPeer.bytesOf(got).length;
            peer.grantRing(place, 100);
            got.addAll(awaitData(peer, Math.min(100, 350 - before)));
        }
        takeUntil(SHUTDOWN, peer, got);
        assertArrayEquals(sent, RawPeer.bytesOf(got));
        assertEquals(SHUTDOWN, got.get(got.size() - 1).imm());
        peer.data(bytes(4));
        assertArrayEquals(bytes(4), read(l.stream(), 4));
    }

    /** [16] DISCONNECT comes last, after all data, although the peer grants late; and is waited for. */
    @ParameterizedTest
    @EnumSource(Role.class)
    void shouldSendDisconnectLastWhenClosed(Role role) throws Exception {
        Link l = link(role, RawPeer.Spec.DEFAULT.half(100));
        RawPeer peer = l.peer();
        peer.takeMessages(1);
        byte[] sent = bytes(250);
        l.stream().write(sent, 0, sent.length, PATIENCE);
        l.stream().close();
        List<RawPeer.Message> got = new ArrayList<>(awaitData(peer, 100));
        peer.grantRing(100, 100);
        got.addAll(awaitData(peer, 100));
        assertFalse(imms(got).contains(DISCONNECT));
        peer.grantRing(0, 100);
        got.addAll(awaitData(peer, 50));
        takeUntil(DISCONNECT, peer, got);
        assertArrayEquals(sent, RawPeer.bytesOf(got));
        assertEquals(DISCONNECT, got.get(got.size() - 1).imm());
        assertTrue(l.stream().awaitDrained(PATIENCE));
    }

    /** [16] Nothing is torn down before the peer's device has acknowledged the DISCONNECT. */
    @Test
    void shouldWaitForTheAcknowledgementOfItsDisconnect() throws Exception {
        Link l = link(Role.PASSIVE);
        verbs.faults().holdAcks(true);
        l.stream().close();
        l.peer().awaitImm(DISCONNECT);
        assertFalse(l.stream().awaitDrained(300_000_000));
        assertEquals(1, transport.liveStreams());
        verbs.faults().holdAcks(false);
        assertTrue(l.stream().awaitDrained(PATIENCE));
    }

    /** Section 3.1: after SHUTDOWN both ways a C peer's queue pair no longer answers, so no DISCONNECT. */
    @ParameterizedTest
    @EnumSource(Role.class)
    void shouldSendNoDisconnectAfterShutdownBothWays(Role role) throws Exception {
        Link l = link(role);
        l.peer().takeMessages(1);
        l.stream().shutdownOutput();
        l.peer().ctrl(Imm.CTRL_SHUTDOWN);
        assertEquals(-1, l.stream().read(new byte[1], 0, 1, PATIENCE));
        l.stream().close();
        assertTrue(l.stream().awaitDrained(PATIENCE));
        assertEquals(List.of(SHUTDOWN), imms(l.peer().takeMessages()));
    }

    /** But a shutdown of one side only needs it. */
    @Test
    void shouldSendDisconnectAfterItsOwnShutdown() throws Exception {
        Link l = link(Role.PASSIVE);
        l.peer().takeMessages(1);
        l.stream().shutdownOutput();
        l.stream().close();
        assertTrue(l.stream().awaitDrained(PATIENCE));
        assertEquals(List.of(SHUTDOWN, DISCONNECT), imms(l.peer().takeMessages()));
    }

    /** A C peer is never sent our own control code; it sees an ordinary end. */
    @Test
    void shouldNotSendResetToACPeer() throws Exception {
        Link l = link(Role.PASSIVE);
        l.peer().takeMessages(1);
        l.stream().abort();
        assertTrue(l.stream().awaitDrained(PATIENCE));
        assertEquals(List.of(DISCONNECT), imms(l.peer().takeMessages()));
    }

    @Test
    void shouldSendResetToAPeerOfItsOwnKind() throws Exception {
        Link l = link(Role.PASSIVE, RawPeer.Spec.DEFAULT.ours());
        l.peer().takeMessages(1);
        l.stream().abort();
        assertTrue(l.stream().awaitDrained(PATIENCE));
        assertEquals(List.of(RESET, DISCONNECT), imms(l.peer().takeMessages()));
    }

    /** [17] The CM's word is the end too; what arrived before it is delivered, then it is a reset. */
    @ParameterizedTest
    @EnumSource(Role.class)
    void shouldDeliverWhatArrivedBeforeThePeerVanished(Role role) throws Exception {
        Link l = link(role);
        l.peer().data(bytes(20));
        l.peer().close();
        assertArrayEquals(bytes(20), read(l.stream(), 20));
        SocketException e = assertThrows(SocketException.class, () -> l.stream().read(new byte[1], 0, 1, PATIENCE));
        assertEquals("Connection reset", e.getMessage());
    }

    /** [17, 24] After DISCONNECT the CM's word changes nothing: still an end, not a reset. */
    @Test
    void shouldSeeAnEndWhenDisconnectAndTheManagersWordBothCome() throws Exception {
        Link l = link(Role.PASSIVE);
        l.peer().data(bytes(20));
        l.peer().ctrl(Imm.CTRL_DISCONNECT);
        l.peer().close();
        Thread.sleep(20);
        assertArrayEquals(bytes(20), read(l.stream(), 20));
        assertEquals(-1, l.stream().read(new byte[1], 0, 1, PATIENCE));
    }

    /** [24] The DREQ may be lost; DISCONNECT alone is enough. */
    @Test
    void shouldEndByDisconnectAlone() throws Exception {
        Link l = link(Role.PASSIVE);
        verbs.faults().drop(CmMessage.DREQ, Integer.MAX_VALUE);
        l.peer().ctrl(Imm.CTRL_DISCONNECT);
        l.peer().close();
        assertEquals(-1, l.stream().read(new byte[1], 0, 1, PATIENCE));
    }

    /**
     * [11, 12] Half a ring is all there is until the peer's application does something: a writer goes on without the
     * second half.
     */
    @Test
    void shouldSendIntoTheFirstHalfWithoutWaitingForTheSecond() throws Exception {
        Link l = link(Role.ACTIVE);
        l.peer().takeMessages(1);
        l.stream().write(bytes(65536), 0, 65536, PATIENCE);
        assertEquals(65536, RawPeer.bytesOf(awaitData(l.peer(), 65536)).length);
    }

    /** [21] Both sides full is the application's business; but grants still flow while a writer waits. */
    @Test
    void shouldTakeGrantsWhileItsWriterWaits() throws Exception {
        Link l = link(Role.PASSIVE, RawPeer.Spec.DEFAULT, CONFIG.withBuffers(8192, 8192));
        RawPeer peer = l.peer();
        peer.takeMessages(1);
        peer.data(bytes(4096));
        peer.room();
        peer.data(bytes(4096)); // the stream's ring is full, and so is the peer's soon
        byte[] sent = bytes(300_000);
        var writer = background(() -> {
            l.stream().write(sent, 0, sent.length, PATIENCE);
            return null;
        });
        List<RawPeer.Message> got = new ArrayList<>(awaitData(peer, 65536));
        for (int place = 65536; RawPeer.bytesOf(got).length < sent.length; place = 65536 - place) {
            int before = RawPeer.bytesOf(got).length;
            peer.pump();
            peer.consumed(RawPeer.dataLengths(got).size());
            peer.grantRing(place, 65536);
            got.addAll(awaitData(peer, Math.min(65536, sent.length - before)));
        }
        get(writer);
        assertArrayEquals(sent, RawPeer.bytesOf(got));
        assertEquals(8192, read(l.stream(), 8192).length);
    }

    /** Data_buf.length 0 is legal: the first grant comes later. */
    @ParameterizedTest
    @EnumSource(Role.class)
    void shouldWaitForTheFirstGrantOfAPeerThatGaveNone(Role role) throws Exception {
        Link l = linkWithoutFirstGrant(role);
        RawPeer peer = l.peer();
        peer.takeMessages(1);
        l.stream().write(bytes(10), 0, 10, PATIENCE);
        l.stream().poll();
        assertEquals(List.of(), peer.takeMessages());
        peer.grantRing(0, 100);
        assertEquals(List.of(10), RawPeer.dataLengths(awaitData(peer, 10)));
    }

    private Link linkWithoutFirstGrant(Role role) throws IOException {
        if (role == Role.PASSIVE) {
            try (RdmaListener listener = listen(CONFIG)) {
                RawPeer peer = active(listener.localAddress(), RawPeer.Spec.DEFAULT);
                peer.request(withoutFirstGrant(peer));
                peer.established();
                return new Link(StreamPair.accept(listener), peer);
            }
        }
        RawPeer.RawListener listener = rawListen();
        PendingConnect pending = transport.connect(null, listener.address(), CONFIG);
        RawPeer peer = listener.take(RawPeer.Spec.DEFAULT);
        peers.add(peer);
        peer.answer(withoutFirstGrant(peer));
        return new Link(pending.await(PATIENCE), peer.confirmed());
    }

    private static byte[] withoutFirstGrant(RawPeer peer) {
        byte[] data = peer.connData();
        ByteBuffer.wrap(data).putInt(36, 0);
        return data;
    }

    /** Section 10: a grant of length 0 is "no grant", and legal; it uses up its entry. */
    @Test
    void shouldTakeAGrantOfLengthZeroForNone() throws Exception {
        Link l = link(Role.PASSIVE, RawPeer.Spec.DEFAULT.half(64));
        RawPeer peer = l.peer();
        peer.takeMessages(1);
        l.stream().write(bytes(100), 0, 100, PATIENCE);
        awaitData(peer, 64);
        peer.grantRing(64, 0); // entry 1
        peer.grantRing(64, 64); // entry 0
        assertEquals(List.of(36), RawPeer.dataLengths(awaitData(peer, 36)));
    }

    /**
     * [22, 23] However many small writes: no work request is posted that the queue has no room for, and the last is
     * never forgotten.
     */
    @Test
    void shouldPushManySmallWritesThroughASmallSendQueue() throws Exception {
        Link l = link(Role.PASSIVE, RawPeer.Spec.DEFAULT, CONFIG.withQueues(16, 16));
        RawPeer peer = l.peer();
        byte[] sent = bytes(20_000);
        for (int i = 0; i < sent.length; i += 8) {
            l.stream().write(sent, i, 8, PATIENCE);
            if (i % 800 == 0) {
                peer.credit(RawPeer.dataLengths(peer.messages()).size() + 384);
                l.stream().poll();
                peer.pump();
            }
        }
        List<RawPeer.Message> got = awaitData(peer, sent.length);
        assertArrayEquals(sent, RawPeer.bytesOf(got));
    }

    /**
     * A peer that posts no receives keeps our updates in the send queue until it is full. What is asked for then, a
     * SHUTDOWN, goes out when there is room again, although the application does nothing more.
     */
    @Test
    void shouldSendShutdownWhenAFullSendQueueHasRoomAgain() throws Exception {
        Link l = link(
                Role.PASSIVE,
                RawPeer.Spec.DEFAULT.receives(1),
                CONFIG.withBuffers(8192, 8192).withQueues(16, 64));
        RawPeer peer = l.peer();
        long half = peer.stream.dataAddr();
        // the peer needs no grants to know them: the stream granted them as soon as it queued them
        for (int i = 0; i < 15; i++) {
            peer.post(
                    SendBatch.RDMA_WRITE_WITH_IMM,
                    Imm.data(4096),
                    half + i % 2 * 4096L,
                    peer.positionKey(),
                    bytes(4096));
            if (i < 14) {
                assertEquals(4096, read(l.stream(), 4096).length);
            }
        }
        l.stream().shutdownOutput();
        peer.raw.receives(15);
        peer.awaitImm(SHUTDOWN);
    }
}
