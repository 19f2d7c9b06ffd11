/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.interop;

import java.util.SplittableRandom;

/** Sizes of reads and writes: some bytes, part of a packet, many packets. */
final class RandomSizes {

    static final int MAX = 256 * 1024;

    private final SplittableRandom random;

    RandomSizes(long seed) {
        random = new SplittableRandom(seed);
    }

    /** From 1 to {@code limit}. */
    int next(int limit) {
        int bound =
                switch (random.nextInt(4)) {
                    case 0 -> 64;
                    case 1 -> 5000;
                    default -> MAX;
                };
        return 1 + random.nextInt(Math.min(bound, limit));
    }
}
