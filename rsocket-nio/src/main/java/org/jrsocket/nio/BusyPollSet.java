/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.nio;

import org.jrsocket.stream.PollSet;
import org.jrsocket.stream.RdmaStream;

/**
 * The keys whose streams were active recently. The selecting thread polls all of them at once, at every selection and
 * while it spins. That costs less than 100 ns for each key, whereas arming a stream and taking its event costs several
 * microseconds. The more keys there are, the fewer fruitless polls each gets before it is removed. Used only by the
 * selecting thread.
 */
final class BusyPollSet {

    /** The maximum number of keys: polling all of them takes no longer than handling a few messages. */
    static final int MAX = 64;
    /** The capacity of the set of streams: a new stream is added before another one is removed. */
    static final int ROOM = MAX + 1;
    /** The number of consecutive selections in which a key is not ready, after which it is removed. */
    private static final int MAX_IDLE = 64;
    /** The same limit for many keys: the number of polls that all of them together may cost. */
    private static final int MAX_IDLE_POLLS = 512;

    private final RSelectionKey[] keys = new RSelectionKey[MAX];
    private int size;
    private PollSet streams; // null before the first key

    int size() {
        return size;
    }

    RSelectionKey get(int index) {
        return keys[index];
    }

    /**
     * Adds a key.
     *
     * @return the key that was removed to make room for it, or null; the key itself if all the others are active, or if
     *     its stream is hot in another selector or has been freed
     */
    RSelectionKey add(RSelectionKey key) {
        int longest = size == MAX ? longestIdle() : -1;
        if (longest >= 0 && keys[longest].idleRounds <= 1) {
            return key;
        }
        RdmaStream stream = key.member.stream();
        if (stream == null) {
            return key;
        }
        if (streams == null) {
            streams = new PollSet(stream, ROOM);
        }
        if (!streams.add(stream, key)) {
            return key;
        }
        RSelectionKey evicted = null;
        if (longest >= 0) {
            evicted = keys[longest];
            remove(longest);
        }
        key.hot = true;
        key.arrived = true; // a message may have arrived since it was looked at
        key.idleRounds = 0;
        keys[size++] = key;
        return evicted;
    }

    private int longestIdle() {
        int longest = 0;
        for (int i = 1; i < size; i++) {
            if (keys[i].idleRounds > keys[longest].idleRounds) {
                longest = i;
            }
        }
        return longest;
    }

    /** Removes the key at an index; the last key takes its place. */
    void remove(int index) {
        RSelectionKey key = keys[index];
        RdmaStream stream = key.member.stream();
        if (stream != null) { // otherwise it left the set when it was closed
            streams.remove(stream);
        }
        key.hot = false;
        key.arrived = false;
        key.wasReady = false;
        keys[index] = keys[--size];
        keys[size] = null;
    }

    /**
     * Marks the keys for whose streams a message has arrived, and returns whether there are any.
     *
     * @param nanos how long to wait for the first message; 0 only looks
     */
    boolean look(long nanos) {
        int n = streams == null ? 0 : streams.look(nanos);
        for (int i = 0; i < n; i++) {
            ((RSelectionKey) streams.found(i)).arrived = true;
        }
        return n > 0;
    }

    void close() {
        while (size > 0) {
            remove(size - 1);
        }
        if (streams != null) {
            streams.close();
        }
    }

    /** Counts another selection in which the key was not ready, and returns whether the key is to be removed. */
    boolean isCold(RSelectionKey key) {
        return ++key.idleRounds > Math.min(MAX_IDLE, MAX_IDLE_POLLS / size);
    }
}
