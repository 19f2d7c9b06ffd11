/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.nio;

/**
 * The keys whose streams were active lately. The selecting thread polls them at every selection and while it spins: a
 * poll costs some 100 ns, arming a stream and taking its event several microseconds. The more keys there are, the fewer
 * fruitless polls each of them gets before it is let go. The selecting thread's own.
 */
final class BusyPollSet {

    /** To poll all of them takes no longer than to handle a few messages. */
    static final int MAX = 64;
    /** Selections without anything after which a key is let go. */
    private static final int MAX_IDLE = 64;
    /** The same for many keys: what all of them may cost together. */
    private static final int MAX_IDLE_POLLS = 512;

    private final RSelectionKey[] keys = new RSelectionKey[MAX];
    private int size;

    int size() {
        return size;
    }

    RSelectionKey get(int index) {
        return keys[index];
    }

    /** @return the key that had to go for it, or null; the key itself if all the others are active */
    RSelectionKey add(RSelectionKey key) {
        RSelectionKey evicted = null;
        if (size == MAX) {
            int longest = 0;
            for (int i = 1; i < size; i++) {
                if (keys[i].idleRounds > keys[longest].idleRounds) {
                    longest = i;
                }
            }
            if (keys[longest].idleRounds <= 1) {
                return key;
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
    boolean isCold(RSelectionKey key) {
        return ++key.idleRounds > Math.min(MAX_IDLE, MAX_IDLE_POLLS / size);
    }
}
