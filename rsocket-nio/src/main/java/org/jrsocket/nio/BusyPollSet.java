/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.nio;

/**
 * The few keys whose streams were active lately. The selecting thread polls them at every selection and while it spins, so that what comes next is seen
 * without a system call. The selecting thread's own.
 */
final class BusyPollSet {

    /** Polling a stream takes some 100 ns; more would slow down those that are really active. */
    static final int MAX = 16;
    /** Selections without anything after which a key is let go. */
    private static final int MAX_IDLE = 64;

    private final RSelectionKey[] keys = new RSelectionKey[MAX];
    private int size;

    int size() {
        return size;
    }

    RSelectionKey get(int index) {
        return keys[index];
    }

    /** @return the key that had to go for it, or null */
    RSelectionKey add(RSelectionKey key) {
        RSelectionKey evicted = null;
        if (size == MAX) {
            int longest = 0;
            for (int i = 1; i < size; i++) {
                if (keys[i].idleRounds > keys[longest].idleRounds) {
                    longest = i;
                }
            }
            evicted = keys[longest];
            remove(longest);
        }
        key.hot = true;
        key.idleRounds = 0;
        keys[size++] = key;
        return evicted;
    }

    /** The last one takes its place. */
    void remove(int index) {
        keys[index].hot = false;
        keys[index] = keys[--size];
        keys[size] = null;
    }

    /** Whether the key, which had nothing in this selection either, is to be let go. */
    static boolean isCold(RSelectionKey key) {
        return ++key.idleRounds > MAX_IDLE;
    }
}
