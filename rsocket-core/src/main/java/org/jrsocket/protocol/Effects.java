/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.protocol;

/**
 * What a step of a half brought about, as bits of one int. {@link Connection} tells the other half what it needs to
 * know, {@link Pump} gives receives back and sends, and the driver does the rest: it wakes whoever waits.
 */
public final class Effects {

    /** Nothing. */
    public static final int NONE = 0;

    // From Inbound.

    /** Bytes can be read that could not be read before. */
    public static final int READABLE = 1;
    /** The peer sends no more data: SHUTDOWN or DISCONNECT. Tell {@link Outbound#peerEnded}. */
    public static final int ENDED = 1 << 1;
    /** The peer is gone for good: DISCONNECT. Tell {@link Outbound#die} after what was read. */
    public static final int GONE = 1 << 2;
    /** The peer closed hard. */
    public static final int RESET = 1 << 3;
    /** A new credit limit, {@link Inbound#limit}: tell {@link Outbound#limit}. */
    public static final int LIMIT = 1 << 4;
    /**
     * A grant came with the limit: take entry {@link Inbound#tableIndex} and tell {@link Outbound#grant}, then
     * {@link Inbound#entryTaken}.
     */
    public static final int GRANT = 1 << 5;
    /** A grant may have come with the limit (iWARP does not say): as {@link #GRANT}, if the entry's length is not 0. */
    public static final int GRANT_POSSIBLE = 1 << 6;
    /** Memory can be granted, or a slab is free again: see {@link Inbound#finished} and {@link Inbound#grantWanted}. */
    public static final int MEMORY = 1 << 7;
    /**
     * The peer sent what no peer may send; {@link Inbound#violation} or {@link Outbound#violation} says what. The
     * connection is over.
     */
    public static final int VIOLATION = 1 << 8;

    /** The peer has not read all before it closed, which follows an end in order: writes fail. */
    public static final int RESET_AFTER_END = 1 << 12;

    // From Outbound.

    /** Something can be built that could not be built before: call {@link Outbound#build}. */
    public static final int SEND = 1 << 9;
    /** The peer's device acknowledged more: {@link Outbound#acknowledged} moved on, and send memory is free again. */
    public static final int ACKNOWLEDGED = 1 << 10;
    /** All that was asked for is out and acknowledged, including the end of the stream. */
    public static final int DRAINED = 1 << 11;

    private Effects() {}

    public static boolean has(int effects, int bits) {
        return (effects & bits) != 0;
    }
}
