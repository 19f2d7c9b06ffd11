/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.verbs.loopback;

/** Queues are kept in rings as long as a power of two, so that a mask turns a count into an index. */
final class Rings {

    private Rings() {}

    static int powerOfTwo(int atLeast) {
        return atLeast <= 1 ? 1 : Integer.highestOneBit(atLeast - 1) << 1;
    }
}
