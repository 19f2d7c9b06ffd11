/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.wire;

/**
 * The 32 bits of immediate data that come with every message: an operation in bits 31..29, with a value below. This
 * class uses host order, whatever order the wire needs.
 */
public final class Imm {

    /** {@code value} bytes were written at the current position of the receiver's ring. Takes a credit. */
    public static final int OP_DATA = 0;
    /** The credit limit is now {@code value & 0xffff}; a grant may have been written with it. */
    public static final int OP_SGL = 4;
    /** An iomap entry was written. We advertise no iomap, so none may come. */
    public static final int OP_IOMAP_SGL = 6;
    /** A {@code CTRL_} code. */
    public static final int OP_CTRL = 7;

    /** Both directions end. */
    public static final int CTRL_DISCONNECT = 0;
    /** Never sent with immediate data by C. */
    public static final int CTRL_KEEPALIVE = 1;
    /** The sender's direction ends. */
    public static final int CTRL_SHUTDOWN = 2;
    /** Ours: an abortive close. Sent only to a peer that announced {@link ConnData#FEATURE_RESET}; C ignores it. */
    public static final int CTRL_RESET = 3;

    /**
     * Ours: the sender gives up the rest of all grants that it has seen, because it has nothing to send, and the
     * receiver may free that memory. The number of grants that it has seen by message is above the code; see
     * {@link #release}. Sent only to a peer that announced {@link ConnData#FEATURE_RELEASE}; C ignores it.
     */
    public static final int CTRL_RELEASE = 4;

    /** The largest number of bytes that one DATA message can carry. */
    public static final int MAX_DATA = (1 << 29) - 1;

    private static final int CODE_BITS = 8;
    private static final int CODE_MASK = (1 << CODE_BITS) - 1;
    private static final int OP_SHIFT = 29;
    private static final int VALUE_MASK = (1 << OP_SHIFT) - 1;

    private Imm() {}

    /** @param bytes 1 to {@link #MAX_DATA}; a C peer takes 0 to mean the end of the stream */
    public static int data(int bytes) {
        if (bytes < 1 || bytes > MAX_DATA) {
            throw new IllegalArgumentException("a DATA message of " + bytes + " bytes");
        }
        return bytes;
    }

    /** @param limit the absolute limit of the peer's data messages; cut to 16 bits */
    public static int sgl(int limit) {
        return OP_SGL << OP_SHIFT | limit & Credits.MASK;
    }

    public static int ctrl(int code) {
        if ((code & ~VALUE_MASK) != 0) {
            throw new IllegalArgumentException("control code " + code);
        }
        return OP_CTRL << OP_SHIFT | code;
    }

    /** @param grants how many grants the sender has seen by message, modulo 2^16 */
    public static int release(int grants) {
        return ctrl(CTRL_RELEASE | (grants & Credits.MASK) << CODE_BITS);
    }

    /**
     * Returns the code of a CTRL message: the low eight bits of its value if it is a {@link #release}, otherwise the
     * whole value.
     */
    public static int code(int imm) {
        int value = value(imm);
        return (value & CODE_MASK) == CTRL_RELEASE ? CTRL_RELEASE : value;
    }

    /** Returns the number of grants in a {@link #release}. */
    public static int grants(int imm) {
        return value(imm) >>> CODE_BITS & Credits.MASK;
    }

    /** Returns the operation, 0 to 7. */
    public static int op(int imm) {
        return imm >>> OP_SHIFT;
    }

    /** Returns the low 29 bits. */
    public static int value(int imm) {
        return imm & VALUE_MASK;
    }

    /** Returns the credit limit of an SGL message. C lets the sum exceed 16 bits; only the low 16 count. */
    public static int limit(int imm) {
        return imm & Credits.MASK;
    }

    /** Describes immediate data for messages and logs: {@code "SGL 384"}. Allocates memory. */
    public static String describe(int imm) {
        int value = value(imm);
        return switch (op(imm)) {
            case OP_DATA -> "DATA " + value;
            case OP_SGL -> "SGL " + limit(imm);
            case OP_IOMAP_SGL -> "IOMAP_SGL " + value;
            case OP_CTRL ->
                switch (code(imm)) {
                    case CTRL_DISCONNECT -> "CTRL DISCONNECT";
                    case CTRL_KEEPALIVE -> "CTRL KEEPALIVE";
                    case CTRL_SHUTDOWN -> "CTRL SHUTDOWN";
                    case CTRL_RESET -> "CTRL RESET";
                    case CTRL_RELEASE -> "CTRL RELEASE " + grants(imm);
                    default -> "CTRL " + value;
                };
            default -> "reserved op " + op(imm) + " value " + value;
        };
    }
}
