/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.interop;

import java.util.Arrays;
import java.util.zip.CRC32C;

/**
 * A hash of a stream that also tells roughly where two streams begin to differ. Not safe for use by several threads.
 */
final class StreamHash {

    private static final int STEP = 1 << 20;

    private final CRC32C crc = new CRC32C();
    private long length;
    private int[] marks = new int[1024]; // the hash of the first i + 1 steps

    void update(byte[] data, int offset, int count) {
        int done = 0;
        while (done < count) {
            int part = (int) Math.min(count - done, STEP - length % STEP);
            crc.update(data, offset + done, part);
            done += part;
            length += part;
            if (length % STEP == 0) {
                mark((int) (length / STEP) - 1);
            }
        }
    }

    private void mark(int step) {
        if (step == marks.length) {
            marks = Arrays.copyOf(marks, 2 * step);
        }
        marks[step] = (int) crc.getValue();
    }

    long length() {
        return length;
    }

    /** For example {@code "1073741824 bytes, hash 0badcafe"}. */
    @Override
    public String toString() {
        return String.format("%d bytes, hash %08x", length, crc.getValue());
    }

    /**
     * The first MiB in which the two differ, from 0; the last incomplete one if all complete ones that both have are
     * equal.
     */
    int firstDifference(StreamHash other) {
        int steps = (int) (Math.min(length, other.length) / STEP);
        int first = Arrays.mismatch(marks, 0, steps, other.marks, 0, steps);
        return first < 0 ? steps : first;
    }
}
