/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.nio;

import org.jrsocket.stream.PollSet;
import org.jrsocket.stream.RdmaStream;

/**
 * The keys whose streams were active lately. The selecting thread polls them at every selection and while it spins, all
 * at once: that costs less than 100 ns for each of them, arming a stream and taking its event several microseconds. The
 * more keys there are, the fewer fruitless polls each of them gets before it is let go. The selecting thread's own.
 */
final class BusyPollSet {

    /** To poll all of them takes no longer than to handle a few messages. */
    static final int MAX = 64;
    /** What the set of streams has room for: one that comes is in it before another one goes. */
    static final int ROOM = MAX + 1;
    /** Selections without anything after which a key is let go. */
    private static final int MAX_IDLE = 64;
    /** The same for many keys: what all of them may cost together. */
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
     * @return the key that had to go for it, or null; the key itself if all the others are active, or if its stream is
     *     hot in another selector, or freed
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
        key.arrived = true; // it may have become so since it was looked at
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

    /** The last one takes its place. */
    void remove(int index) {
        RSelectionKey key = keys[index];
        RdmaStream stream = key.member.stream();
        if (stream != null) { // else it has left when it was closed
            streams.remove(stream);
        }
        key.hot = false;
        key.arrived = false;
        key.wasReady = false;
        keys[index] = keys[--size];
        keys[size] = null;
    }

    /**
     * Marks the keys for whose streams a message has arrived; whether there is one.
     *
     * @param nanos how long to wait for the first one; 0 only looks
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

    /** Whether the key, which had nothing in this selection either, is to be let go. */
    boolean isCold(RSelectionKey key) {
        return ++key.idleRounds > Math.min(MAX_IDLE, MAX_IDLE_POLLS / size);
    }
}
