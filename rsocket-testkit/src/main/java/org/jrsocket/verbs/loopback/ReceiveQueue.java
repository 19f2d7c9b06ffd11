/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.verbs.loopback;

import java.util.concurrent.atomic.AtomicInteger;

/**
 * The receive queue of a queue pair: a ring of receives with one scatter entry or none. Guarded by the queue pair's
 * lock, except where marked.
 */
final class ReceiveQueue {

    final int capacity;
    /** Slots taken: from posting until the completion was polled. Any thread. */
    final AtomicInteger used = new AtomicInteger();

    long posted;
    long consumed;

    private final long[] ids;
    private final long[] addresses;
    private final int[] lengths;
    private final int[] lkeys;

    ReceiveQueue(int capacity) {
        this.capacity = capacity;
        ids = new long[capacity];
        addresses = new long[capacity];
        lengths = new int[capacity];
        lkeys = new int[capacity];
    }

    /** Takes a receive; false if there is no slot. */
    boolean add(long id, long address, int length, int lkey) {
        if (used.get() >= capacity) {
            return false;
        }
        int at = (int) (posted % capacity);
        ids[at] = id;
        addresses[at] = address;
        lengths[at] = length;
        lkeys[at] = lkey;
        used.incrementAndGet();
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
        return (int) (consumed % capacity);
    }
}
