/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.stream;

import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/** The time limit of an attempt to connect, which ends it on the service thread. */
final class ConnectLimit {

    /** An attempt whose time is over looks for its queue pair for a second; only a device that hangs takes longer. */
    private static final int MOST_LOOKS = 100;

    private static final long LOOK_NANOS = TimeUnit.MILLISECONDS.toNanos(10);

    private final CmServices shared;
    private final CmConnect connect;
    private final ConnectRequest request;
    private ServiceLoop.Timer timer; // guarded by the attempt's lock
    private int looks; // service thread

    ConnectLimit(CmServices shared, CmConnect connect, ConnectRequest request) {
        this.shared = shared;
        this.connect = connect;
        this.request = request;
    }

    /** Asks {@code left} again in so many nanoseconds. Called with the attempt's lock held. */
    void set(LongSupplier left, long nanos) {
        cancel();
        timer = shared.services.service.schedule(() -> due(left), nanos);
    }

    /** Called with the attempt's lock held. */
    void cancel() {
        if (timer != null) {
            timer.cancel(); // otherwise it would hold on to the stream, which may end long before it
        }
    }

    private void due(LongSupplier left) {
        try {
            connect.expire(left);
        } catch (OutOfMemoryError e) { // then at once: nothing else would
            connect.expireNow();
        }
    }

    /** Ends the attempt unless {@code left} has something left, or what is there by now makes a connection. */
    void reached(LongSupplier left) {
        try {
            look(left);
        } catch (OutOfMemoryError e) { // as above
            connect.expireNow();
        }
    }

    private void look(LongSupplier left) {
        shared.events.takeAll(); // an event that waited for this thread may be the answer, or the moment to ask
        if (left.getAsLong() > 0) {
            connect.expire(left);
        } else if (!connect.isDone()
                && request.isBeingMade()
                && looks++ < MOST_LOOKS) { // this host's own work says nothing about the peer
            shared.services.service.schedule(() -> reached(left), LOOK_NANOS);
        } else {
            connect.expireNow();
        }
    }
}
