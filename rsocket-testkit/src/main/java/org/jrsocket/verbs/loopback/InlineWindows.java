/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.verbs.loopback;

import java.nio.ByteBuffer;
import java.util.Arrays;
import org.jrsocket.os.NativeMemory;

/**
 * Buffers over the memory that inline payloads come from, which need not be registered. They have two MiB each, and are
 * kept and found by address, so that a sender that stays in its own memory causes no allocation.
 */
final class InlineWindows {

    private static final int SHIFT = 20;
    private static final int COUNT = 16; // a power of two

    private final ByteBuffer[] windows = new ByteBuffer[COUNT];
    private final long[] starts = new long[COUNT];

    InlineWindows() {
        Arrays.fill(starts, -1);
    }

    /** Copies memory of the process; at most one MiB. */
    void copy(long address, int length, ByteBuffer target, int index) {
        long start = address >>> SHIFT;
        int slot = (int) start & COUNT - 1;
        if (starts[slot] != start) {
            windows[slot] = NativeMemory.view(start << SHIFT, 2 << SHIFT);
            starts[slot] = start;
        }
        target.put(index, windows[slot], (int) (address - (start << SHIFT)), length);
    }
}
