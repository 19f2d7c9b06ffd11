/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.stream;

import java.nio.ByteBuffer;
import org.jrsocket.protocol.Slab;

/**
 * Bytes that a reader has taken without a copy, in the place where the peer's device put them. They have to be given
 * back, in any order. Until then their memory is neither granted to the peer again nor freed, not even by a close.
 *
 * <p>The peer's device can still write to this memory, so a peer that breaks the protocol can change what was read. If
 * that matters, copy the bytes. Thread-safe.
 */
public final class BorrowedBytes implements AutoCloseable {

    private final StreamCore core;
    private final Slab slab;
    private final int length;
    private final ByteBuffer writable;
    private boolean givenBack; // guarded by the core's lock

    BorrowedBytes(StreamCore core, RegisteredSlab slab, int from, int length) {
        this.core = core;
        this.slab = slab;
        this.length = length;
        this.writable = slab.bytes.slice(from, length);
    }

    /** Returns the bytes, read-only, from the first one. Must not be used after {@link #close}. */
    public ByteBuffer bytes() {
        return writable.asReadOnlyBuffer().clear();
    }

    /**
     * Returns the same memory for a holder that changes what it has read, as decoders do. Nothing reads it afterwards.
     */
    public ByteBuffer writable() {
        return writable;
    }

    /** Gives the bytes back. Repeated calls have no effect. */
    @Override
    public void close() {
        boolean last;
        core.enter();
        try {
            if (givenBack) {
                return;
            }
            givenBack = true;
            core.borrowed--;
            if (!core.phase.isFreed()) {
                core.act(core.connection.giveBack(slab, length));
            }
            last = core.borrowed == 0;
        } finally {
            core.exit();
        }
        if (last) {
            core.stream().closing().freeing().allGivenBack();
        }
    }
}
