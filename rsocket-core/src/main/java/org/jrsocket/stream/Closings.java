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
 * The closed streams that still have something to deliver: for how long, and how many. Each keeps its registered memory
 * meanwhile, and a peer that gives no room decides how long that is. So one whose peer has given none since the close
 * has less time; and beyond a number, which is what the kernel has {@code tcp_max_orphans} for, the oldest of those
 * that wait for room is reset. Service thread, unless said otherwise.
 */
final class Closings {

    private static final Logger LOG = LoggerFactory.getLogger(Closings.class);

    /** Each may have grown to its send buffer: at the default sizes 256 MiB, 8 MiB for those that are small. */
    static final int MAX = 256;

    private static final long CHECK_NANOS = TimeUnit.MILLISECONDS.toNanos(500);

    private final ServiceLoop service;
    private final LimitedLog log = new LimitedLog(LOG);
    private final Set<RdmaStream> streams = new LinkedHashSet<>(); // the oldest first
    private boolean checkDue; // by a timer
    private boolean noneStarved; // at the last look; looked again at the next check, not for every close
    private volatile int max = MAX;
    private volatile long starvedNanos = TimeUnit.SECONDS.toNanos(10);

    Closings(ServiceLoop service) {
        this.service = service;
    }

    /** How many there may be. Any thread. */
    void limit(int newMax) {
        max = newMax;
    }

    /** How long a stream may take whose peer has given no room since the close. Any thread. */
    long starvedNanos() {
        return starvedNanos;
    }

    /** For tests. */
    void starvedNanos(long nanos) {
        starvedNanos = nanos;
    }

    /** Sees to it that a close ends when its time is over. One timer for all, so that none outlives its stream. */
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
            checkDue = true; // only now: a timer that could not be made is made by the next one
        }
    }

    void remove(RdmaStream stream) {
        streams.remove(stream);
    }

    private void resetOldestStarved() {
        for (RdmaStream stream : streams) {
            if (stream.closing().isStarved()) {
                log.warn(
                        "{} is reset with data undelivered: its peer gives no room, and more than {} closed connections"
                                + " have something to deliver (close.max)",
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

    /** One stream's trouble must not end the time limits of the others. */
    private void checkOne(RdmaStream stream) {
        try {
            if (!stream.closing().check()) {
                streams.remove(stream);
            }
        } catch (RuntimeException | Error e) {
            LOG.error("closing {} failed, it is tried again", stream, e);
        }
    }
}
