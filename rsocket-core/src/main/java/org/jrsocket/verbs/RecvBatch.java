/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.verbs;

import java.nio.ByteBuffer;
import org.jrsocket.os.NativeMemory;

/**
 * A chain of {@code ibv_recv_wr} in off-heap memory, laid out as libibverbs reads it (the C side asserts the offsets at
 * compile time). For receives with scatter entries and ids of their own; {@link Qp#postReceives} is cheaper if neither
 * is needed. Not thread safe.
 */
public final class RecvBatch {

    static final int WR_ID = 0;
    static final int NEXT = 8;
    static final int SG_LIST = 16;
    static final int NUM_SGE = 24;
    static final int WR_SIZE = 32;
    private static final int SGE_SIZE = SendBatch.SGE_SIZE;

    private final NativeMemory memory;
    private final ByteBuffer bytes;
    private final int capacity;
    private final int maxSge;
    private final int stride;
    private int size;

    /** @param maxSge how many scatter entries a request can have */
    public RecvBatch(int capacity, int maxSge) {
        this.capacity = capacity;
        this.maxSge = maxSge;
        this.stride = WR_SIZE + Math.max(1, maxSge) * SGE_SIZE;
        this.memory = NativeMemory.allocate(capacity * stride);
        this.bytes = memory.buffer();
    }

    /** Appends a request without scatter entries; {@link #sge} adds them. */
    public void add(long id) {
        if (size == capacity) {
            throw new IllegalStateException("batch of " + capacity + " receives is full");
        }
        int at = size * stride;
        if (size > 0) {
            bytes.putLong(at - stride + NEXT, memory.address() + at);
        }
        bytes.putLong(at + WR_ID, id);
        bytes.putLong(at + NEXT, 0);
        bytes.putLong(at + SG_LIST, memory.address() + at + WR_SIZE);
        bytes.putInt(at + NUM_SGE, 0);
        // irdma takes the first scatter entry of a receive that has none: what an earlier request has left there.
        bytes.putLong(at + WR_SIZE, 0);
        bytes.putLong(at + WR_SIZE + 8, 0);
        size++;
    }

    /** Adds a scatter entry to the last request. */
    public void sge(long address, int length, int lkey) {
        int at = (size - 1) * stride;
        int sges = bytes.getInt(at + NUM_SGE);
        if (sges == maxSge) {
            throw new IllegalStateException("a receive of this batch takes " + maxSge + " scatter entries");
        }
        int sge = at + WR_SIZE + sges * SGE_SIZE;
        bytes.putLong(sge, address);
        bytes.putInt(sge + 8, length);
        bytes.putInt(sge + 12, lkey);
        bytes.putInt(at + NUM_SGE, sges + 1);
    }

    public int size() {
        return size;
    }

    public int capacity() {
        return capacity;
    }

    public int maxSge() {
        return maxSge;
    }

    /** Forgets all requests. */
    public void clear() {
        size = 0;
    }

    /** Returns the address of the first request. */
    public long address() {
        return memory.address();
    }

    public void free() {
        memory.free();
    }

    // What a provider written in Java reads.

    public long id(int index) {
        return bytes.getLong(index * stride + WR_ID);
    }

    public int sgeCount(int index) {
        return bytes.getInt(index * stride + NUM_SGE);
    }

    public long sgeAddress(int index, int sge) {
        return bytes.getLong(index * stride + WR_SIZE + sge * SGE_SIZE);
    }

    public int sgeLength(int index, int sge) {
        return bytes.getInt(index * stride + WR_SIZE + sge * SGE_SIZE + 8);
    }

    public int sgeLkey(int index, int sge) {
        return bytes.getInt(index * stride + WR_SIZE + sge * SGE_SIZE + 12);
    }
}
