/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.protocol;

import org.jrsocket.wire.Credits;

/**
 * Counts receives and credits. Every message uses up a receive; only data messages use up a credit. A credit comes back
 * when its receive is given back to the device, not when the application has read: grants account for memory.
 *
 * <p>More receives are posted than credits advertised, so that a peer that keeps the rules never meets an empty queue.
 */
final class ReceiveQueue {

    /**
     * The control messages that a peer can send without our polling: all its grants, two updates, RELEASE, SHUTDOWN,
     * RESET, DISCONNECT.
     */
    private static final int CONTROL_UNPOLLED = GrantSizing.MOST_GRANTS + 6;
    /**
     * How many receives are given back at a time. Those of control messages are given back sooner, because they have
     * only the spare receives.
     */
    private static final int BATCH = 32;

    private static final int CONTROL_BATCH = 3;
    /** Receives in addition to the credits. */
    static final int SPARE = CONTROL_UNPOLLED + CONTROL_BATCH - 1;

    private final int credits;
    private int messages; // data messages, modulo 2^16
    private int backed; // the limit that is backed by posted receives
    private int announced;
    private int toRepost;
    private int controlToRepost;

    ReceiveQueue(int credits) {
        this.credits = credits;
        this.backed = credits;
        this.announced = credits;
    }

    /** Counts a data message, which uses up a receive and a credit. Returns whether the peer had a credit. */
    boolean data() {
        if ((backed - messages & Credits.MASK) == 0) {
            return false;
        }
        messages = Credits.next(messages);
        toRepost++;
        return true;
    }

    void control() {
        toRepost++;
        controlToRepost++;
    }

    /** Returns the receives that should be given back now. */
    int toRepost() {
        return toRepost >= BATCH || controlToRepost >= CONTROL_BATCH || toRepost > 0 && isLow() ? toRepost : 0;
    }

    /** Records that the receives counted by {@link #toRepost} were given back. */
    void reposted() {
        toRepost = 0;
        controlToRepost = 0;
        backed = messages + credits & Credits.MASK;
    }

    private boolean isLow() {
        return (announced - messages & Credits.MASK) <= credits / 2;
    }

    /** Returns whether the peer could run short, and there are credits to announce to it. */
    boolean wantsAnnouncement() {
        return isLow() && backed != announced;
    }

    /** Returns the limit that can be announced. */
    int limit() {
        return backed;
    }

    void announced(int limit) {
        announced = limit;
    }
}
