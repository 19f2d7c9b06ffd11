/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.wire;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * A grant: the 16 bytes with which a receiver says where the sender may write. It consists of address (8), key (4) and
 * length (4), in that order, in the byte order of the side that reads it. The methods work on absolute positions,
 * whatever the order of the buffer itself, and allocate nothing.
 *
 * <p>A reader must read an entry only once, field by field into locals, and check it with {@link #isSound}: the peer
 * can change the memory at any time.
 */
public final class Grant {

    /** Size of a grant in bytes. */
    public static final int SIZE = 16;

    /** Whether this machine reads in big-endian order; it then sets {@link ConnData#NET} in what it sends. */
    public static final boolean BIG_ENDIAN_HOST = ByteOrder.nativeOrder() == ByteOrder.BIG_ENDIAN;

    private static final int KEY = 8;
    private static final int LENGTH = 12;

    private Grant() {}

    /**
     * Writes a grant, with its length last, because a C peer takes any entry whose length is not 0 as valid.
     *
     * @param bigEndian the reader's order, which is {@link ConnData#isBigEndian()} of the peer
     */
    public static void put(ByteBuffer buffer, int index, boolean bigEndian, long address, int key, int length) {
        boolean swap = isBigEndian(buffer) != bigEndian;
        buffer.putLong(index, swap ? Long.reverseBytes(address) : address);
        buffer.putInt(index + KEY, swap ? Integer.reverseBytes(key) : key);
        buffer.putInt(index + LENGTH, swap ? Integer.reverseBytes(length) : length);
    }

    public static long address(ByteBuffer buffer, int index, boolean bigEndian) {
        long raw = buffer.getLong(index);
        return isBigEndian(buffer) == bigEndian ? raw : Long.reverseBytes(raw);
    }

    public static int key(ByteBuffer buffer, int index, boolean bigEndian) {
        int raw = buffer.getInt(index + KEY);
        return isBigEndian(buffer) == bigEndian ? raw : Integer.reverseBytes(raw);
    }

    /** Returns the length as sent, so negative if it does not fit a Java {@code int}; {@link #isSound} refuses that. */
    public static int length(ByteBuffer buffer, int index, boolean bigEndian) {
        int raw = buffer.getInt(index + LENGTH);
        return isBigEndian(buffer) == bigEndian ? raw : Integer.reverseBytes(raw);
    }

    /** Marks the entry as taken: its length becomes 0. */
    public static void clear(ByteBuffer buffer, int index) {
        buffer.putInt(index + LENGTH, 0);
    }

    /** Returns whether an area of {@code length} bytes (0 is "no grant", and legal) can exist at {@code address}. */
    public static boolean isSound(long address, int length) {
        return length >= 0 && Long.compareUnsigned(address + length, address) >= 0;
    }

    private static boolean isBigEndian(ByteBuffer buffer) {
        return buffer.order() == ByteOrder.BIG_ENDIAN;
    }
}
