/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.verbs;

import java.nio.ByteBuffer;
import org.jrsocket.os.NativeMemory;

/**
 * An array of {@code ibv_wc} in off-heap memory, which {@link Cq#poll} fills. Not thread safe; the owner of a
 * completion queue keeps one. {@link #id}, {@link #status}, {@link #vendorError} and {@link #qpNumber} of an entry are
 * valid whatever the status, its other fields only if that is {@link #SUCCESS}.
 */
public final class WcBatch {

    /** {@code IBV_WC_SUCCESS}. */
    public static final int SUCCESS = 0;
    /** {@code IBV_WC_LOC_QP_OP_ERR}: soft-RoCE reports this when there is no route to the peer any more. */
    public static final int LOCAL_QP_OPERATION = 2;
    /** {@code IBV_WC_WR_FLUSH_ERR}: not executed, because the queue pair is in error. */
    public static final int FLUSHED = 5;
    /** {@code IBV_WC_RETRY_EXC_ERR}: the peer's device did not answer. */
    public static final int RETRY_EXCEEDED = 12;
    /** {@code IBV_WC_REM_ACCESS_ERR}: the peer's device refused key or bounds. */
    public static final int REMOTE_ACCESS = 10;

    /** {@code IBV_WC_RECV}. */
    public static final int OP_RECV = 128;
    /** {@code IBV_WC_RECV_RDMA_WITH_IMM}. */
    public static final int OP_RECV_RDMA_WITH_IMM = 129;

    /** {@code IBV_WC_WITH_IMM}. */
    public static final int WITH_IMM = 1 << 1;

    static final int WR_ID = 0;
    static final int STATUS = 8;
    static final int OPCODE = 12;
    static final int VENDOR_ERR = 16;
    static final int BYTE_LEN = 20;
    static final int IMM = 24;
    static final int QP_NUM = 28;
    static final int FLAGS = 36;
    static final int SIZE = 48;

    private final NativeMemory memory;
    private final ByteBuffer bytes;
    private final int capacity;

    public WcBatch(int capacity) {
        this.capacity = capacity;
        this.memory = NativeMemory.allocate(capacity * SIZE);
        this.bytes = memory.buffer();
    }

    public int capacity() {
        return capacity;
    }

    public long address() {
        return memory.address();
    }

    public void free() {
        memory.free();
    }

    public long id(int index) {
        return bytes.getLong(index * SIZE + WR_ID);
    }

    /** Returns the {@code enum ibv_wc_status}. */
    public int status(int index) {
        return bytes.getInt(index * SIZE + STATUS);
    }

    /** Returns the {@code enum ibv_wc_opcode}. */
    public int opcode(int index) {
        return bytes.getInt(index * SIZE + OPCODE);
    }

    /** Returns the driver's own number for a failure; 0 if it has none. */
    public int vendorError(int index) {
        return bytes.getInt(index * SIZE + VENDOR_ERR);
    }

    public int byteLength(int index) {
        return bytes.getInt(index * SIZE + BYTE_LEN);
    }

    /** Returns the immediate data in host order. */
    public int imm(int index) {
        return NetOrder.swap(bytes.getInt(index * SIZE + IMM));
    }

    /** Returns the queue pair's number. */
    public int qpNumber(int index) {
        return bytes.getInt(index * SIZE + QP_NUM);
    }

    public int flags(int index) {
        return bytes.getInt(index * SIZE + FLAGS);
    }

    /** Fills one entry, for providers written in Java. {@code imm} is in host order. */
    public void set(int index, long id, int status, int opcode, int byteLength, int imm, int qpNumber, int flags) {
        int at = index * SIZE;
        bytes.putLong(at + WR_ID, id);
        bytes.putInt(at + STATUS, status);
        bytes.putInt(at + OPCODE, opcode);
        bytes.putInt(at + VENDOR_ERR, 0);
        bytes.putInt(at + BYTE_LEN, byteLength);
        bytes.putInt(at + IMM, NetOrder.swap(imm));
        bytes.putInt(at + QP_NUM, qpNumber);
        bytes.putInt(at + FLAGS, flags);
    }
}
