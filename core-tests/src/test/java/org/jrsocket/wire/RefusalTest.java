/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.wire;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.Arrays;
import org.junit.jupiter.api.Test;

class RefusalTest {

    @Test
    void shouldComeBackFromPaddedPrivateData() {
        byte[] sent = Refusal.encode(Refusal.BUSY);
        assertEquals(16, sent.length);
        assertEquals(Refusal.BUSY, Refusal.parse(sent));
        assertEquals(Refusal.BUSY, Refusal.parse(Arrays.copyOf(sent, 148)));
        assertEquals(4711, Refusal.parse(Refusal.encode(4711)), "a reason of a later version");
    }

    @Test
    void shouldBeNothingWhenDamagedOrAbsent() {
        assertEquals(Refusal.UNKNOWN, Refusal.parse(new byte[0]));
        assertEquals(Refusal.UNKNOWN, Refusal.parse(new byte[148]));
        byte[] sent = Arrays.copyOf(Refusal.encode(Refusal.BUSY), 148);
        for (int i = 0; i < 16; i++) {
            byte[] damaged = sent.clone();
            damaged[i] ^= 1;
            assertEquals(Refusal.UNKNOWN, Refusal.parse(damaged), "byte " + i);
        }
    }
}
