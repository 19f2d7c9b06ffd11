/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.verbs;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.jrsocket.os.NativeMemory;

/**
 * A chain of {@code ibv_send_wr} in off-heap memory, laid out as libibverbs reads it (the C side asserts the offsets at
 * compile time), so posting it requires no translation. Not thread safe; the owner of a send queue keeps one and reuses
 * it.
 */
public final class SendBatch {

    /** Opcodes, {@code enum ibv_wr_opcode}. */
    public static final int RDMA_WRITE = 0;

    public static final int RDMA_WRITE_WITH_IMM = 1;
    public static final int SEND = 2;
    public static final int SEND_WITH_IMM = 3;

    /** Flags, {@code enum ibv_send_flags}. */
    public static final int SIGNALED = 1 << 1;

    public static final int INLINE = 1 << 3;

    /** How many scatter entries a request can have: the end of one slab and the start of the next. */
    public static final int MAX_SGE = 2;

    static final int WR_ID = 0;
    static final int NEXT = 8;
    static final int SG_LIST = 16;
    static final int NUM_SGE = 24;
    static final int OPCODE = 28;
    static final int FLAGS = 32;
    static final int IMM = 36;
    static final int REMOTE_ADDR = 40;
    static final int RKEY = 48;
    static final int WR_SIZE = 128;
    static final int SGE_SIZE = 16;
    private static final int STRIDE = WR_SIZE + MAX_SGE * SGE_SIZE;
    /** The size of {@link #payload}, bytes. */
    public static final int PAYLOAD = 1024;

    private static final boolean LITTLE_ENDIAN = ByteOrder.nativeOrder() == ByteOrder.LITTLE_ENDIAN;

    private final NativeMemory memory;
    private final ByteBuffer bytes;
    private final ByteBuffer payload;
    private final int capacity;
    private int size;
    private int sges; // of the last request

    public SendBatch(int capacity) {
        this.capacity = capacity;
        this.memory = NativeMemory.allocate(capacity * STRIDE + PAYLOAD);
        this.bytes = memory.buffer();
        this.payload = bytes.slice(capacity * STRIDE, PAYLOAD);
        for (int at = 0; at < capacity * STRIDE; at += STRIDE) {
            bytes.putLong(at + SG_LIST, memory.address() + at + WR_SIZE);
        }
    }

    /**
     * Appends a request without payload; {@link #sge} adds the payload. {@code imm} is in host order, whatever the
     * order on the wire.
     */
    public void add(long id, int opcode, int flags, int imm, long remoteAddress, int rkey) {
        if (size == capacity) {
            throw new IllegalStateException("batch of " + capacity + " work requests is full");
        }
        int at = size * STRIDE;
        if (size > 0) {
            bytes.putLong(at - STRIDE + NEXT, memory.address() + at);
        }
        bytes.putLong(at + WR_ID, id);
        putPair(at + NUM_SGE, 0, opcode);
        putPair(at + FLAGS, flags, NetOrder.swap(imm));
        bytes.putLong(at + REMOTE_ADDR, remoteAddress);
        bytes.putInt(at + RKEY, rkey);
        // irdma takes the first scatter entry of a write that has none: what an earlier request has left there.
        bytes.putLong(at + WR_SIZE, 0);
        bytes.putLong(at + WR_SIZE + 8, 0);
        sges = 0;
        size++;
    }

    /** Adds a scatter entry to the last request. With {@link #INLINE} the key is ignored. */
    public void sge(long address, int length, int lkey) {
        if (sges == MAX_SGE) {
            throw new IllegalStateException("a work request takes " + MAX_SGE + " scatter entries");
        }
        int at = (size - 1) * STRIDE;
        int sge = at + WR_SIZE + sges * SGE_SIZE;
        bytes.putLong(sge, address);
        putPair(sge + 8, length, lkey);
        bytes.putInt(at + NUM_SGE, ++sges);
    }

    /** Writes two neighbours in one access: most of the time that a request takes is spent on these. */
    private void putPair(int at, int first, int second) {
        int low = LITTLE_ENDIAN ? first : second;
        int high = LITTLE_ENDIAN ? second : first;
        bytes.putLong(at, low & 0xffffffffL | (long) high << 32);
    }

    public int size() {
        return size;
    }

    public int capacity() {
        return capacity;
    }

    /** Forgets all requests. */
    public void clear() {
        for (int i = 0; i < size - 1; i++) {
            bytes.putLong(i * STRIDE + NEXT, 0); // so that add() writes only the link to the new request
        }
        size = 0;
    }

    /**
     * Returns memory for the payload of one request, which is posted {@link #INLINE} before the next one is made. It
     * need not be registered.
     */
    public ByteBuffer payload() {
        return payload;
    }

    /** Returns the address where {@link #payload} begins. */
    public long payloadAddress() {
        return memory.address() + (long) capacity * STRIDE;
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
        return bytes.getLong(index * STRIDE + WR_ID);
    }

    public int opcode(int index) {
        return bytes.getInt(index * STRIDE + OPCODE);
    }

    public int flags(int index) {
        return bytes.getInt(index * STRIDE + FLAGS);
    }

    /** Returns the immediate data in host order. */
    public int imm(int index) {
        return NetOrder.swap(bytes.getInt(index * STRIDE + IMM));
    }

    public long remoteAddress(int index) {
        return bytes.getLong(index * STRIDE + REMOTE_ADDR);
    }

    public int rkey(int index) {
        return bytes.getInt(index * STRIDE + RKEY);
    }

    public int sgeCount(int index) {
        return bytes.getInt(index * STRIDE + NUM_SGE);
    }

    public long sgeAddress(int index, int sge) {
        return bytes.getLong(index * STRIDE + WR_SIZE + sge * SGE_SIZE);
    }

    public int sgeLength(int index, int sge) {
        return bytes.getInt(index * STRIDE + WR_SIZE + sge * SGE_SIZE + 8);
    }

    public int sgeLkey(int index, int sge) {
        return bytes.getInt(index * STRIDE + WR_SIZE + sge * SGE_SIZE + 12);
    }
}
