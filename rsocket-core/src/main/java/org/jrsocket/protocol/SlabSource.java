/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.protocol;

/** Where a connection's registered memory comes from. */
public interface SlabSource {

    /**
     * A slab of {@code bytes}, or a smaller one, or null if there is no more. A connection that gets none goes on with
     * what it has.
     *
     * @param least bytes of the smallest one that is of use
     * @param remote whether the peer will write to it; if not, it is send memory
     */
    Slab obtain(int bytes, int least, boolean remote);

    /** Takes a slab back that nobody uses any more. */
    void release(Slab slab);
}
