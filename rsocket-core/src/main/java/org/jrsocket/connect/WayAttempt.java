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
import org.jrsocket.connect.KnownHost.Standing;
import org.jrsocket.connect.Ways.Way;
import org.jrsocket.stream.PendingConnect;
import org.jrsocket.stream.RdmaConnectException;
import org.jrsocket.stream.RdmaConnectException.Reason;
import org.jrsocket.stream.RdmaStream;
import org.jrsocket.threads.ServiceLoop;
import org.jrsocket.threads.Threads;
import org.jrsocket.verbs.VerbsUnavailableException;

/**
 * The part of an attempt to connect that takes one way: how long it may take, and what is learned about the peer.
 * Before it begins it may have to wait for what another attempt learns about the peer ({@link FirstContacts}). Until
 * then it consists of this object and, if its caller blocks, the caller's thread: many wait at once, and nearly all of
 * them for nothing.
 */
final class WayAttempt implements FirstContacts.Attempt, PendingConnect.Observer {

    /** Starts the connection itself. */
    interface Maker extends FirstContacts.Answers {
        PendingConnect connect(Way way, PendingConnect.Observer observer) throws VerbsUnavailableException;

        /** Returns whether the connection may use this device, to which the way has led. */
        boolean mayUse(Way way, String device, InetAddress from);

        /** @throws VerbsUnavailableException if there is no RDMA */
        ServiceLoop service() throws VerbsUnavailableException;
    }

    private enum State {
        /** It waits for another attempt's outcome. */
        WAITING,
        /** It may begin, in the thread of its caller or on the service thread. */
        READY,
        /** It has begun; the connection that is {@link #pending} says the rest. */
        BEGUN,
        /** It was {@link #ended} before it had begun, or before its caller could be told of that. */
        ENDED
    }

    private final Way way;
    private final InetSocketAddress remote;
    private final AttemptTime time;
    private final boolean mayWait;

    private Maker maker; // written before the attempt is started, as the next
    private ServiceLoop service;
    private volatile State state = State.READY; // while others know of this attempt, written under this
    private volatile boolean waited; // and was then told to begin
    private volatile Thread waiter; // of a caller that blocks
    private Runnable action; // tells one that does not; guarded by this, as the next two
    private Runnable due; // what the timer runs
    private ServiceLoop.Timer timer;
    private final RdmaConnectException outOfMemory = RdmaConnectException.outOfMemory();
    private volatile RdmaConnectException ended; // why; written before the state, as the next
    private volatile PendingConnect pending;
    private volatile boolean routed;

    /** @param mayWait whether it may wait while another attempt asks a host of which nothing is known */
    WayAttempt(Way way, InetSocketAddress remote, AttemptTime time, boolean mayWait) {
        this.way = way;
        this.remote = remote;
        this.time = time;
        this.mayWait = mayWait;
    }

    /** Begins, or waits. No other thread may {@link #end} it before this returns, unless it waits. */
    void start(Maker by) throws VerbsUnavailableException {
        maker = by;
        service = by.service();
        Standing standing = Standing.KNOWN;
        if (mayWait) {
            state = State.WAITING; // before others know of it
            standing = contacts().join(this);
        }
        switch (standing) {
            case KNOWN -> {
                state = State.READY;
                began(by.connect(way, this));
            }
            case UNKNOWN -> {
                state = State.READY;
                connectAsOneOfMany();
            }
            case ASKED -> {
                // it will be told
            }
            case SILENT -> end(FirstContacts.silent());
        }
    }

    private void began(PendingConnect connect) {
        pending = connect;
        state = State.BEGUN;
    }

    private FirstContacts contacts() {
        return way.firstContacts();
    }

    Way way() {
        return way;
    }

    PeerMemory memory() {
        return way.memory();
    }

    @Override
    public InetSocketAddress remote() {
        return remote;
    }

    AttemptTime time() {
        return time;
    }

    @Override
    public Maker answers() {
        return maker;
    }

    @Override
    public ServiceLoop service() {
        return service;
    }

    @Override
    public boolean isLost() {
        return !hasAsked() && time.isOverdue();
    }

    // ---- beside others to the same host ----

    @Override
    public synchronized void begin() {
        if (state == State.WAITING) {
            waited = true;
            state = State.READY;
            wake();
        }
    }

    @Override
    public synchronized boolean end(RdmaConnectException why) {
        if (state == State.BEGUN || state == State.ENDED) {
            return false;
        }
        ended = why;
        state = State.ENDED;
        wake();
        return true;
    }

    /** Wakes the caller, who is no longer to wait. Called with the lock held. */
    private void wake() {
        if (action == null) {
            LockSupport.unpark(waiter);
            return;
        }
        try {
            service.execute(action);
            action = null;
            timer.cancel(); // else it would hold the stream, which may be over long before
        } catch (OutOfMemoryError e) {
            // then the timer tells it
        }
    }

    /** Ends the attempt on its own initiative. */
    private void leave(Reason reason, String message) {
        leave(why(reason, message, null));
    }

    /** Returns the exception, or another one without memory for it: whatever is lacking, the attempt has to end. */
    private RdmaConnectException why(Reason reason, String message, Throwable cause) {
        try {
            return new RdmaConnectException(reason, cause == null ? message : message + cause, cause);
        } catch (OutOfMemoryError e) {
            return outOfMemory;
        }
    }

    private void leave(RdmaConnectException why) {
        if (end(why)) {
            contacts().over(this, why);
        }
    }

    private void leaveInTime() {
        if (time.leftToWait() <= 0) {
            long waitedMillis = TimeUnit.NANOSECONDS.toMillis(time.age());
            leave(
                    Reason.TIMEOUT,
                    "it did not answer the request of another connection (waited " + waitedMillis + " ms)");
        }
    }

    /** Runs on the service thread, for a caller that does not block. */
    private void timeIsOver() {
        try {
            leaveInTime();
        } catch (OutOfMemoryError e) {
            leave(outOfMemory);
        } finally {
            tellOrWait();
        }
    }

    private void tellOrWait() {
        try {
            if (waitsOn()) {
                return;
            }
        } catch (OutOfMemoryError e) { // nobody would look again
            leave(outOfMemory);
        }
        Runnable untold;
        synchronized (this) {
            untold = action;
            action = null;
        }
        if (untold != null) {
            untold.run();
        }
    }

    /** Returns whether the wait goes on, because this process stood still. */
    private synchronized boolean waitsOn() {
        boolean waits = state == State.WAITING;
        if (waits) {
            timer = service.schedule(due, time.leftToWait());
        }
        return waits;
    }

    private void connectAsOneOfMany() throws VerbsUnavailableException {
        PendingConnect begun = null;
        boolean tried = false;
        boolean watched = false;
        try {
            synchronized (this) {
                if (state != State.READY) {
                    return;
                }
                tried = true;
                begun = maker.connect(way, this);
                began(begun);
            }
            begun.onDone(() -> contacts().over(this, failure()));
            watched = true;
        } finally {
            if (tried && !watched) { // others wait for it to ask: now one of them has to
                try {
                    cancelBegun();
                } finally {
                    contacts().over(this, null);
                }
            }
        }
    }

    /** Begins, if it has waited and may begin now. */
    private void goOn() {
        if (state == State.READY) {
            try {
                connectAsOneOfMany();
            } catch (VerbsUnavailableException e) {
                leave(Reason.RESOURCES, e.getMessage());
            }
        }
    }

    /** Goes on for a caller that does not block, on the service thread, which would tell it of no failure. */
    private void goOn(Once then) {
        try {
            onDone(then);
        } catch (RuntimeException | Error e) { // lack of memory, for example
            if (then.hasRun()) {
                throw e;
            }
            try {
                giveUp(why(Reason.RESOURCES, "it could not begin: ", e));
            } finally {
                then.run();
            }
        }
    }

    /** Ends it even if it has begun: as cancelled it would look as if its caller had closed it. */
    private void giveUp(RdmaConnectException why) {
        leave(why);
        synchronized (this) {
            if (state == State.BEGUN) {
                ended = why;
                state = State.ENDED;
            }
        }
        cancelBegun();
    }

    // ---- what becomes of it ----

    /**
     * Waits for the outcome, as {@link PendingConnect#await}.
     *
     * @throws RdmaConnectException with the reason; the same object for all that have waited for it
     */
    RdmaStream await() throws IOException {
        if (state == State.WAITING && service.isCurrent()) { // perhaps a logger's; no other thread would end its wait
            leave(Reason.RESOURCES, "the service thread cannot wait for a connection that it must make itself");
        } else if (state == State.WAITING) {
            awaitWord();
        }
        goOn();
        if (state == State.ENDED) {
            throw ended;
        }
        return pending.await(time::left);
    }

    /** Waits until it may begin, or is over. */
    private void awaitWord() throws InterruptedIOException {
        boolean virtual = Threads.isVirtual();
        boolean interrupted = false;
        waiter = Thread.currentThread();
        while (state == State.WAITING && !(interrupted && virtual)) {
            LockSupport.parkNanos(this, time.leftToWait());
            leaveInTime();
            interrupted |= Thread.interrupted();
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
        if (state == State.WAITING) {
            leave(Reason.CANCELLED, "interrupted while connecting");
            throw new InterruptedIOException("interrupted while connecting");
        }
    }

    /**
     * Runs {@code then} when there is an outcome or its time is over, for callers that do not block. It runs on the
     * service thread or a maker, or on the caller's if that is so already, and must not block.
     */
    void onDone(Runnable then) {
        synchronized (this) {
            if (state == State.WAITING) {
                // Made now: there may be no memory when it is to be told.
                Once once = new Once(then);
                Runnable tells = () -> goOn(once);
                due = this::timeIsOver;
                timer = service.schedule(due, time.leftToWait());
                action = tells; // last: whoever finds it, with the lock, cancels the timer
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
        if (time.isLimited()) {
            begun.expire(time::left);
        }
    }

    /** Returns why there is no connection; null if there is one, or no outcome yet. */
    RdmaConnectException failure() {
        PendingConnect begun = pending;
        return begun == null || state == State.ENDED ? ended : begun.failure();
    }

    void cancel() {
        if (pending == null) {
            leave(Reason.CANCELLED, "cancelled");
        }
        cancelBegun();
    }

    private void cancelBegun() {
        PendingConnect begun = pending;
        if (begun != null) {
            begun.cancel();
        }
    }

    /**
     * Returns why it failed. An attempt ends after the service thread has done its part, so one that did not ask had no
     * route, unless it was told of one and its device was slow.
     */
    TcpReason reason(RdmaConnectException e) {
        TcpReason reason = TcpReason.of(e.reason());
        boolean begun = state == State.BEGUN;
        return switch (reason) {
            case TIMEOUT -> hasAsked() || routed || !begun || hadTooLittleTime() ? reason : TcpReason.UNRESOLVED;
            case UNRESOLVED, UNREACHABLE -> begun ? reason : TcpReason.TIMEOUT; // the first one reports what it met
            default -> reason;
        };
    }

    /**
     * Returns whether its caller had too little time: it has waited for another one first, or has not got as far as
     * asking a host that is known to answer.
     */
    private boolean hadTooLittleTime() {
        return !time.isOverdue() && (waited || memory().standing(remote) == Standing.KNOWN);
    }

    @Override
    public boolean hasAsked() {
        return time.hasAsked();
    }

    // ---- what the service thread tells ----

    @Override
    public boolean mayUse(String device, InetAddress from) {
        return maker.mayUse(way, device, from);
    }

    @Override
    public boolean isPatient() {
        return !time.hasHeadStart();
    }

    @Override
    public void routed() {
        routed = true;
    }

    @Override
    public void asked() {
        time.asked();
        contacts().asked(this);
        PendingConnect begun = pending;
        if (time.isLimited() && begun != null) {
            begun.expire(time::left); // which returns something else from now on
        }
    }

    @Override
    public void answered(PendingConnect.Answer answer) {
        way.answered(remote, answer, time.sinceAsked());
    }
}
