/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.stream;

import java.nio.ByteBuffer;
import org.jrsocket.endpoint.RegisteredSlab;

/**
 * Bytes that a reader has taken without a copy, in the place where the peer's device put them. They have to be given
 * back, in any order. Until then their memory is neither granted to the peer again nor freed, not even by a close.
 *
 * <p>The peer's device can still write to this memory, so a peer that breaks the protocol can change what was read. If
 * that matters, copy the bytes. Thread-safe.
 */
public final class BorrowedBytes extends RegisteredSlab.Loan implements AutoCloseable {

    private final StreamCore core;
    private final StreamFreeing freeing;
    private final RegisteredSlab slab;

    // Set when they are taken, and not changed while they are out.
    private int offset;
    private int length;

    private Object attachment;

    // Guarded by the core's lock.
    private boolean givenBack;

    BorrowedBytes(StreamCore core, StreamFreeing freeing, RegisteredSlab slab) {
        this.core = core;
        this.freeing = freeing;
        this.slab = slab;
    }

    /** Begins, perhaps anew. Needs the core's lock. */
    void begin(int from, int count) {
        offset = from;
        length = count;
        givenBack = false;
    }

    /** Returns the bytes, read-only, from the first one. Must not be used after {@link #close}. */
    public ByteBuffer bytes() {
        return slab.bytes.slice(offset, length).asReadOnlyBuffer();
    }

    /** Returns how many bytes there are. */
    public int length() {
        return length;
    }

    /**
     * Returns the memory of which the bytes are a part, for a holder that changes what it has read, as decoders do:
     * nothing reads it afterwards. Others use the rest of it, and this object, so use absolute access or a duplicate,
     * and nothing beyond {@link #length} bytes from {@link #offset}. An object that is used again keeps its memory.
     */
    public ByteBuffer memory() {
        return slab.bytes;
    }

    /** Returns where the bytes begin in {@link #memory}. */
    public int offset() {
        return offset;
    }

    /** Keeps something of the holder's that is worth having again: see {@link #closeForReuse}. */
    public void attach(Object something) {
        attachment = something;
    }

    /** Returns what was attached, perhaps by the holder before; null if nothing was. */
    public Object attachment() {
        return attachment;
    }

    /** Gives the bytes back. Repeated calls have no effect. */
    @Override
    public void close() {
        giveBack(false);
    }

    /**
     * Gives the bytes back, and this object too, so that it need not be made again: a later {@code RdmaStream.borrow}
     * may return it, with what is attached. The caller must not use it any more, not even to close it.
     */
    public void closeForReuse() {
        giveBack(true);
    }

    private void giveBack(boolean reusable) {
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
                if (reusable) {
                    slab.keep(this);
                }
            }
            last = core.borrowed == 0;
        } finally {
            core.exit();
        }
        if (last) {
            freeing.allGivenBack();
        }
    }
}
