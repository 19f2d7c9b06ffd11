/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.connect;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import org.jrsocket.connect.Ways.Way;
import org.jrsocket.stream.PendingConnect;
import org.jrsocket.stream.RdmaConnectException;
import org.jrsocket.verbs.VerbsUnavailableException;

/** The part of a {@link ConnectAttempt} that takes one way: how long it may take, and what is learned of the peer. */
final class WayAttempt implements PendingConnect.Observer {

    /** Starts the connection itself. */
    interface Maker {
        PendingConnect connect(Way way, PendingConnect.Observer observer) throws VerbsUnavailableException;

        /** Whether the connection may use this device, to which the way has led. */
        boolean mayUse(Way way, String device, InetAddress from);
    }

    private final Way way;
    private final InetSocketAddress remote;
    private final int shares;
    private final long limit;
    private final boolean hasHeadStart;
    private final long start = System.nanoTime();
    private Maker maker; // written before the attempt is started, as the next by whoever starts it
    private PendingConnect pending;
    private boolean first; // to ask a peer that has not answered yet; published by the next
    private volatile long askedAfter = -1; // nanoseconds from the start; negative: not yet

    /**
     * @param shares of its head start this has one
     * @param limit nanoseconds, whatever the head start; 0 for none
     * @param hasHeadStart whether something else is tried when the head start is over
     */
    WayAttempt(Way way, InetSocketAddress remote, int shares, long limit, boolean hasHeadStart) {
        this.way = way;
        this.remote = remote;
        this.shares = shares;
        this.limit = limit;
        this.hasHeadStart = hasHeadStart;
    }

    void start(Maker by) throws VerbsUnavailableException {
        maker = by;
        pending = by.connect(way, this);
    }

    PendingConnect pending() {
        return pending;
    }

    Way way() {
        return way;
    }

    PeerMemory memory() {
        return way.memory();
    }

    /** Whether {@link #left} ever ends it. */
    boolean isLimited() {
        return hasHeadStart || limit > 0;
    }

    /** How long it may still take, nanoseconds. Any thread. */
    long left() {
        long age = System.nanoTime() - start;
        long left = limit == 0 ? Long.MAX_VALUE : limit - age;
        if (!hasHeadStart) {
            return left;
        }
        long asked = askedAfter;
        // As if the time went faster, since of the head start only a share is this one's.
        long own = memory().left(remote, shares * age, asked < 0 ? -1 : shares * (age - asked), asked >= 0 && first);
        return Math.min(left, own / shares);
    }

    /** Why it failed. An attempt ends after the service thread did what it had to do: one that did not ask had no route. */
    TcpReason reason(RdmaConnectException e) {
        boolean resolved = e.reason() != RdmaConnectException.Reason.TIMEOUT || askedAfter >= 0;
        return resolved ? TcpReason.of(e.reason()) : TcpReason.UNRESOLVED;
    }

    @Override
    public boolean mayUse(String device, InetAddress from) {
        return maker.mayUse(way, device, from);
    }

    @Override
    public void asked() {
        first = memory().asked(remote);
        askedAfter = System.nanoTime() - start;
    }

    @Override
    public void answered(PendingConnect.Answer answer) {
        memory().answered(remote, answer, System.nanoTime() - start - askedAfter);
    }
}
