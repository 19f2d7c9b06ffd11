/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.connect;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.jrsocket.connect.PeerMemory.Standing;
import org.jrsocket.connect.Ways.Way;
import org.jrsocket.stream.PendingConnect;
import org.jrsocket.stream.RdmaConnectException;
import org.jrsocket.stream.RdmaConnectException.Reason;
import org.jrsocket.stream.RdmaStream;
import org.jrsocket.stream.ServiceLoop;
import org.jrsocket.stream.Threads;
import org.jrsocket.verbs.VerbsUnavailableException;

/**
 * The part of a {@link ConnectAttempt} that takes one way: how long it may take, and what is learned of the peer. It
 * may have to wait for what another one hears of the peer ({@link FirstContacts}) before it begins. Until then it is
 * this object, and the thread of its caller if that blocks: many wait at once, and nearly all of them for nothing.
 */
final class WayAttempt implements PendingConnect.Observer {

    /** Starts the connection itself. */
    interface Maker {
        PendingConnect connect(Way way, PendingConnect.Observer observer) throws VerbsUnavailableException;

        /** Whether the connection may use this device, to which the way has led. */
        boolean mayUse(Way way, String device, InetAddress from);

        /** @throws VerbsUnavailableException there is no RDMA */
        ServiceLoop service() throws VerbsUnavailableException;

        /** As {@link StreamFactory#takeCmEvents}. */
        void takeCmEvents();
    }

    private final Way way;
    private final InetSocketAddress remote;
    private final int shares;
    private final long limit;
    private final boolean hasHeadStart;
    private final boolean mayWait;
    private final long start = System.nanoTime();

    private Maker maker; // written before the attempt is started, as the next
    private ServiceLoop service;
    private volatile boolean waits; // for what another one hears; while others know it, guarded by this
    private volatile boolean waited;
    private volatile Thread waiter; // of a caller that blocks
    private Runnable action; // of one that does not; guarded by this, as the next
    private ServiceLoop.Timer timer;
    private volatile RdmaConnectException ended; // before it has begun; written under this
    private volatile PendingConnect pending; // null: it has not begun; written under this

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

    /** Begins, or waits. */
    void start(Maker by) throws VerbsUnavailableException {
        maker = by;
        service = by.service();
        Standing standing = Standing.KNOWN;
        if (mayWait) {
            waits = true; // before others know it
            standing = contacts().join(this);
        }
        switch (standing) {
            case KNOWN -> {
                waits = false;
                pending = by.connect(way, this);
            }
            case UNKNOWN -> {
                waits = false;
                connectAsOneOfMany();
            }
            case ASKED -> {
                // somebody will tell
            }
            case SILENT -> end(FirstContacts.silent());
        }
    }

    private FirstContacts contacts() {
        return memory().firstContacts();
    }

    Way way() {
        return way;
    }

    PeerMemory memory() {
        return way.memory();
    }

    InetSocketAddress remote() {
        return remote;
    }

    Maker maker() {
        return maker;
    }

    ServiceLoop service() {
        return service;
    }

    // ---- how long ----

    /** Whether {@link #left} ever ends it. */
    private boolean isLimited() {
        return hasHeadStart || limit > 0;
    }

    /** How long it may still take, nanoseconds. Any thread. */
    long left() {
        long age = System.nanoTime() - start;
        long left = limit == 0 ? Long.MAX_VALUE : limit - age;
        return hasHeadStart ? Math.min(left, leftOfHeadStart(age)) : left;
    }

    private long leftOfHeadStart(long age) {
        long asked = askedAfter;
        // As if the time went faster, since of the head start only a share is this one's.
        long own = memory().left(remote, shares * age, asked < 0 ? -1 : shares * (age - asked), asked >= 0 && first);
        return own / shares;
    }

    /** The same while it waits: those who know of the head start tell it. */
    private long leftToWait() {
        long most = memory().most();
        return (limit == 0 ? most : Math.min(limit, most)) - (System.nanoTime() - start);
    }

    /** Whether its head start is over, whatever its caller's time. */
    private boolean isOverdue() {
        return hasHeadStart && leftOfHeadStart(System.nanoTime() - start) <= 0;
    }

    /** Whether it has had its head start and could not ask all the same. */
    boolean isLost() {
        return !hasAsked() && isOverdue();
    }

    // ---- beside others to the same host ----

    /** It may begin, if it still waits: soon, by itself. Any thread, whatever it holds. */
    synchronized void begin() {
        if (waits) {
            waited = true;
            wake();
        }
    }

    /** It is over, if it has not begun. As {@link #begin}. False if it has, or was over before. */
    synchronized boolean end(RdmaConnectException why) {
        if (pending != null || ended != null) {
            return false;
        }
        ended = why;
        wake();
        return true;
    }

    /** With the lock. */
    private void wake() {
        waits = false;
        Runnable then = action;
        if (then == null) {
            LockSupport.unpark(waiter);
        } else {
            action = null;
            timer.cancel(); // else it would hold the stream, which may be over long before
            service.execute(() -> onDone(then));
        }
    }

    /** It ends by itself. */
    private void leave(Reason reason, String message) {
        RdmaConnectException why = new RdmaConnectException(reason, message, null);
        if (end(why)) {
            contacts().over(this, why);
        }
    }

    private void leaveInTime() {
        if (leftToWait() <= 0) {
            long waitedMillis = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - start);
            leave(
                    Reason.TIMEOUT,
                    "it did not answer the request of another connection (waited " + waitedMillis + " ms)");
        }
    }

    private void connectAsOneOfMany() throws VerbsUnavailableException {
        PendingConnect begun = null;
        boolean tried = false;
        try {
            synchronized (this) {
                if (waits || ended != null || pending != null) {
                    return;
                }
                tried = true;
                begun = maker.connect(way, this);
                pending = begun;
            }
        } finally {
            if (tried && begun == null) { // others wait for it to ask: one of them has to
                contacts().over(this, null);
            }
        }
        PendingConnect mine = begun;
        begun.onDone(() -> contacts().over(this, mine.failure()));
    }

    /** Begins, if it has waited and may. */
    private void goOn() {
        if (pending == null) {
            try {
                connectAsOneOfMany();
            } catch (VerbsUnavailableException e) {
                leave(Reason.RESOURCES, e.getMessage());
            }
        }
    }

    // ---- what becomes of it ----

    /**
     * Waits for the outcome, as {@link PendingConnect#await}.
     *
     * @throws RdmaConnectException the reason; the same object for all that have waited for it
     */
    RdmaStream await() throws IOException {
        if (waits && service.isCurrent()) { // a logger's connection, perhaps; no other thread would end its wait
            leave(Reason.RESOURCES, "the service thread cannot wait for another connection, which it has to make");
        } else if (waits) {
            awaitWord();
        }
        goOn();
        if (ended != null) {
            throw ended;
        }
        return pending.await(this::left);
    }

    /** Until it may begin, or is over. */
    private void awaitWord() throws InterruptedIOException {
        boolean virtual = Threads.isVirtual();
        boolean interrupted = false;
        waiter = Thread.currentThread();
        while (waits && !(interrupted && virtual)) {
            LockSupport.parkNanos(this, leftToWait());
            leaveInTime();
            interrupted |= Thread.interrupted();
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
        if (waits) {
            leave(Reason.CANCELLED, "interrupted while connecting");
            throw new InterruptedIOException("interrupted while connecting");
        }
    }

    /**
     * For those who do not block: runs {@code then} when there is an outcome, or its time is over. On the service
     * thread, or on the caller's if that is so already; must not block.
     */
    void onDone(Runnable then) {
        synchronized (this) {
            if (waits) {
                action = then; // first: whoever says meanwhile that it may begin finds it
                timer = service.schedule(this::leaveInTime, leftToWait());
                return;
            }
        }
        goOn();
        PendingConnect begun = pending;
        if (begun == null) {
            then.run();
            return;
        }
        begun.onDone(then);
        if (isLimited()) {
            begun.expire(this::left);
        }
    }

    /** Why there is no connection; null if there is one, or no outcome yet. */
    RdmaConnectException failure() {
        PendingConnect begun = pending;
        return begun == null ? ended : begun.failure();
    }

    void cancel() {
        if (pending == null) {
            leave(Reason.CANCELLED, "cancelled");
        }
        PendingConnect begun = pending;
        if (begun != null) {
            begun.cancel();
        }
    }

    /**
     * Why it failed. An attempt ends after the service thread did what it had to do: one that did not ask had no route.
     */
    TcpReason reason(RdmaConnectException e) {
        TcpReason reason = TcpReason.of(e.reason());
        boolean begun = pending != null;
        return switch (reason) {
            case TIMEOUT -> hasAsked() || !begun || hadTooLittleTime() ? reason : TcpReason.UNRESOLVED;
            case UNRESOLVED, UNREACHABLE -> begun ? reason : TcpReason.TIMEOUT; // the first one tells what it met
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

    // ---- what the service thread tells ----

    @Override
    public boolean mayUse(String device, InetAddress from) {
        return maker.mayUse(way, device, from);
    }

    @Override
    public void asked() {
        first = memory().asked(remote);
        askedAfter = System.nanoTime() - start;
        contacts().asked(this);
        PendingConnect begun = pending;
        if (isLimited() && begun != null) {
            begun.expire(this::left); // what left() says is not what it has said
        }
    }

    @Override
    public void answered(PendingConnect.Answer answer) {
        memory().answered(remote, answer, System.nanoTime() - start - askedAfter);
    }
}
