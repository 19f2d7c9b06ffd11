/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.stream;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.jrsocket.protocol.Inbound;
import org.jrsocket.verbs.loopback.LoopbackQp;
import org.jrsocket.wire.ConnData;
import org.jrsocket.wire.Imm;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Credits, message by message: what a stream sends with those that it has, and what it gives back. Section 2 of the
 * protocol page, with the traps of section 9 that concern it (their numbers in brackets).
 */
class CreditConversationTest extends RawPeerTests {

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

    LoopbackQp streamQp(Link l) {
        return verbs.qps().stream()
                .filter(qp -> qp != l.peer().qp())
                .findFirst()
                .orElseThrow();
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
     * Such a peer gives its receives back when it polls: our control messages, which it does not count, may use up what
     * it has. Its device then says so again and again, and ours nothing at all.
     */
    @Test
    void shouldNotTakeACPeerThatDoesNotPollForASilentDevice() throws Exception {
        Link l = link(Role.PASSIVE, new RawPeer.Spec(16, 16, 8192, 2, ConnData.LOCAL_FLAGS, false, 7));
        int bytes = 0;
        for (int i = 0; i < 12; i++) { // what its credits allow
            l.stream().write(new byte[1], 0, 1, PATIENCE);
            bytes++;
        }
        while (verbs.rnrCount() == 0) { // and grants of ours
            int n = l.peer().room();
            l.peer().data(new byte[n]);
            read(l.stream(), n);
        }
        for (int i = 0; i < 2 * DeviceSilence.MOST_LOOKS; i++) {
            l.stream().core().sweep.look();
        }
        assertTrue(l.stream().core().out.awaitsCompletion(), "the last one has met a receive");
        assertNull(l.stream().core().failure);
        int sent = bytes;
        RawPeer.await(
                () -> {
                    l.peer().pump();
                    l.stream().poll();
                    return l.peer().dataBytes() == sent
                            && !l.stream().core().out.awaitsCompletion();
                },
                () -> l.peer().dataBytes() + " bytes came");
    }
}
