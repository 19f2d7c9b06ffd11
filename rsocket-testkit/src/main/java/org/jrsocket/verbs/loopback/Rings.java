/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.verbs.loopback;

/** The lengths of the rings of queues: powers of two, so that a mask turns a count into an index. */
final class Rings {

    private Rings() {}

    static int powerOfTwo(int atLeast) {
        return atLeast <= 1 ? 1 : Integer.highestOneBit(atLeast - 1) << 1;
    }
}
