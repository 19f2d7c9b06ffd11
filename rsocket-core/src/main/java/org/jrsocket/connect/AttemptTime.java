/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.connect;

import java.net.InetSocketAddress;

/**
 * How long an attempt over one way may take: its share of its caller's time, and of the head start that RDMA has over
 * whatever is tried next. Safe for use by many threads.
 */
final class AttemptTime {

    private final PeerMemory memory;
    private final InetSocketAddress remote;
    private final int shares;
    private final long limit;
    private final boolean hasHeadStart;
    private final AttemptAge age;

    private boolean first; // to ask a peer that has not answered yet; published by the next
    private volatile long askedAfter = -1; // nanoseconds from the start; negative: not yet

    /**
     * Begins now.
     *
     * @param memory what is known about the peer
     * @param shares the number of parts of the head start, of which this attempt has one
     * @param limit nanoseconds, whatever the head start; 0 for none
     * @param hasHeadStart whether something else is tried when the head start is over
     */
    AttemptTime(PeerMemory memory, InetSocketAddress remote, int shares, long limit, boolean hasHeadStart) {
        this.memory = memory;
        this.remote = remote;
        this.shares = shares;
        this.limit = limit;
        this.hasHeadStart = hasHeadStart;
        this.age = memory.newAttempt();
    }

    /** Records that the request goes out. */
    void asked() {
        first = memory.asked(remote);
        askedAfter = age.look();
    }

    boolean hasAsked() {
        return askedAfter >= 0;
    }

    /** Returns nanoseconds. */
    long age() {
        return age.look();
    }

    /** Returns the nanoseconds since the request went out. */
    long sinceAsked() {
        return age.look() - askedAfter;
    }

    /** Returns whether something else is tried when the time is over. */
    boolean hasHeadStart() {
        return hasHeadStart;
    }

    /** Returns whether {@link #left} ever ends the attempt. */
    boolean isLimited() {
        return hasHeadStart || limit > 0;
    }

    /** Returns how long the attempt may still take, nanoseconds. */
    long left() {
        long now = age.look();
        long left = limit == 0 ? Long.MAX_VALUE : limit - now;
        left = hasHeadStart ? Math.min(left, leftOfHeadStart(now)) : left;
        age.lookAgainIn(left);
        return left;
    }

    private long leftOfHeadStart(long now) {
        long asked = askedAfter;
        // As if time went faster, because only a share of the head start belongs to this attempt.
        long own = memory.left(remote, shares * now, asked < 0 ? -1 : shares * (now - asked), asked >= 0 && first);
        return own / shares;
    }

    /**
     * Returns the same while it waits for what another attempt learns about the peer. The head start is left out: when
     * that is over, the wait is ended.
     */
    long leftToWait() {
        long most = memory.most();
        long left = (limit == 0 ? most : Math.min(limit, most)) - age.look();
        age.lookAgainIn(left);
        return left;
    }

    /** Returns whether the head start is over, whatever the caller's time. */
    boolean isOverdue() {
        return hasHeadStart && leftOfHeadStart(age.look()) <= 0;
    }
}
