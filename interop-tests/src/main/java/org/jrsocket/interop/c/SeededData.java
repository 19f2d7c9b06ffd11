/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.interop.c;

import java.util.zip.CRC32C;

/** A stream of bytes that a seed determines, and the hash of any stream. */
final class SeededData {

    private static final long GAMMA = 0x9e3779b97f4a7c15L;

    /** A seed whose stream begins with eight zeros; an iperf server takes them for a client without wishes. */
    static final long ZEROS_FIRST = -GAMMA ^ GAMMA;

    private long state;
    private long word;
    private int left;
    private final CRC32C crc = new CRC32C();
    private long length;

    SeededData(long seed) {
        state = seed ^ GAMMA;
    }

    /** The next bytes of the stream, which also go into the hash. */
    void next(byte[] target, int count) {
        for (int i = 0; i < count; i++) {
            if (left == 0) {
                state += GAMMA;
                word = state;
                word = (word ^ word >>> 30) * 0xbf58476d1ce4e5b9L;
                word = (word ^ word >>> 27) * 0x94d049bb133111ebL;
                word ^= word >>> 31;
                left = 8;
            }
            target[i] = (byte) word;
            word >>>= 8;
            left--;
        }
        update(target, count);
    }

    /** Bytes of another stream, into the hash. */
    void update(byte[] data, int count) {
        crc.update(data, 0, count);
        length += count;
    }

    /** Length and hash so far: {@code 1048576:0badcafe}. */
    @Override
    public String toString() {
        return String.format("%d:%08x", length, crc.getValue());
    }
}
