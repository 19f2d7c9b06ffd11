/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.protocol;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.mockito.ArgumentMatchers.anyInt;
import static org.mockito.ArgumentMatchers.anyLong;
import static org.mockito.Mockito.doAnswer;
import static org.mockito.Mockito.mock;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class ExtentsTest {

    private final Extents extents = new Extents();
    private final RequestSink sink = mock();
    private final List<String> pieces = new ArrayList<>();

    @BeforeEach
    void listen() {
        doAnswer(call -> pieces.add(call.getArgument(1) + "@" + call.getArgument(0) + " of " + call.getArgument(2)))
                .when(sink)
                .piece(anyLong(), anyInt(), anyInt());
    }

    private List<String> moved(int n) {
        pieces.clear();
        extents.moveTo(sink, n);
        return pieces;
    }

    @Test
    void shouldMakeOnePieceOfRunsThatFollowOneAnother() {
        extents.add(100, 10, 1, false);
        extents.add(110, 5, 1, true);
        assertEquals(15, extents.bytes());
        assertTrue(extents.isOnePiece(15));
        assertFalse(extents.isAwaitedWithin(14));
        assertTrue(extents.isAwaitedWithin(15));
        assertEquals(List.of("15@100 of 1"), moved(15));
        assertEquals(0, extents.bytes());
    }

    /** Memory of two registrations may lie side by side, and no key opens both. */
    @Test
    void shouldNotJoinRunsOfTwoRegistrations() {
        extents.add(100, 10, 1, false);
        extents.add(110, 10, 2, false);
        assertFalse(extents.isOnePiece(20));
        assertEquals(List.of("10@100 of 1", "10@110 of 2"), moved(20));
    }

    /** What follows may be sent much later, and the end of the first would no longer ask for a completion. */
    @Test
    void shouldNotAddToARunThatIsWaitedFor() {
        extents.add(100, 10, 1, true);
        extents.add(110, 10, 1, false);
        assertTrue(extents.isAwaitedWithin(10));
        assertEquals(List.of("10@100 of 1", "10@110 of 1"), moved(20));
    }

    @Test
    void shouldNotJoinRunsToOneThatIsTooLongForAnInt() {
        extents.add(0, Integer.MAX_VALUE, 1, false);
        extents.add(Integer.MAX_VALUE, 10, 1, false);
        assertEquals(Integer.MAX_VALUE + 10L, extents.bytes());
        assertEquals(List.of(Integer.MAX_VALUE + "@0 of 1"), moved(Integer.MAX_VALUE));
        assertEquals(List.of("10@" + Integer.MAX_VALUE + " of 1"), moved(10));
    }

    @Test
    void shouldIgnoreAnEmptyRun() {
        extents.add(100, 10, 1, false);
        extents.add(110, 0, 1, true);
        assertFalse(extents.isAwaitedWithin(10));
        assertEquals(10, extents.gather(100, 100));
    }

    @Test
    void shouldGatherNoMoreThanIsAskedForInNoMorePieces() {
        extents.add(100, 10, 1, false);
        extents.add(200, 10, 1, false);
        extents.add(300, 10, 1, false);
        assertEquals(30, extents.gather(100, 4));
        assertEquals(20, extents.gather(100, 2));
        assertEquals(15, extents.gather(15, 2));
        assertEquals(10, extents.gather(10, 2));
    }

    @Test
    void shouldMoveAsMuchAsIsAskedFor() {
        extents.add(100, 10, 1, false);
        extents.add(200, 10, 2, true);
        assertFalse(extents.isAwaitedWithin(19));
        assertTrue(extents.isAwaitedWithin(20));
        assertEquals(List.of("4@100 of 1"), moved(4));
        assertFalse(extents.isOnePiece(7));
        assertEquals(List.of("6@104 of 1", "3@200 of 2"), moved(9));
        assertEquals(7, extents.bytes());
        assertFalse(extents.isAwaitedWithin(6));
        assertTrue(extents.isAwaitedWithin(7));
        assertEquals(List.of("7@203 of 2"), moved(7));
    }

    /** However many there are, and wherever the first of them lies when there is no more room. */
    @Test
    void shouldKeepRunsInTheirOrder() {
        int added = 0;
        int taken = 0;
        for (int round = 1; round <= 40; round++) {
            for (int i = 0; i < 3; i++) {
                extents.add(added * 100L, 10, added, added % 2 == 0);
                added++;
            }
            for (int i = 0; i < 2; i++) {
                assertEquals(taken % 2 == 0, extents.isAwaitedWithin(10));
                assertEquals(List.of("10@" + taken * 100 + " of " + taken), moved(10));
                taken++;
            }
            assertEquals(10L * round, extents.bytes());
        }
    }

    @Test
    void shouldForgetAllWhenCleared() {
        extents.add(100, 10, 1, true);
        extents.clear();
        assertEquals(0, extents.bytes());
        assertFalse(extents.isAwaitedWithin(10));
        assertEquals(0, extents.gather(100, 100));
    }
}
