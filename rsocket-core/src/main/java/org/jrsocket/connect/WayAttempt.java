/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.connect;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import org.jrsocket.connect.PeerMemory.Standing;
import org.jrsocket.connect.Ways.Way;
import org.jrsocket.stream.PendingConnect;
import org.jrsocket.stream.RdmaConnectException;
import org.jrsocket.stream.RdmaConnectException.Reason;
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
    private final boolean mayWait;
    private final long start = System.nanoTime();
    private Maker maker; // written before the attempt is started, as the next by whoever starts it
    private volatile PendingConnect pending;
    private volatile boolean waits; // for what another one hears
    private volatile boolean waited;
    private boolean first; // to ask a peer that has not answered yet; published by the next
    private volatile long askedAfter = -1; // nanoseconds from the start; negative: not yet

    /**
     * @param shares of its head start this has one
     * @param limit nanoseconds, whatever the head start; 0 for none
     * @param hasHeadStart whether something else is tried when the head start is over
     * @param mayWait whether it may leave it to another one to ask a host of which nothing is known
     */
    WayAttempt(Way way, InetSocketAddress remote, int shares, long limit, boolean hasHeadStart, boolean mayWait) {
        this.way = way;
        this.remote = remote;
        this.shares = shares;
        this.limit = limit;
        this.hasHeadStart = hasHeadStart;
        this.mayWait = mayWait;
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
        return hasHeadStart ? Math.min(left, leftOfHeadStart(age)) : left;
    }

    private long leftOfHeadStart(long age) {
        if (waits && memory().standing(remote) == Standing.SILENT) {
            return 0; // what it waits for has been heard
        }
        long asked = askedAfter;
        // As if the time went faster, since of the head start only a share is this one's.
        long own = memory().left(remote, shares * age, asked < 0 ? -1 : shares * (age - asked), asked >= 0 && first);
        return own / shares;
    }

    /** Whether its head start is over, whatever its caller's time. */
    boolean isOverdue() {
        return hasHeadStart && leftOfHeadStart(System.nanoTime() - start) <= 0;
    }

    /**
     * Why it failed. An attempt ends after the service thread did what it had to do: one that did not ask had no route.
     */
    TcpReason reason(RdmaConnectException e) {
        TcpReason reason = TcpReason.of(e.reason());
        return switch (reason) {
            case TIMEOUT -> hasAsked() || waits || hadTooLittleTime() ? reason : TcpReason.UNRESOLVED;
            case UNRESOLVED, UNREACHABLE -> waits ? TcpReason.TIMEOUT : reason; // the first one tells what it met
            default -> reason;
        };
    }

    /** The caller's: it has waited for another one first, or has not got to a host that is known to answer. */
    private boolean hadTooLittleTime() {
        return !isOverdue() && (waited || memory().standing(remote) == Standing.KNOWN);
    }

    boolean hasAsked() {
        return askedAfter >= 0;
    }

    InetSocketAddress remote() {
        return remote;
    }

    // ---- beside others to the same host ----

    @Override
    public boolean mayBegin(PendingConnect attempt) {
        pending = attempt;
        if (!mayWait) {
            return true;
        }
        FirstContacts contacts = memory().firstContacts();
        waits = true; // before others see it
        Standing standing = contacts.join(this);
        switch (standing) {
            case UNKNOWN, ASKED -> attempt.onDone(() -> contacts.over(this, attempt.failure()));
            case SILENT -> endWith(new RdmaConnectException(Reason.TIMEOUT, "it did not answer another one", null));
            case KNOWN -> {
                // as if it were alone
            }
        }
        boolean begins = standing == Standing.UNKNOWN || standing == Standing.KNOWN;
        if (begins) {
            waits = false;
        }
        return begins;
    }

    void begin() {
        waited = true;
        waits = false;
        pending.begin();
    }

    void endWith(RdmaConnectException why) {
        pending.endWith(why);
    }

    /** What {@link #left} says is not what it has said: whoever waits for that long is to ask again. */
    void limitChanged() {
        if (isLimited()) {
            pending.expire(this::left);
        }
    }

    // ---- what the service thread tells ----

    @Override
    public boolean mayUse(String device, InetAddress from) {
        return maker.mayUse(way, device, from);
    }

    @Override
    public void asked() {
        first = memory().asked(remote);
        askedAfter = System.nanoTime() - start;
        limitChanged();
    }

    @Override
    public void answered(PendingConnect.Answer answer) {
        memory().answered(remote, answer, System.nanoTime() - start - askedAfter);
    }
}
