/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.protocol;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.jrsocket.wire.ConnData;
import org.jrsocket.wire.Imm;
import org.junit.jupiter.api.Test;

class InboundTest {

    private static final ConnData C = ConnData.local(16, 0x1000, 1, 2, 0x2000, 2, 4);

    @Test
    void shouldUnderstandAReleaseAndAResetOfAPeerThatDoesNotItself() {
        Inbound inbound = inbound(C.withFeatures(0));
        assertTrue(Effects.has(inbound.message(Imm.release(0), 0), Effects.MEMORY));
        assertNotNull(inbound.finished(), "the slab that the peer gave up");
        assertTrue(Effects.has(inbound.message(Imm.ctrl(Imm.CTRL_RESET), 0), Effects.RESET));
    }

    @Test
    void shouldTellAResetAfterTheEndFromOneWithoutAnEnd() {
        Inbound inbound = inbound(C.withFeatures(0));
        inbound.message(Imm.ctrl(Imm.CTRL_SHUTDOWN), 0);
        assertEquals(Effects.RESET_AFTER_END, inbound.message(Imm.ctrl(Imm.CTRL_RESET), 0));
        inbound.message(Imm.ctrl(Imm.CTRL_DISCONNECT), 0);
        assertEquals(Effects.NONE, inbound.message(Imm.ctrl(Imm.CTRL_RESET), 0));
    }

    @Test
    void shouldIgnoreOurCodesOfACPeer() {
        Inbound inbound = inbound(C);
        assertEquals(Effects.NONE, inbound.message(Imm.release(0), 0));
        assertEquals(Effects.NONE, inbound.message(Imm.ctrl(Imm.CTRL_RESET), 0));
    }

    @Test
    void shouldNotBelieveInAReleaseOfAGrantThatIsNotPosted() {
        Inbound inbound = inbound(C.withFeatures(0));
        inbound.grant(new Slab(0x4000, 64, 5, 6));
        assertTrue(Effects.has(inbound.message(Imm.release(1), 0), Effects.VIOLATION));
    }

    @Test
    void shouldNotBelieveInDataInAGrantThatIsNotPosted() {
        Inbound inbound = inbound(C);
        inbound.grant(new Slab(0x4000, 64, 5, 6));
        assertEquals(Effects.READABLE, inbound.message(Imm.data(64), 64));
        assertTrue(Effects.has(inbound.message(Imm.data(1), 1), Effects.VIOLATION));
    }

    @Test
    void shouldTakeDataAndAReleaseOfAGrantThatIsPosted() {
        Inbound inbound = inbound(C.withFeatures(0));
        inbound.grant(new Slab(0x4000, 64, 5, 6));
        inbound.grantsPosted(1);
        inbound.message(Imm.data(64), 64);
        assertEquals(Effects.READABLE, inbound.message(Imm.data(1), 1));
        assertTrue(Effects.has(inbound.message(Imm.release(1), 0), Effects.MEMORY));
    }

    /** It is no end, as it would be to C's reader, and nothing to be read. */
    @Test
    void shouldIgnoreDataOfNoBytesEvenWithoutMemoryForMore() {
        Inbound inbound = inbound(C);
        assertEquals(Effects.NONE, inbound.message(0, 0));
        assertEquals(Effects.READABLE, inbound.message(Imm.data(64), 64));
        assertEquals(Effects.NONE, inbound.message(0, 0));
        assertEquals(64, inbound.readable());
        assertEquals(2, inbound.idleMessages());
    }

    @Test
    void shouldTakeNothingAfterADisconnect() {
        Inbound inbound = inbound(C.withFeatures(0));
        inbound.message(Imm.data(10), 10);
        inbound.message(Imm.ctrl(Imm.CTRL_DISCONNECT), 0);
        for (int imm : new int[] {
            Imm.data(5),
            Imm.sgl(17),
            Imm.release(0),
            Imm.ctrl(Imm.CTRL_SHUTDOWN),
            Imm.ctrl(Imm.CTRL_DISCONNECT),
            Imm.OP_IOMAP_SGL << 29
        }) {
            assertEquals(Effects.NONE, inbound.message(imm, 0), Imm.describe(imm));
        }
        assertEquals(10, inbound.readable());
        assertNull(inbound.violation());
    }

    private static Inbound inbound(ConnData peer) {
        return new Inbound(peer, 2, 16, new Slab(0x3000, 64, 3, 4), 128);
    }
}
