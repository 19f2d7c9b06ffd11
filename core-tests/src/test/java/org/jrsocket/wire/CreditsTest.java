/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.wire;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

class CreditsTest {

    @Test
    void shouldCountTheWindowAcrossTheWrap() {
        assertEquals(384, Credits.window(384, 0));
        assertEquals(0, Credits.window(7, 7));
        assertEquals(10, Credits.window(4, 65530));
        assertEquals(65535, Credits.window(65535, 0));
        assertEquals(65535, Credits.window(0, 1)); // overshooting by one looks like a full window
    }

    @Test
    void shouldWrapAtSixteenBits() {
        assertEquals(1, Credits.next(0));
        assertEquals(0, Credits.next(65535));
    }

    @Test
    void shouldRefuseALimitBeyondTheWindowOrGoingBack() {
        assertTrue(Credits.isLimitPlausible(384, 384, 0, 384)); // C's first grant repeats the first limit
        assertTrue(Credits.isLimitPlausible(576, 384, 192, 384));
        assertFalse(Credits.isLimitPlausible(577, 384, 192, 384));
        assertFalse(Credits.isLimitPlausible(383, 384, 0, 384));
        assertFalse(Credits.isLimitPlausible(384, 384, 385, 384));
        assertTrue(Credits.isLimitPlausible(100, 65500, 65400, 384));
        assertTrue(Credits.isLimitPlausible(65535, 0, 0, 65535));
    }

    @Test
    void shouldAcceptEveryLimitOfAnHonestReceiverAndNoOther() {
        SplittableRandom random = new SplittableRandom(7);
        for (int round = 0; round < 50; round++) {
            int initial = 1 + random.nextInt(65535);
            long sent = 0; // what the peers would count had they endless counters
            long consumed = 0;
            long limit = initial;
            for (int i = 0; i < 2000; i++) {
                sent += random.nextLong(limit - sent + 1);
                consumed += random.nextLong(sent - consumed + 1);
                long offered = consumed + initial;
                assertTrue(Credits.isLimitPlausible(
                        (int) offered & Credits.MASK, (int) limit & Credits.MASK, (int) sent & Credits.MASK, initial));
                if (initial < 32768) {
                    long tooMuch = sent + initial + 1 + random.nextInt(65535 - initial);
                    assertFalse(Credits.isLimitPlausible(
                            (int) tooMuch & Credits.MASK,
                            (int) limit & Credits.MASK,
                            (int) sent & Credits.MASK,
                            initial));
                }
                limit = offered;
                assertEquals(limit - sent, Credits.window((int) limit & Credits.MASK, (int) sent & Credits.MASK));
            }
        }
    }
}
