/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.stream;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.ByteBuffer;
import java.util.List;
import java.util.stream.Stream;
import org.jrsocket.verbs.SendBatch;
import org.jrsocket.wire.Imm;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * A whole conversation, message by message, and messages that say little: what a stream puts on the wire and what it
 * makes of a correct peer's messages. Sections 2, 3 and 8 of the protocol page; {@code GrantConversationTest}, {@code
 * CreditConversationTest} and {@code EndConversationTest} have the rest of it.
 */
class ConversationTest extends RawPeerTests {

    private static final int SHUTDOWN = Imm.ctrl(Imm.CTRL_SHUTDOWN);

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

    /** Short buffers go out together, whether a request carries them itself or not. */
    @ParameterizedTest
    @ValueSource(ints = {10, 1000})
    void shouldSendWhatAWriteGathersInOneMessage(int size) throws Exception {
        Link l = link(Role.ACTIVE);
        RawPeer peer = l.peer();
        peer.takeMessages(1);
        peer.grantRing(65536, 65536);
        ByteBuffer[] parts = {
            ByteBuffer.wrap("before".getBytes(UTF_8)),
            ByteBuffer.wrap("head".getBytes(UTF_8)),
            ByteBuffer.allocate(0),
            ByteBuffer.allocateDirect(size).put("tail".getBytes(UTF_8)).rewind()
        };
        assertEquals(4 + size, l.stream().write(parts, 1, 3));
        RawPeer.Message data = peer.takeMessages(1).get(0);
        assertEquals(4 + size, data.imm());
        assertEquals("headtail", new String(data.payload(), 0, 8, UTF_8));
        assertEquals(
                List.of(0, 4, 0, size),
                Stream.of(parts).map(ByteBuffer::position).toList());
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
}
