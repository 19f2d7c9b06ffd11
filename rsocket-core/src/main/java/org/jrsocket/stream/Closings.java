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
 * decides how long that takes. A stream is reset once its peer has taken nothing for long; beyond a maximum number (the
 * kernel has {@code tcp_max_orphans} for this) the oldest have less patience. Those whose peers take something, however
 * slowly, are left alone, as with TCP. Used on the service thread, unless stated otherwise.
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

    private final ServiceLoop service;
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
            service.schedule(this::look, LOOK_NANOS);
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
                if (waiting > max && resetIfStuck(stream)) {
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
            } else if (closing.isStuck(patience)) {
                log.warn(
                        "{} is reset with undelivered data: its peer has taken nothing for {} s since it was closed",
                        stream,
                        TimeUnit.NANOSECONDS.toSeconds(patience * LOOK_NANOS));
                closing.cutShort();
            } else {
                return closing.isStuck(0);
            }
        } catch (RuntimeException | Error e) {
            logTrouble(stream, e);
        }
        return false;
    }

    private boolean resetIfStuck(RdmaStream stream) {
        try {
            if (stream.closing().isStuck(littlePatience)) {
                log.warn(
                        "{} is reset with undelivered data: its peer takes nothing, and more than {} closed connections"
                                + " still have data to deliver (close.max)",
                        stream,
                        max);
                stream.closing().cutShort();
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
