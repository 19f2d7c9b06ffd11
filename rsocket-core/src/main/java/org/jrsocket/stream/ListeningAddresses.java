/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.stream;

import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.jrsocket.threads.Reapers;
import org.jrsocket.threads.ServiceLoop;
import org.jrsocket.threads.ServiceThread;

/**
 * The listeners at specific addresses, each of which is bound to the device that had its address at that moment. Nobody
 * says for certain when the address moves to another device. So all of them look where it is now: soon after each event
 * that may mean a move, then less and less often, and every ten seconds in any case. One timer serves all; there is
 * none without such listeners. Thread-safe.
 */
final class ListeningAddresses {

    private static final long PERIOD_NANOS = TimeUnit.SECONDS.toNanos(10);

    /** The first pause after an event: one move causes many, and the address may be gone from both devices a while. */
    private static final long SOON_NANOS = TimeUnit.MILLISECONDS.toNanos(250);

    /** A listener at a specific address. */
    interface Listener {

        /** Finds out which device has its address now. Called on a thread that may take its time. */
        void look();
    }

    private final ServiceThread service;
    private final Reapers reapers;
    private final Runnable look = this::look; // made now, as it is needed where memory is lacking

    // Guarded by this.
    private final Set<Listener> listeners = new HashSet<>();
    private ServiceLoop.Timer timer; // null if no look is due: one is under way, or nobody listens
    private long turn; // a timer of an earlier turn was stopped too late
    private boolean looking;
    private long longest = PERIOD_NANOS;
    private long pause = PERIOD_NANOS;

    ListeningAddresses(ServiceThread service, Reapers reapers) {
        this.service = service;
        this.reapers = reapers;
    }

    /** Adds a listener that listens at a specific address. Repeated calls have no effect. */
    synchronized void add(Listener listener) {
        listeners.add(listener);
        lookLater();
    }

    synchronized void remove(Listener listener) {
        listeners.remove(listener);
        if (listeners.isEmpty()) {
            stop();
        }
    }

    /** Looks soon, because an address may have moved. More calls before that have no effect. */
    synchronized void mayHaveMoved() {
        if (pause > SOON_NANOS || (timer == null && !looking)) { // the latter if there was no memory for a timer
            pause = Math.min(SOON_NANOS, longest);
            stop();
            lookLater();
        }
    }

    /** Sets the time between two looks without a reason, for tests. */
    synchronized void period(long nanos) {
        longest = nanos;
        pause = nanos;
        stop();
        lookLater();
    }

    private void stop() {
        if (timer != null) {
            timer.cancel();
            timer = null;
            turn++;
        }
    }

    private void lookLater() {
        if (timer == null && !looking && !listeners.isEmpty()) {
            long mine = turn;
            timer = service.schedule(() -> due(mine), pause);
        }
    }

    private void due(long itsTurn) {
        synchronized (this) {
            if (itsTurn != turn) {
                return;
            }
            timer = null;
            turn++;
            looking = true;
        }
        if (!reapers.handOver(null, look)) { // without memory, or at the end: not here, for it may last
            lookAgain();
        }
    }

    /** Runs on a thread that may take its time, because librdmacm opens a device when it first binds an id to it. */
    private void look() {
        try {
            now().forEach(Listener::look);
        } finally {
            lookAgain();
        }
    }

    /** Waits for memory for the next timer, without the lock. */
    private void lookAgain() {
        for (int tries = 1; !looked() && !service.hasEnded(); tries++) {
            LockSupport.parkNanos(ServiceThread.pauseNanos(tries));
        }
    }

    private synchronized List<Listener> now() {
        return List.copyOf(listeners);
    }

    /** Returns false if there is no memory for the next timer. */
    private synchronized boolean looked() {
        looking = false;
        pause = Math.min(2 * pause, longest);
        try {
            lookLater();
            return true;
        } catch (OutOfMemoryError e) {
            return false;
        }
    }
}
