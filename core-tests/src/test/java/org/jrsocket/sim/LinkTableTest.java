/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.sim;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.jrsocket.stream.StreamConfig;
import org.junit.jupiter.api.Test;

/**
 * The engine against the modelled link: whether its windows grow to what the link asks for. Virtual time, so that a
 * loaded machine changes nothing.
 */
class LinkTableTest {

    @Test
    void shouldModelWhatStreamsHaveByDefault() {
        StreamConfig config = StreamConfig.DEFAULT;
        assertEquals(config.sendQueue(), LinkPair.SLOTS);
        assertEquals(config.receiveQueue(), LinkPair.CREDITS);
        assertEquals(config.receiveSlab(), LinkPair.SMALLEST);
        assertEquals(config.inline(), LinkPair.INLINE);
    }

    @Test
    void shouldFillTheLinkWithLentMemoryWhateverTheRoundTrip() {
        for (int microseconds : new int[] {2, 10, 50, 200}) {
            double gigabits = LinkTable.stream(100, microseconds, 1 << 20, true);
            assertTrue(gigabits > 95, () -> gigabits + " of 100 Gbit/s at " + microseconds + " us");
        }
    }

    @Test
    void shouldGrowWithinTwentyRoundTripsAndBeSmallAgainAfterAQuietTime() {
        for (int microseconds : new int[] {10, 200}) {
            LinkPair pair = new LinkPair(100, microseconds, 50);
            LinkPair.Side writer = pair.sides[0];
            LinkPair.Side reader = pair.sides[1];
            writer.program = () -> writer.write(64 << 10);
            reader.program = () -> reader.read(1 << 20, false);
            double gigabits = LinkTable.measure(pair, 20_000L * microseconds, 10_000L * microseconds);
            // copying takes 80
            assertTrue(gigabits > 60, () -> gigabits + " Gbit/s after 20 round trips of " + microseconds + " us");

            writer.program = () -> writer.read(1, false); // which sends what is left
            pair.runUntil(pair.now() + 10_000_000);
            writer.program = () -> 1_000_000;
            reader.program = () -> 1_000_000;
            for (int i = 0; i < 4; i++) {
                writer.quiet();
                reader.quiet();
                pair.runUntil(pair.now() + 10_000_000);
            }
            for (LinkPair.Side side : pair.sides) {
                assertTrue(side.receiveMemory() <= 64 << 10, () -> side.receiveMemory() + " bytes of receive memory");
                assertTrue(side.sendMemory() <= 8 << 10, () -> side.sendMemory() + " bytes of send memory");
            }
        }
    }

    @Test
    void shouldNotBeHeldUpByTheRoundTripWhereItCopies() {
        double near = LinkTable.stream(100, 2, 4096, false);
        double far = LinkTable.stream(100, 200, 4096, false);
        assertTrue(far > 0.8 * near, () -> near + " Gbit/s at 2 us, " + far + " at 200 us");
    }
}
