/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.stream;

import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.jrsocket.threads.ServiceLoop;

/** The time limit of an attempt to connect, which ends it on the service thread. */
final class ConnectLimit {

    /** An attempt whose time is over looks for its queue pair for a second; only a device that hangs takes longer. */
    private static final int MOST_LOOKS = 100;

    private static final long LOOK_NANOS = TimeUnit.MILLISECONDS.toNanos(10);

    /** The attempt. None of its methods has an effect on one that has an outcome. */
    interface Attempt {

        /** Sets the limit to what {@code left} says now. */
        void expire(LongSupplier left);

        /** Ends it now. */
        void expireNow();

        /** Returns whether it has no outcome yet, and a maker is, or will be, at work for it. */
        boolean isBeingMade();
    }

    private final ServiceLoop service;
    private final CmEvents events;
    private final Attempt attempt;
    private ServiceLoop.Timer timer; // guarded by the attempt's lock
    private int looks; // service thread

    ConnectLimit(ServiceLoop service, CmEvents events, Attempt attempt) {
        this.service = service;
        this.events = events;
        this.attempt = attempt;
    }

    /** Asks {@code left} again in so many nanoseconds, or soon if that is none. Called with the attempt's lock held. */
    void set(LongSupplier left, long nanos) {
        if (nanos > 0) {
            cancel();
            timer = service.schedule(() -> due(left), nanos);
        } else {
            service.execute(() -> reached(left));
        }
    }

    /** Called with the attempt's lock held. */
    void cancel() {
        if (timer != null) {
            timer.cancel(); // otherwise it would hold on to the stream, which may end long before it
        }
    }

    private void due(LongSupplier left) {
        try {
            attempt.expire(left);
        } catch (OutOfMemoryError e) { // then at once: nothing else would
            attempt.expireNow();
        }
    }

    /** Ends the attempt unless {@code left} has something left, or what is there by now makes a connection. */
    private void reached(LongSupplier left) {
        try {
            look(left);
        } catch (OutOfMemoryError e) { // as above
            attempt.expireNow();
        }
    }

    private void look(LongSupplier left) {
        events.takeAll(); // an event that waited for this thread may be the answer, or the moment to ask
        if (left.getAsLong() > 0) {
            attempt.expire(left);
        } else if (attempt.isBeingMade() && looks++ < MOST_LOOKS) { // this host's own work says nothing about the peer
            service.schedule(() -> reached(left), LOOK_NANOS);
        } else {
            attempt.expireNow();
        }
    }
}
