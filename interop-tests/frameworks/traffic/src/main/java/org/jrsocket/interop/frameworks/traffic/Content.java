/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.interop.frameworks.traffic;

import java.nio.ByteBuffer;
import java.util.SplittableRandom;

/**
 * A stream of bytes that depends on a seed and the position: what is lost, repeated, or from elsewhere, is seen. Random
 * bytes, of which each block of the stream is another part.
 */
final class Content {

    private static final int BLOCK = 4096;
    private static final int PARTS = 1 << 16;
    private static final byte[] BYTES = new byte[PARTS + BLOCK];

    static {
        new SplittableRandom(1).nextBytes(BYTES);
    }

    private final long seed;

    Content(long seed) {
        this.seed = seed;
    }

    /** Where the bytes from {@code position} on are, up to the end of the block. */
    private int at(long position) {
        long block = seed + position / BLOCK;
        long mixed = (block ^ block >>> 29) * 0xbf58476d1ce4e5b9L;
        return (int) ((mixed >>> 40) % PARTS) + (int) (position % BLOCK);
    }

    private static int inBlock(long position) {
        return BLOCK - (int) (position % BLOCK);
    }

    /** Puts the bytes from {@code position} on, as many as there is room for. */
    void put(ByteBuffer target, long position) {
        long next = position;
        while (target.hasRemaining()) {
            int n = Math.min(target.remaining(), inBlock(next));
            target.put(BYTES, at(next), n);
            next += n;
        }
    }

    /** Takes all of {@code source}; returns the position of the first byte that is another, or -1. */
    long check(ByteBuffer source, long position) {
        long next = position;
        while (source.hasRemaining()) {
            int n = Math.min(source.remaining(), inBlock(next));
            ByteBuffer expected = ByteBuffer.wrap(BYTES, at(next), n);
            ByteBuffer part = source.slice(source.position(), n);
            int wrong = part.mismatch(expected);
            if (wrong >= 0) {
                return next + wrong;
            }
            source.position(source.position() + n);
            next += n;
        }
        return -1;
    }
}
