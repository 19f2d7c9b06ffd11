/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.protocol;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

class ReceiveMemoryTest {

    @Test
    void shouldLendFromAReaderThatIsBehindAsLongAsAnotherSlabCanBeCopied() {
        GrantSizing sizing = new GrantSizing(100, 1000, 4);
        ReceiveMemory memory = new ReceiveMemory(new Slab(0, 100, 1, 2), 4, sizing);
        for (int i = 0; i < 3; i++) {
            sizing.ranDry();
            sizing.keptUp();
        }
        memory.grant(new Slab(1 << 12, 100, 1, 2));
        memory.grantsPosted(1);
        assertNull(memory.arrived(100));
        assertNull(memory.arrived(100));
        assertTrue(memory.mayLend(), "the second one can be copied");
        Slab lent = memory.lend(100);
        assertFalse(memory.mayLend(), "all that the peer has");
        memory.giveBack(lent, 100);
        assertEquals(lent, memory.takeFinished());
    }

    @Test
    void shouldGrantAfterAQuietTimeAlthoughMuchIsLent() {
        GrantSizing sizing = new GrantSizing(100, 1000, 4);
        Slab first = new Slab(0, 400, 1, 2);
        ReceiveMemory memory = new ReceiveMemory(first, 4, sizing);
        for (int i = 0; i < 3; i++) {
            sizing.ranDry();
            sizing.keptUp();
        }
        assertEquals(1000, sizing.window());
        assertNull(memory.arrived(400));
        assertFalse(memory.mayLend(), "all that the peer has");
        memory.grant(new Slab(1 << 12, 100, 1, 2));
        memory.grantsPosted(1);
        assertTrue(memory.mayLend());
        memory.lend(400);
        memory.quiet();

        assertEquals(100, memory.wanted(), "the application may keep for ever what it was lent");
        memory.grant(new Slab(2 << 12, 100, 1, 2));
        assertEquals(0, memory.wanted(), "a small window");
        assertFalse(memory.hasFinished());
        memory.giveBack(first, 400);
        assertEquals(first, memory.takeFinished());
        assertEquals(200, memory.held());
        assertEquals(0, memory.wanted());
    }
}
