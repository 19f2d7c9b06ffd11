/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.protocol;

/**
 * The results of a step, as bits of an int. {@code Connection} tells each half what it needs to know of the other,
 * {@code Pump} gives receives back and sends, and the driver does the rest: it wakes those that wait.
 */
public final class Effects {

    /** No effect. */
    public static final int NONE = 0;

    // From Inbound.

    /** Bytes can be read that could not be read before. */
    public static final int READABLE = 1;
    /** The peer sends no more data: SHUTDOWN or DISCONNECT. */
    public static final int ENDED = 1 << 1;
    /** The peer is gone for good: DISCONNECT. */
    public static final int GONE = 1 << 2;
    /** The peer closed hard. */
    public static final int RESET = 1 << 3;
    /** The peer closed hard after saying that no more data comes: readers see the end, writers that it is gone. */
    public static final int RESET_AFTER_END = 1 << 12;
    /** Only for {@code Connection}: there is a new credit limit, {@code Inbound.limit}. */
    public static final int LIMIT = 1 << 4;
    /** Only for {@code Connection}: a grant came with the limit, in entry {@code Inbound.tableIndex}. */
    public static final int GRANT = 1 << 5;
    /**
     * Only for {@code Connection}: a grant may have come with the limit, since iWARP does not tell. One has come if the
     * entry's length is not 0.
     */
    public static final int GRANT_POSSIBLE = 1 << 6;
    /**
     * Only for {@code Connection}: memory can be granted, or a slab is free again. See {@code Inbound.finished} and
     * {@code Inbound.grantWanted}.
     */
    public static final int MEMORY = 1 << 7;
    /**
     * The peer sent what no peer may send. {@code Connection.violation} says what; if that is null, what came was no
     * message, and the driver's queues know more. The connection has ended.
     */
    public static final int VIOLATION = 1 << 8;

    // From Outbound.

    /** Something can be built that could not be built before: call {@code Pump.flush}. */
    public static final int SEND = 1 << 9;
    /** The peer's device acknowledged more: {@code Outbound.acknowledged} moved on, and send memory is free again. */
    public static final int ACKNOWLEDGED = 1 << 10;
    /**
     * All that was asked for is sent and acknowledged, including the end of the stream. A driver may call
     * {@code Outbound.isDrained} instead.
     */
    public static final int DRAINED = 1 << 11;

    // From Pump.

    /**
     * The connection has ended because the peer broke the rules, or because the queues failed, which know why. The
     * driver may move the queue pair to error once nothing is left to be sent: after a violation the peer is still told
     * of the end.
     */
    public static final int FAILED = 1 << 13;

    private Effects() {}

    public static boolean has(int effects, int bits) {
        return (effects & bits) != 0;
    }
}
