/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.protocol;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayDeque;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

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

    /** The peer has given up what it had, so nothing but this will ever lead to another grant. */
    @Test
    void shouldBeUsedUpOnceTheRestOfALargeSlabIsLent() {
        GrantSizing sizing = new GrantSizing(100, 1000, 4);
        ReceiveMemory memory = new ReceiveMemory(new Slab(0, 400, 1, 2), 4, sizing);
        Slab second = new Slab(1 << 12, 100, 1, 2);
        memory.grant(second);
        memory.grantsPosted(1);
        assertNull(memory.arrived(60));
        assertTrue(memory.mayLend());
        memory.lend(30);
        assertNull(memory.released(1));
        assertEquals(0, memory.wanted(), "the window is small again");
        assertEquals(second, memory.takeFinished());
        assertTrue(memory.mayLend(), "a part of it is lent");
        assertFalse(memory.isUsedUp());
        memory.lend(30);
        assertTrue(memory.isUsedUp());
        assertEquals(100, memory.wanted(), "the application may keep for ever what it was lent");
        memory.end();
        assertFalse(memory.isUsedUp());
    }

    /** Grants and fills slabs of what is wanted, and reads so that one slab is always left unread. */
    private static void streamToAReaderThatIsBehind(ReceiveMemory memory, Slab first, int slabs) {
        ArrayDeque<Slab> granted = new ArrayDeque<>(List.of(first));
        int grants = 0;
        long at = 1 << 12;
        for (int i = 0; i < slabs; i++) {
            for (int wanted = memory.wanted(); wanted > 0; wanted = memory.wanted()) {
                Slab slab = new Slab(at, wanted, 1, 2);
                at += 1 << 20;
                memory.grant(slab);
                granted.add(slab);
                memory.grantsPosted(++grants);
            }
            for (Slab slab = granted.poll(); slab != null; slab = granted.poll()) {
                assertNull(memory.arrived(slab.length()));
            }
            memory.grantsReached(grants);
            memory.consume(memory.piece());
            while (memory.hasFinished()) {
                memory.takeFinished();
            }
        }
    }

    @Test
    void shouldGrowToAModestSizeForAReaderThatIsAlwaysALittleBehind() {
        GrantSizing sizing = new GrantSizing(8 << 10, 4 << 20, 8);
        Slab first = new Slab(0, 8 << 10, 1, 2);
        ReceiveMemory memory = new ReceiveMemory(first, 8, sizing);
        streamToAReaderThatIsBehind(memory, first, 60);
        assertEquals(256 << 10, sizing.window());
    }

    @Test
    void shouldNotMixSmallSlabsIntoAFullWindow() {
        GrantSizing sizing = new GrantSizing(8 << 10, 256 << 10, 8);
        Slab first = new Slab(0, 8 << 10, 1, 2);
        ReceiveMemory memory = new ReceiveMemory(first, 8, sizing);
        streamToAReaderThatIsBehind(memory, first, 60);
        assertEquals(256 << 10, memory.held() + sizing.slab(), "four slabs of one size, one of them finished");
        assertEquals(64 << 10, memory.wanted());
    }

    /** Counts of grants go on from the largest int to the smallest. */
    @ParameterizedTest
    @ValueSource(ints = {0, Integer.MAX_VALUE - 1, Integer.MAX_VALUE, Integer.MIN_VALUE, -1})
    void shouldGrowIfThePeerWaitedForAGrantHoweverManyCameBefore(int before) {
        GrantSizing sizing = new GrantSizing(100, 100_000, 4);
        ReceiveMemory memory = new ReceiveMemory(new Slab(0, 100, 1, 2), 4, sizing, before);
        memory.grant(new Slab(1 << 12, 100, 1, 2));
        memory.grantsPosted(before + 1);
        assertNull(memory.arrived(100));
        memory.grantsReached(before + 1);
        memory.consume(100);
        assertEquals(800, sizing.window());
    }

    @ParameterizedTest
    @ValueSource(ints = {0, Integer.MAX_VALUE - 1, Integer.MAX_VALUE, Integer.MIN_VALUE, -1})
    void shouldNotGrowIfAGrantReachedThePeerInTimeHoweverManyCameBefore(int before) {
        GrantSizing sizing = new GrantSizing(100, 100_000, 4);
        ReceiveMemory memory = new ReceiveMemory(new Slab(0, 100, 1, 2), 4, sizing, before);
        memory.grant(new Slab(1 << 12, 100, 1, 2));
        memory.grant(new Slab(2 << 12, 100, 1, 2));
        memory.grantsPosted(before + 2);
        assertNull(memory.arrived(100));
        memory.grantsReached(before + 2);
        memory.consume(100);
        assertEquals(200, sizing.window());
    }

    @Test
    void shouldAskForAnotherSlabToLendTheOnlyOne() {
        ReceiveMemory memory = new ReceiveMemory(new Slab(0, 100, 1, 2), 4, new GrantSizing(100, 400, 4));
        assertEquals(0, memory.wantedToLend(), "nothing to be lent");
        assertNull(memory.arrived(60));
        assertFalse(memory.mayLend(), "all that the peer has");
        assertEquals(100, memory.wantedToLend());
        memory.grant(new Slab(1 << 12, 100, 1, 2));
        memory.grantsPosted(1);
        assertTrue(memory.mayLend());
        assertEquals(0, memory.wantedToLend(), "it has another");
        Slab first = memory.lend(60);
        assertNull(memory.arrived(40));
        memory.lend(40);
        assertNull(memory.arrived(100));
        assertFalse(memory.mayLend(), "all that the peer has");
        assertEquals(100, memory.wantedToLend(), "the application may keep for ever what it was lent");
        memory.grant(new Slab(2 << 12, 100, 1, 2));
        memory.grantsPosted(2);
        memory.lend(100);
        memory.grant(new Slab(3 << 12, 100, 1, 2));
        memory.grantsPosted(3);
        assertNull(memory.arrived(100));
        assertTrue(memory.mayLend(), "the fourth one is granted");
        memory.lend(100);
        assertNull(memory.arrived(100));
        assertEquals(0, memory.wantedToLend(), "there is no room beside what is lent");
        assertFalse(memory.mayLend());
        memory.giveBack(first, 100);
        assertEquals(100, memory.wantedToLend());
    }

    @Test
    void shouldLendTheOnlySlabOfAPeerThatSendsNoMore() {
        ReceiveMemory memory = new ReceiveMemory(new Slab(0, 100, 1, 2), 4, new GrantSizing(100, 400, 4));
        assertNull(memory.arrived(60));
        assertFalse(memory.mayLend());
        memory.end();
        assertTrue(memory.mayLend());
        assertEquals(0, memory.wantedToLend());
        Slab slab = memory.lend(60);
        memory.giveBack(slab, 60);
        assertEquals(slab, memory.takeFinished());
    }
}
