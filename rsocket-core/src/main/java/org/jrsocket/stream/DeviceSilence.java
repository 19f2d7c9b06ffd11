/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.stream;

import java.util.concurrent.TimeUnit;
import org.jrsocket.protocol.Outbound;

/**
 * How long a stream's device has said nothing of a request that it was given: neither that it was acknowledged nor that
 * it was given up. Every device does one or the other, unless it is broken: soft-RoCE of Linux 6.1 may stop sending on
 * a queue pair for good, after its link was down. Counted in looks and not in time, so that a process or a host that
 * stood still for long does not take its own silence for the device's. Service thread, with the core's lock.
 */
final class DeviceSilence {

    /** From one look to the next. */
    static final long LOOK_NANOS = TimeUnit.SECONDS.toNanos(3);

    /**
     * Looks in a row: 90 s. More than any device needs to give up, which is 2^19 * 4.096 us, four times as long as
     * asked for, and eight tries.
     */
    static final int MOST_LOOKS = 30;

    /**
     * The peer may have no receive posted, which a device reports to nobody while it tries again, for ever as we ask:
     * such a peer has a quarter of an hour to poll, as TCP would give it.
     */
    static final int MOST_LOOKS_WITHOUT_RECEIVES = 300;

    /** An iWARP adapter's requests are carried by its own TCP, which tries for about a quarter of an hour. */
    static final int MOST_LOOKS_OF_IWARP = 300;

    private final int most;
    private long completions = -1; // none looked at yet
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

    /** What so many looks are in time. */
    long seconds() {
        return TimeUnit.NANOSECONDS.toSeconds(looks * LOOK_NANOS);
    }
}
