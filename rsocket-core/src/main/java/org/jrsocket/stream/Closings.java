/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.stream;

import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.jrsocket.threads.ServiceLoop;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The closed streams that still have something to deliver. Each keeps its registered memory until it ends, and its peer
 * decides how long that takes: as with TCP, a peer may be slow. A stream is reset once its peer has taken nothing for
 * long. Beyond a number of streams the oldest of those that wait for room have less time, and beyond a multiple of it
 * (the kernel has {@code tcp_max_orphans} for this) none. Used on the service thread, unless stated otherwise.
 */
final class Closings {

    /** A close under way. Used on the service thread; its string names the stream. */
    interface Close {

        /**
         * Takes a look.
         *
         * @return whether the close is still under way
         */
        boolean look();

        /**
         * Returns whether nothing has gone on for {@code looks} looks.
         *
         * @param starved whether only those count that wait for room at the peer
         */
        boolean isStuck(int looks, boolean starved);

        /** Drops unsent data, tells the peer, and ends soon. */
        void cutShort();
    }

    private static final Logger LOG = LoggerFactory.getLogger(Closings.class);

    /** Each may have grown to its send buffer: 256 MiB in all at the default sizes, or 8 MiB if they are all small. */
    static final int MAX = 256;

    private static final long LOOK_NANOS = TimeUnit.MILLISECONDS.toNanos(500);

    /** Looks in a row at which a peer may have taken nothing: five minutes. */
    private static final int PATIENCE = 600;

    /** The same while there are more than the maximum: ten seconds. */
    private static final int LITTLE_PATIENCE = 20;

    /** With more than so many times the maximum, those that wait for room are reset even if they had some lately. */
    private static final int FAR_TOO_MANY = 16;

    private final ServiceLoop service;
    private final Runnable look = this::look; // made now: without memory for it no close would be looked at any more
    private final LimitedLog log = new LimitedLog(LOG);
    private final Set<Close> closes = new LinkedHashSet<>(); // the oldest first
    private boolean lookDue; // a timer is set
    private volatile int max = MAX;
    private volatile int patience = PATIENCE;
    private volatile int littlePatience = LITTLE_PATIENCE;

    Closings(ServiceLoop service) {
        this.service = service;
    }

    /** Sets how many there may be. May be called from any thread. */
    void limit(int newMax) {
        max = newMax;
    }

    /** Sets other numbers of looks, for tests. May be called from any thread. */
    void patience(int looks, int looksBeyondMax) {
        patience = looks;
        littlePatience = looksBeyondMax;
    }

    /** Ensures that a close ends. One timer serves all, so that none outlives its stream. */
    void add(Close close) {
        closes.add(close);
        lookLater();
    }

    private void lookLater() {
        if (!lookDue) {
            service.scheduleAgain(look, LOOK_NANOS);
            lookDue = true; // only now: if the timer could not be created, the next call creates it
        }
    }

    void remove(Close close) {
        closes.remove(close);
    }

    private void look() {
        lookDue = false;
        try {
            int waiting = 0; // and not being reset
            for (Close close : List.copyOf(closes)) {
                waiting += lookAt(close) ? 1 : 0;
            }
            for (Close close : waiting > max ? List.copyOf(closes) : List.<Close>of()) {
                if (waiting > max && resetIfStarved(close, waiting > (long) FAR_TOO_MANY * max ? 0 : littlePatience)) {
                    waiting--;
                }
            }
        } finally {
            if (!closes.isEmpty()) {
                lookLater();
            }
        }
    }

    /**
     * Looks at one stream. Trouble with it must not keep the others from ending.
     *
     * @return whether it goes on waiting for its peer
     */
    private boolean lookAt(Close close) {
        try {
            if (!close.look()) {
                closes.remove(close);
            } else if (close.isStuck(patience, false)) {
                log.warn(
                        "{} is reset with undelivered data: its peer has taken nothing for {} s",
                        close,
                        TimeUnit.NANOSECONDS.toSeconds(patience * LOOK_NANOS));
                close.cutShort();
            } else {
                return close.isStuck(0, false);
            }
        } catch (RuntimeException | Error e) {
            logTrouble(close, e);
        }
        return false;
    }

    private boolean resetIfStarved(Close close, int looks) {
        try {
            if (close.isStuck(looks, true)) {
                log.warn(
                        "{} is reset with undelivered data: its peer makes no room, and more than {} closed connections"
                                + " still have data to deliver (close.max)",
                        close,
                        max);
                close.cutShort();
                return true;
            }
        } catch (RuntimeException | Error e) {
            logTrouble(close, e);
        }
        return false;
    }

    private static void logTrouble(Close close, Throwable e) {
        LOG.error("closing {} failed; it will be tried again", close, e);
    }
}
