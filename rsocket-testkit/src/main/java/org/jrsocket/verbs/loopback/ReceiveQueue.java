/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.verbs.loopback;

/**
 * The receive queue of a queue pair: a ring of receives with one scatter entry or none. Guarded by the queue pair's
 * lock, except where marked.
 */
final class ReceiveQueue {

    final int capacity;
    private final int mask;

    long posted;
    long consumed;
    /** Slots given back, each when its completion was polled. Raised under the lock of the completion queue. */
    final Counter freed = new Counter();

    private final long[] ids;
    private final long[] addresses;
    private final int[] lengths;
    private final int[] lkeys;

    ReceiveQueue(int capacity) {
        this.capacity = capacity;
        int size = Rings.powerOfTwo(capacity);
        mask = size - 1;
        ids = new long[size];
        addresses = new long[size];
        lengths = new int[size];
        lkeys = new int[size];
    }

    /** Adds a receive. Returns false if there is no slot. */
    boolean add(long id, long address, int length, int lkey) {
        if (posted - freed.get() >= capacity) {
            return false;
        }
        int at = (int) posted & mask;
        ids[at] = id;
        addresses[at] = address;
        lengths[at] = length;
        lkeys[at] = lkey;
        posted++;
        return true;
    }

    boolean isEmpty() {
        return consumed == posted;
    }

    // Of the oldest receive.

    long id() {
        return ids[head()];
    }

    long address() {
        return addresses[head()];
    }

    int length() {
        return lengths[head()];
    }

    int lkey() {
        return lkeys[head()];
    }

    private int head() {
        return (int) consumed & mask;
    }
}
