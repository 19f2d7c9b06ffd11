/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.protocol;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

class SendMemoryTest {

    private static final int SLAB = 8 * 1024;

    private final SendMemory memory = new SendMemory(new Slab(0, SLAB, 1, 2), 4 << 20);
    private long written;

    /** Fills the slab that is written to; all of it is acknowledged at once, as on a device that sends synchronously. */
    private void fill() {
        int n = memory.room();
        memory.reserve();
        written += n;
        assertTrue(memory.wrote(n, written));
    }

    @Test
    void shouldBeLargeEnoughForAWriterWhoFillsItNowAndThen() {
        fill();
        assertEquals(SLAB, memory.wanted());
        assertFalse(memory.isTooSmall(), "what is acknowledged by now need not be added to");
    }

    @Test
    void shouldBeTooSmallForAStreamAlthoughAllIsAcknowledgedAtOnce() {
        for (int i = 0; i < 4; i++) {
            assertFalse(memory.isTooSmall());
            fill();
            if (i < 3) {
                memory.acknowledged(written);
            }
        }
        assertTrue(memory.isTooSmall());
        long at = 1 << 20;
        while (memory.isTooSmall()) {
            memory.add(new Slab(at, memory.wanted(), 1, 2));
            at += 1 << 20;
            while (memory.room() > 0) {
                fill();
            }
        }
        assertEquals(256 * 1024, memory.capacity());
    }

    @Test
    void shouldBeLargeEnoughAgainAfterAQuietTime() {
        for (int i = 0; i < 4; i++) {
            fill();
            memory.acknowledged(written);
        }
        memory.takeSurplus();
        fill();
        assertFalse(memory.isTooSmall());
    }
}
