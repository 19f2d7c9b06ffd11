/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.protocol;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.Test;

class GrantSizingTest {

    private static final int SMALLEST = 8 * 1024;
    private static final int IDLE = 2 * SMALLEST;
    private static final int MODEST = 256 * 1024;

    private final GrantSizing sizing = new GrantSizing(SMALLEST, 4 << 20, 16);

    private void read(int bytes) {
        for (int left = bytes; left > 0; left -= SMALLEST) {
            sizing.read(Math.min(left, SMALLEST));
            sizing.keptUp();
        }
    }

    /** A grant for each 8 KiB is a message more for every eighth of 1 KiB. */
    @Test
    void shouldNeedFewGrantsForABusyConversationThoughItsPeerNeverWaits() {
        read(32 * MODEST);
        assertEquals(MODEST, sizing.window());
    }

    @Test
    void shouldStaySmallForAConversationThatIsNotBusy() {
        for (int i = 0; i < 10_000; i++) {
            read(15 * IDLE);
            sizing.timePassed();
        }
        assertEquals(IDLE, sizing.window());
    }

    @Test
    void shouldGrowBeyondAModestSizeOnlyForAPeerThatWaits() {
        read(1024 * MODEST);
        assertEquals(MODEST, sizing.window());
        sizing.ranDry();
        read(SMALLEST);
        assertEquals(2 * MODEST, sizing.window());
    }

    @Test
    void shouldGrowOnceEachTimeThePeerHasWaited() {
        sizing.ranDry();
        sizing.keptUp();
        assertEquals(4 * IDLE, sizing.window());
        sizing.keptUp();
        assertEquals(4 * IDLE, sizing.window());
        sizing.ranDry();
        sizing.keptUp();
        assertEquals(16 * IDLE, sizing.window());
    }

    @Test
    void shouldGrowForAReaderThatIsBehindOnceItHasReadAWholeWindow() {
        sizing.ranDry();
        sizing.read(IDLE - 1);
        assertEquals(IDLE, sizing.window());
        sizing.read(1);
        assertEquals(4 * IDLE, sizing.window());
        sizing.ranDry();
        sizing.read(4 * IDLE - 1);
        assertEquals(4 * IDLE, sizing.window(), "what was read before it grew no longer counts");
        sizing.read(1);
        assertEquals(16 * IDLE, sizing.window());
    }

    @Test
    void shouldGrowToAModestSizeForAReaderThatWaitsForMore() {
        for (int i = 0; i < 10; i++) {
            sizing.growUnread();
        }
        assertEquals(MODEST, sizing.window());
    }

    @Test
    void shouldBeSmallAgainAfterAQuietTime() {
        read(32 * MODEST);
        sizing.ranDry();
        sizing.quiet();
        sizing.keptUp();
        assertEquals(IDLE, sizing.window());
    }
}
