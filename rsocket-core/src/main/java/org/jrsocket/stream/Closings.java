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
 * The closed streams that still have something to deliver, with limits on their time and number. Each keeps its
 * registered memory until it ends, and a peer that gives no room decides how long that takes. So a stream whose peer
 * has given no room since the close has less time, and beyond a maximum number (the kernel has {@code tcp_max_orphans}
 * for this) the oldest of the streams that wait for room is reset. Used on the service thread, unless stated otherwise.
 */
final class Closings {

    private static final Logger LOG = LoggerFactory.getLogger(Closings.class);

    /** Each may have grown to its send buffer: 256 MiB in all at the default sizes, or 8 MiB if they are all small. */
    static final int MAX = 256;

    private static final long CHECK_NANOS = TimeUnit.MILLISECONDS.toNanos(500);

    private final ServiceLoop service;
    private final LimitedLog log = new LimitedLog(LOG);
    private final Set<RdmaStream> streams = new LinkedHashSet<>(); // the oldest first
    private boolean checkDue; // a timer is set
    private boolean noneStarved; // as of the last look; the next check looks again, not every close
    private volatile int max = MAX;
    private volatile long starvedNanos = TimeUnit.SECONDS.toNanos(10);

    Closings(ServiceLoop service) {
        this.service = service;
    }

    /** Sets how many there may be. May be called from any thread. */
    void limit(int newMax) {
        max = newMax;
    }

    /**
     * Returns how long a stream may take whose peer has given no room since the close. May be called from any thread.
     */
    long starvedNanos() {
        return starvedNanos;
    }

    /** Sets that time, for tests. */
    void starvedNanos(long nanos) {
        starvedNanos = nanos;
    }

    /** Ensures that a close ends when its time is over. One timer serves all, so that none outlives its stream. */
    void add(RdmaStream stream) {
        streams.add(stream);
        checkLater();
        if (streams.size() > max && !noneStarved) {
            resetOldestStarved();
        }
    }

    private void checkLater() {
        if (!checkDue) {
            service.schedule(this::check, CHECK_NANOS);
            checkDue = true; // only now: if the timer could not be created, the next call creates it
        }
    }

    void remove(RdmaStream stream) {
        streams.remove(stream);
    }

    private void resetOldestStarved() {
        for (RdmaStream stream : streams) {
            if (stream.closing().isStarved()) {
                log.warn(
                        "{} is reset with undelivered data: its peer makes no room, and more than {} closed connections"
                                + " still have data to deliver (close.max)",
                        stream,
                        max);
                stream.closing().cutShort();
                return;
            }
        }
        noneStarved = true;
    }

    private void check() {
        checkDue = false;
        noneStarved = false;
        try {
            for (RdmaStream stream : List.copyOf(streams)) {
                checkOne(stream);
            }
        } finally {
            if (!streams.isEmpty()) {
                checkLater();
            }
        }
    }

    /** Checks one stream. Trouble with it must not end the time limits of the others. */
    private void checkOne(RdmaStream stream) {
        try {
            if (!stream.closing().check()) {
                streams.remove(stream);
            }
        } catch (RuntimeException | Error e) {
            LOG.error("closing {} failed; it will be tried again", stream, e);
        }
    }
}
