/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.protocol;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

class SendMemoryTest {

    private static final int SLAB = 8 * 1024;

    private final SendMemory memory = new SendMemory(new Slab(0, SLAB, 1, 2), 4 << 20);
    private long written;

    /** Fills the slab that is written to. */
    private void fill() {
        int n = memory.room();
        memory.reserve();
        written += n;
        assertTrue(memory.wrote(n, written));
    }

    @Test
    void shouldBeLargeEnoughForAStreamWithAQuarterOfAMebibyte() {
        long at = 1 << 20;
        fill();
        while (memory.isSmallForAStream()) {
            memory.add(new Slab(at, memory.wanted(), 1, 2));
            at += 1 << 20;
            while (memory.room() > 0) {
                fill();
            }
        }
        assertEquals(256 * 1024, memory.capacity());
        memory.acknowledged(written);
        assertEquals(0, memory.wanted());
    }
}
