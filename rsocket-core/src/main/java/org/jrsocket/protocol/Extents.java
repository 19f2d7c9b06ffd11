/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.protocol;

/**
 * What is written and not yet posted: runs of memory, first in first out. Adjacent runs are joined. A run is either a
 * copy in our send memory or memory that the application has lent. Both are free again once the stream's acknowledged
 * offset has passed their end, so nothing is remembered about a posted run.
 */
final class Extents {

    private long[] address = new long[8];
    private int[] key = new int[8];
    private int[] length = new int[8];
    private boolean[] awaited = new boolean[8];
    private int head;
    private int count;
    private long bytes;

    /**
     * Appends a run; an empty run is ignored.
     *
     * @param isAwaited whether the acknowledgement of its last byte is waited for
     */
    void add(long at, int n, int localKey, boolean isAwaited) {
        if (n == 0) {
            return;
        }
        if (count > 0) {
            int last = slot(count - 1);
            if (address[last] + length[last] == at && key[last] == localKey && !awaited[last] && length[last] + n > 0) {
                length[last] += n;
                awaited[last] = isAwaited;
                bytes += n;
                return;
            }
        }
        if (count == address.length) {
            grow();
        }
        int slot = slot(count);
        address[slot] = at;
        key[slot] = localKey;
        length[slot] = n;
        awaited[slot] = isAwaited;
        count++;
        bytes += n;
    }

    private int slot(int index) {
        return head + index & address.length - 1;
    }

    private void grow() {
        int size = address.length;
        long[] newAddress = new long[size * 2];
        int[] newKey = new int[size * 2];
        int[] newLength = new int[size * 2];
        boolean[] newAwaited = new boolean[size * 2];
        for (int i = 0; i < count; i++) {
            int from = slot(i);
            newAddress[i] = address[from];
            newKey[i] = key[from];
            newLength[i] = length[from];
            newAwaited[i] = awaited[from];
        }
        address = newAddress;
        key = newKey;
        length = newLength;
        awaited = newAwaited;
        head = 0;
    }

    /** Returns the bytes of all runs. */
    long bytes() {
        return bytes;
    }

    /** Returns how many of the first {@code most} bytes the first {@code pieces} runs hold: what a request carries. */
    int gather(int most, int pieces) {
        int sum = 0;
        for (int i = 0; i < count && i < pieces && sum < most; i++) {
            sum += Math.min(length[slot(i)], most - sum);
        }
        return sum;
    }

    /** Returns whether the first {@code n} bytes lie in one piece. */
    boolean isOnePiece(int n) {
        return n <= length[head];
    }

    /** Returns whether a run that is waited for ends within the first {@code n} bytes. */
    boolean isAwaitedWithin(int n) {
        int sum = 0;
        for (int i = 0; i < count && sum < n; i++) {
            int at = slot(i);
            sum += length[at];
            if (awaited[at] && sum <= n) {
                return true;
            }
        }
        return false;
    }

    /** Moves the first {@code n} bytes into the last request of {@code sink}. */
    void moveTo(RequestSink sink, int n) {
        int left = n;
        while (left > 0) {
            int part = Math.min(left, length[head]);
            sink.piece(address[head], part, key[head]);
            address[head] += part;
            length[head] -= part;
            left -= part;
            if (length[head] == 0) {
                head = head + 1 & address.length - 1;
                count--;
            }
        }
        bytes -= n;
    }

    /** Forgets all runs. */
    void clear() {
        count = 0;
        bytes = 0;
    }
}
