/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.protocol;

/** The source of a connection's registered memory. */
public interface SlabSource {

    /**
     * Returns whether {@link #obtain} can answer now. If not, the source first registers memory, which takes time and
     * must not hold up whoever uses the connection, and the driver then calls {@code Connection.memoryCame}.
     */
    default boolean isReady(int bytes, int least, boolean remote) {
        return true;
    }

    /**
     * Returns a slab of {@code bytes}, or a smaller one, or null if there is no more. A connection that gets none goes
     * on with what it has.
     *
     * @param least bytes of the smallest slab that is of use
     * @param remote whether the peer will write to it; if not, it is send memory
     */
    Slab obtain(int bytes, int least, boolean remote);

    /** Takes back a slab that is no longer in use. */
    void release(Slab slab);
}
