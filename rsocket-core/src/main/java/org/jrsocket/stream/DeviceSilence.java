/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.stream;

import java.util.concurrent.TimeUnit;
import org.jrsocket.protocol.Outbound;

/**
 * Measures how long a stream's device has said nothing about a request that it was given: neither that it was
 * acknowledged nor that it was given up. Every device does one or the other, unless it is broken: soft-RoCE of Linux
 * 6.1 may stop sending on a queue pair for good after its link was down. The silence is counted in looks and not in
 * time, so that a process or a host that stood still for long does not take its own silence for the device's. Used on
 * the service thread, with the core's lock held.
 */
final class DeviceSilence {

    /** The time from one look to the next. */
    static final long LOOK_NANOS = TimeUnit.SECONDS.toNanos(3);

    /**
     * Silent looks in a row that are too many: 90 s. That is more than any device needs to give up. It makes at most
     * eight tries (seven, unless a C client has asked for more: its number holds for both ends), each of up to four
     * times the 2^19 * 4.096 us that are the most we ask for.
     */
    static final int MOST_LOOKS = 30;

    /**
     * The same if the peer may have no receive posted, which a device does not report while it retries, for ever as we
     * ask it to. Such a peer has a quarter of an hour to poll, as with TCP.
     */
    static final int MOST_LOOKS_WITHOUT_RECEIVES = 300;

    /**
     * The same for an iWARP adapter, whose requests are carried by its own TCP, which tries for about a quarter of an
     * hour.
     */
    static final int MOST_LOOKS_OF_IWARP = 300;

    private final int most;
    private long completions = -1; // none seen yet
    private int looks;

    DeviceSilence(boolean iwarp) {
        this.most = iwarp ? MOST_LOOKS_OF_IWARP : MOST_LOOKS;
    }

    /** Takes a look, after a poll. Returns whether there have been too many. */
    boolean look(Outbound out) {
        if (!out.awaitsCompletion() || out.completions() != completions) {
            completions = out.completions();
            looks = 0;
            return false;
        }
        return ++looks >= (out.mayWaitForReceives() ? Math.max(most, MOST_LOOKS_WITHOUT_RECEIVES) : most);
    }

    /** Returns for how long the device has been silent, as of the last look; 0 if it is not. */
    long seconds(Outbound out) {
        return out.awaitsCompletion() && out.completions() == completions ? seconds() : 0;
    }

    /** Returns the time that the looks in a row took. */
    long seconds() {
        return TimeUnit.NANOSECONDS.toSeconds(looks * LOOK_NANOS);
    }
}
