/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.verbs.loopback;

import java.util.Arrays;

/**
 * A table of memory regions by key, which are found without allocation. A key is an index, a generation and a kind: old
 * keys stay invalid for a while when an index is used again, 0 is never a key, and a local key is not a remote key.
 */
final class KeyTable {

    private static final int GENERATIONS = 1 << 7;

    private final SpinLock lock = new SpinLock();
    private int[] generations = new int[64]; // guarded by lock
    private boolean[] used = new boolean[64]; // guarded by lock
    private int last; // guarded by lock: where the last region was put
    // slots written under lock, published by writing the field again
    private volatile LoopbackMr[] regions = new LoopbackMr[64];

    /** Returns the local key for a new region; its remote key is one more. {@link #put} must follow. */
    int reserve() {
        lock.lock();
        try {
            LoopbackMr[] table = regions;
            for (int i = 1; i < table.length; i++) {
                int index = (last + i) % table.length;
                if (index != 0 && !used[index]) {
                    return take(index);
                }
            }
            int index = table.length;
            generations = Arrays.copyOf(generations, 2 * index);
            used = Arrays.copyOf(used, 2 * index);
            regions = Arrays.copyOf(table, 2 * index);
            return take(index);
        } finally {
            lock.unlock();
        }
    }

    private int take(int index) {
        last = index;
        used[index] = true;
        generations[index] = (generations[index] + 1) % GENERATIONS;
        return index << 8 | generations[index] << 1;
    }

    void put(LoopbackMr mr) {
        set(mr.getLkey(), mr);
    }

    void remove(LoopbackMr mr) {
        set(mr.getLkey(), null);
    }

    private void set(int lkey, LoopbackMr mr) {
        lock.lock();
        try {
            LoopbackMr[] table = regions;
            table[lkey >>> 8] = mr;
            used[lkey >>> 8] = mr != null;
            regions = table;
        } finally {
            lock.unlock();
        }
    }

    LoopbackMr local(int lkey) {
        LoopbackMr mr = at(lkey);
        return mr != null && mr.getLkey() == lkey ? mr : null;
    }

    LoopbackMr remote(int rkey) {
        LoopbackMr mr = at(rkey);
        return mr != null && mr.getRkey() == rkey ? mr : null;
    }

    private LoopbackMr at(int key) {
        LoopbackMr[] table = regions;
        int index = key >>> 8;
        return index < table.length ? table[index] : null;
    }
}
