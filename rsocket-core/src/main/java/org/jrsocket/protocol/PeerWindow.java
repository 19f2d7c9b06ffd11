/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.protocol;

import org.jrsocket.wire.Credits;
import org.jrsocket.wire.Grant;

/**
 * What the peer lets us send: its grants, first in first out, and its credits. A message never crosses the end of a
 * grant, and a grant is filled to its last byte before the next is used. So the peer's memory is one stream of bytes
 * without gaps.
 */
final class PeerWindow {

    private final int initialCredits;
    /**
     * Credits that data does not use: a C peer posts no more receives than it advertises, and our control messages need
     * some of them.
     */
    private final int reserved;

    private int limit;
    private int sequence;

    private long address;
    private int key;
    private int left;
    private final long[] nextAddress;
    private final int[] nextKey;
    private final int[] nextLength;
    private int head;
    private int count;
    private int grantsSeen;
    private int messages; // with a value for the peer, since its last limit; each uses up a receive
    private int messagesBefore; // between the last two limits

    /**
     * Creates the window that the peer's connection data opens.
     *
     * @param entries entries of our grant table: so many grants can be unused, in addition to the one in use
     * @param credits the credits of the peer's connection data
     * @param reserved credits that data does not use; less than {@code credits}
     */
    PeerWindow(int entries, int credits, int reserved, long address, int key, int length) {
        if (reserved < 0 || reserved >= credits) {
            throw new IllegalArgumentException(reserved + " of " + credits + " credits reserved");
        }
        this.initialCredits = credits;
        this.limit = credits;
        this.reserved = reserved;
        this.address = address;
        this.key = key;
        this.left = length;
        this.nextAddress = new long[entries];
        this.nextKey = new int[entries];
        this.nextLength = new int[entries];
    }

    /** Takes a new limit. Returns null, or what is wrong with it. */
    String limit(int newLimit) {
        if (!Credits.isLimitPlausible(newLimit, limit, sequence, initialCredits)) {
            return "credit limit " + newLimit + " with " + sequence + " messages sent and " + initialCredits
                    + " initial credits";
        }
        limit = newLimit;
        messagesBefore = messages;
        messages = 0;
        return null;
    }

    /** Counts a message that was built, with data or without. */
    void message() {
        messages += messages < initialCredits ? 1 : 0; // counting further would tell nothing more
    }

    /** Returns the number of data messages so far, counted as in {@link Credits}. */
    int sequence() {
        return sequence;
    }

    /**
     * Returns whether the peer may have no receive left. A peer that posts no more receives than it advertises has them
     * all again only when it polls. It shows that it does by sending a limit, which may have crossed messages on their
     * way.
     */
    boolean mayLackReceives() {
        return messages + messagesBefore >= initialCredits;
    }

    /** Takes a grant. Returns null, or what is wrong with it. A grant of 0 bytes is legal and grants nothing. */
    String grant(long newAddress, int newKey, int newLength) {
        if (!Grant.isSound(newAddress, newLength)) {
            return "a grant of " + Integer.toUnsignedString(newLength) + " bytes that passes the end of memory";
        }
        if (newLength == 0) {
            return null;
        }
        if (count == nextLength.length) {
            return "a grant while " + count + " are unused";
        }
        int slot = (head + count) % nextLength.length;
        nextAddress[slot] = newAddress;
        nextKey[slot] = newKey;
        nextLength[slot] = newLength;
        count++;
        grantsSeen++;
        return null;
    }

    /** Returns the bytes that the next data message may have; 0 if the peer has to send something first. */
    int room() {
        if (left == 0) {
            next();
        }
        return Credits.window(limit, sequence) <= reserved ? 0 : left;
    }

    private void next() {
        if (count > 0) {
            address = nextAddress[head];
            key = nextKey[head];
            left = nextLength[head];
            head = (head + 1) % nextLength.length;
            count--;
        }
    }

    long address() {
        return address;
    }

    int key() {
        return key;
    }

    /** Records that a message of {@code n} bytes was built for {@link #address}. */
    void used(int n) {
        if (n < 1 || n > left || Credits.window(limit, sequence) <= reserved) {
            throw new IllegalStateException(n + " bytes with " + left + " granted");
        }
        address += n;
        left -= n;
        sequence = Credits.next(sequence);
    }

    /**
     * Gives up all grants that have come so far. Returns how many came by message, modulo 2^16, so that the peer knows
     * which they are.
     */
    int release() {
        left = 0;
        head = 0;
        count = 0;
        return grantsSeen & 0xffff;
    }

    /** Returns the bytes that are granted and unused. */
    long granted() {
        long sum = left;
        for (int i = 0; i < count; i++) {
            sum += nextLength[(head + i) % nextLength.length];
        }
        return sum;
    }
}
