/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.endpoint;

import java.nio.ByteBuffer;
import org.jrsocket.os.NativeMemory;
import org.jrsocket.protocol.Slab;
import org.jrsocket.verbs.Mr;

/** A slab as a driver knows it: with its registration and a buffer through which Java reads and writes it. */
public final class RegisteredSlab extends Slab {

    /** Bytes of the slab that a reader has. The object is kept for the next loan. */
    public abstract static class Loan {
        private Loan next; // of those that are kept
    }

    /** The most loans that are kept. */
    private static final int MOST_KEPT = 16;

    /** The whole slab, in native byte order; absolute access only. */
    public final ByteBuffer bytes;
    /** Whether the peer may write to it. */
    final boolean remote;
    /** The memory that is freed with the slab; null for a part of memory that belongs to something else. */
    final NativeMemory memory;

    final Mr mr;

    // Guarded by the stream's lock.
    private Loan kept; // the last one, which knows the one before
    private int keptCount;

    private RegisteredSlab(long address, int length, Mr mr, NativeMemory memory, ByteBuffer bytes, boolean remote) {
        super(address, length, mr.getLkey(), mr.getRkey());
        this.mr = mr;
        this.memory = memory;
        this.bytes = bytes;
        this.remote = remote;
    }

    /** Makes a slab of a part of registered memory, which outlives the slab. */
    static RegisteredSlab part(NativeMemory memory, int offset, int length, Mr mr, boolean remote) {
        long address = memory.address() + offset;
        return new RegisteredSlab(address, length, mr, null, NativeMemory.view(address, length), remote);
    }

    /** Makes a slab of all of {@code memory}, which it then owns together with the registration. */
    static RegisteredSlab all(NativeMemory memory, Mr mr, boolean remote) {
        return new RegisteredSlab(memory.address(), memory.size(), mr, memory, memory.buffer(), remote);
    }

    /** Returns one that was kept, of which the slab then knows nothing; null if there is none. */
    public Loan takeKept() {
        Loan taken = kept;
        if (taken != null) {
            kept = taken.next;
            taken.next = null;
            keptCount--;
        }
        return taken;
    }

    /** Keeps one whose bytes were given back, if there are not many already. */
    public void keep(Loan released) {
        if (keptCount < MOST_KEPT) {
            released.next = kept;
            kept = released;
            keptCount++;
        }
    }
}
