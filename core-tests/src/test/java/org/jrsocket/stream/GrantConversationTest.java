/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.stream;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import org.jrsocket.endpoint.Bundle;
import org.jrsocket.os.NativeMemory;
import org.jrsocket.verbs.SendBatch;
import org.jrsocket.wire.ConnData;
import org.jrsocket.wire.Grant;
import org.jrsocket.wire.Imm;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Grants, message by message: where a stream puts its data, and how it gives and takes room. Section 3 of the protocol
 * page, with the traps of section 9 that concern it (their numbers in brackets).
 */
class GrantConversationTest extends RawPeerTests {

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
        ByteBuffer table = NativeMemory.view(l.peer().stream.targetAddr(), Bundle.TABLE_BYTES);
        for (int i = 0; i < 40; i++) { // all entries in turn
            byte[] sent = bytes(64);
            l.stream().write(sent, 0, 64, PATIENCE);
            awaitData(l.peer(), 64);
            l.peer().grantRing(i % 2 * 64, 64);
            l.stream().poll();
            for (int at = 0; at < Bundle.TABLE_BYTES; at += Grant.SIZE) {
                assertEquals(0, Grant.length(table, at, Grant.BIG_ENDIAN_HOST), "after grant " + i);
            }
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
}
