/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.sim;

import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

/** The engine against the modelled link: whether its windows grow to what the link asks for. Virtual time, so that a loaded machine changes nothing. */
class LinkTableTest {

    @Test
    void shouldFillTheLinkWithLentMemoryWhateverTheRoundTrip() {
        for (int microseconds : new int[] {2, 10, 50, 200}) {
            double gigabits = LinkTable.stream(100, microseconds, 1 << 20, true);
            assertTrue(gigabits > 95, () -> gigabits + " of 100 Gbit/s at " + microseconds + " us");
        }
    }

    @Test
    void shouldNotBeHeldUpByTheRoundTripWhereItCopies() {
        double near = LinkTable.stream(100, 2, 4096, false);
        double far = LinkTable.stream(100, 200, 4096, false);
        assertTrue(far > 0.8 * near, () -> near + " Gbit/s at 2 us, " + far + " at 200 us");
    }
}
