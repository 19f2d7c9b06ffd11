/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.protocol;

/**
 * A piece of registered memory, and the ledger of what has happened to it since it was granted to the peer or became
 * the send memory of a writer. The driver makes and frees it, and may know more about it. While a half of the
 * connection has the slab, its counters belong to that half.
 *
 * <pre>
 *  0 ...... consumed ...... filled ............ length
 *    read, and              arrived,   the peer may
 *    perhaps lent           unread     write here
 * </pre>
 */
public class Slab {

    private final long address;
    private final int length;
    private final int localKey;
    private final int remoteKey;

    /** Bytes that the peer may fill; less than the whole slab once the peer has given up the rest. */
    int granted;

    int filled;
    int consumed;
    int lent;
    /** Stream offset behind the last byte that was sent out of it; send memory only. */
    long endOffset;
    /** The next one in the {@code SlabQueue} that this one is in. */
    Slab next;

    /** @param length bytes, at least 1 */
    public Slab(long address, int length, int localKey, int remoteKey) {
        if (length < 1) {
            throw new IllegalArgumentException("a slab of " + length + " bytes");
        }
        this.address = address;
        this.length = length;
        this.granted = length;
        this.localKey = localKey;
        this.remoteKey = remoteKey;
    }

    public final long address() {
        return address;
    }

    public final int length() {
        return length;
    }

    public final int localKey() {
        return localKey;
    }

    public final int remoteKey() {
        return remoteKey;
    }

    boolean isFull() {
        return filled == granted;
    }

    /** Returns whether all that will ever be in it was read; some of it may still be lent. */
    boolean isRead() {
        return consumed == granted;
    }

    void renew() {
        granted = length;
        filled = 0;
        consumed = 0;
        lent = 0;
        endOffset = 0;
    }

    @Override
    public String toString() {
        return length + " bytes at 0x" + Long.toHexString(address);
    }
}
