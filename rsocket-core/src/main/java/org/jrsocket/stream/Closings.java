/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.stream;

import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The closed streams that still have something to deliver. Each keeps its registered memory until it ends, and its peer
 * decides how long that takes: as with TCP, a peer may be slow. A stream is reset once its peer has taken nothing for
 * long. Beyond a number of streams the oldest of those that wait for room have less time, and beyond a multiple of it
 * (the kernel has {@code tcp_max_orphans} for this) none. Used on the service thread, unless stated otherwise.
 */
final class Closings {

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
    private final Set<RdmaStream> streams = new LinkedHashSet<>(); // the oldest first
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
    void add(RdmaStream stream) {
        streams.add(stream);
        lookLater();
    }

    private void lookLater() {
        if (!lookDue) {
            service.scheduleAgain(look, LOOK_NANOS);
            lookDue = true; // only now: if the timer could not be created, the next call creates it
        }
    }

    void remove(RdmaStream stream) {
        streams.remove(stream);
    }

    private void look() {
        lookDue = false;
        try {
            int waiting = 0; // and not being reset
            for (RdmaStream stream : List.copyOf(streams)) {
                waiting += lookAt(stream) ? 1 : 0;
            }
            for (RdmaStream stream : waiting > max ? List.copyOf(streams) : List.<RdmaStream>of()) {
                if (waiting > max && resetIfStarved(stream, waiting > (long) FAR_TOO_MANY * max ? 0 : littlePatience)) {
                    waiting--;
                }
            }
        } finally {
            if (!streams.isEmpty()) {
                lookLater();
            }
        }
    }

    /**
     * Looks at one stream. Trouble with it must not keep the others from ending.
     *
     * @return whether it goes on waiting for its peer
     */
    private boolean lookAt(RdmaStream stream) {
        try {
            StreamClosing closing = stream.closing();
            if (!closing.look()) {
                streams.remove(stream);
            } else if (closing.isStuck(patience, false)) {
                log.warn(
                        "{} is reset with undelivered data: its peer has taken nothing for {} s",
                        stream,
                        TimeUnit.NANOSECONDS.toSeconds(patience * LOOK_NANOS));
                closing.cutShort();
            } else {
                return closing.isStuck(0, false);
            }
        } catch (RuntimeException | Error e) {
            logTrouble(stream, e);
        }
        return false;
    }

    private boolean resetIfStarved(RdmaStream stream, int looks) {
        try {
            StreamClosing closing = stream.closing();
            if (closing.isStuck(looks, true)) {
                log.warn(
                        "{} is reset with undelivered data: its peer makes no room, and more than {} closed connections"
                                + " still have data to deliver (close.max)",
                        stream,
                        max);
                closing.cutShort();
                return true;
            }
        } catch (RuntimeException | Error e) {
            logTrouble(stream, e);
        }
        return false;
    }

    private static void logTrouble(RdmaStream stream, Throwable e) {
        LOG.error("closing {} failed; it will be tried again", stream, e);
    }
}
