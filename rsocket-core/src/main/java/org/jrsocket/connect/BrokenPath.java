/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.connect;

import java.util.concurrent.TimeUnit;

/**
 * A host to which connections are made and then lost, because the path carries the handshake and not the data: an MTU
 * or flow control that is set up wrongly, for example. It is left alone for a while, each time longer. Then one
 * connection tries it, and only if that is not lost, the others do too. Its owner's lock guards it.
 */
final class BrokenPath {

    private static final long FIRST_PAUSE_NANOS = TimeUnit.SECONDS.toNanos(10);
    private static final long MOST_PAUSE_NANOS = TimeUnit.MINUTES.toNanos(10);
    /** A lost connection is noticed within three seconds of being written to. */
    static final long TRIAL_NANOS = TimeUnit.SECONDS.toNanos(10);
    /** A loss that comes so much later is another story. */
    private static final long FORGET_NANOS = TimeUnit.MINUTES.toNanos(10);

    private int losses; // in a row
    private long until; // of the pause or the trial
    private boolean trial; // one connection tries it

    /** A connection was lost. Those that are lost together count once. */
    void lost(long now) {
        boolean over = until - now <= 0;
        if (losses > 0 && !over && !trial) {
            return;
        }
        if (losses > 0 && now - until >= FORGET_NANOS) {
            losses = 0;
        }
        until = now + Math.min(FIRST_PAUSE_NANOS << Math.min(losses, 10), MOST_PAUSE_NANOS);
        losses++;
        trial = false;
    }

    /** Whether a connection is to use TCP. If not, the caller is taken to use RDMA. */
    boolean isAvoided(long now) {
        if (losses == 0) {
            return false;
        }
        if (until - now > 0) {
            return true;
        }
        if (!trial) {
            trial = true;
            until = now + TRIAL_NANOS;
        }
        return false;
    }

    /** Nanoseconds for which connections use TCP still; 0 if they do not. */
    long left(long now) {
        return losses == 0 ? 0 : Math.max(0, until - now);
    }
}
