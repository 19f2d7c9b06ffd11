/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.connect;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class AttemptAgeTest {

    private static final long MILLI = TimeUnit.MILLISECONDS.toNanos(1);

    private long now = Long.MAX_VALUE - 500 * MILLI; // the clock goes on from the largest number to the smallest
    private final AttemptAge age = new AttemptAge(() -> now);

    /** Looks after so many milliseconds, and says that the next look is due 100 later. */
    private long lookAfter(int millis) {
        now += millis * MILLI;
        long found = age.look() / MILLI;
        age.lookAgainIn(100 * MILLI);
        return found;
    }

    @Test
    void shouldCountTheTimeBetweenLooks() {
        assertEquals(0, lookAfter(0));
        assertEquals(100, lookAfter(100));
        assertEquals(1100, lookAfter(1000));
    }

    @Test
    void shouldNotCountAStandstill() {
        assertEquals(50, lookAfter(50));
        assertEquals(50, lookAfter(600_000));
        assertEquals(150, lookAfter(100));
    }

    /** Otherwise an attempt would never end. */
    @Test
    void shouldCountAgainWhereEachLookIsLate() {
        assertEquals(0, lookAfter(5000));
        assertEquals(0, lookAfter(5000));
        assertEquals(0, lookAfter(5000));
        assertEquals(5000, lookAfter(5000));
        assertEquals(10_000, lookAfter(5000));
    }
}
