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

import java.net.SocketException;
import java.util.ArrayList;
import java.util.List;
import org.jrsocket.verbs.SendBatch;
import org.jrsocket.verbs.loopback.CmMessage;
import org.jrsocket.wire.Imm;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * How a stream and its peer end, message by message: shutdown, disconnect, reset, and a peer that vanishes. Section 8
 * of the protocol page, with the traps of section 9 that concern it (their numbers in brackets).
 */
class EndConversationTest extends RawPeerTests {

    private static final int SHUTDOWN = Imm.ctrl(Imm.CTRL_SHUTDOWN);
    private static final int DISCONNECT = Imm.ctrl(Imm.CTRL_DISCONNECT);
    private static final int RESET = Imm.ctrl(Imm.CTRL_RESET);

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

    /** RESET counts only from a peer that has shown that it is one of ours. */
    @Test
    void shouldResetWhenAPeerOfItsOwnKindSaysSo() throws Exception {
        Link l = link(Role.PASSIVE, RawPeer.Spec.DEFAULT.ours());
        l.peer().ctrl(Imm.CTRL_RESET);
        SocketException e = assertThrows(SocketException.class, () -> l.stream().read(new byte[1], 0, 1, PATIENCE));
        assertEquals("Connection reset", e.getMessage());
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
        passTheServiceThread(); // which hears the manager
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
