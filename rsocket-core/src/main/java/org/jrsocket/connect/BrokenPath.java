/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.connect;

import java.util.concurrent.TimeUnit;

/**
 * A host to which connections can be made but are then lost, because the path carries the handshake but not the data,
 * for example because of a wrong MTU or wrong flow control. The host is left alone for a while, longer each time. Then
 * one connection tries it, and the others follow only if that one is not lost. Guarded by its owner's lock.
 */
final class BrokenPath {

    private static final long FIRST_PAUSE_NANOS = TimeUnit.SECONDS.toNanos(10);
    private static final long MOST_PAUSE_NANOS = TimeUnit.MINUTES.toNanos(10);
    /** How long a trial lasts. A lost connection is noticed within three seconds of a write to it. */
    static final long TRIAL_NANOS = TimeUnit.SECONDS.toNanos(10);
    /** A loss that comes this long after the last pause or trial counts as the first. */
    private static final long FORGET_NANOS = TimeUnit.MINUTES.toNanos(10);

    private int losses; // in a row
    private long until; // end of the pause or the trial
    private boolean trial; // one connection is trying the host

    /** Records the loss of a connection. Connections that are lost together count once. */
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

    /** Returns whether a connection is to use TCP. */
    boolean isAvoided(long now) {
        return left(now) > 0;
    }

    /** Records that a connection uses RDMA, as none does while the host is avoided. After a pause this is the trial. */
    void used(long now) {
        if (losses > 0 && !trial) {
            trial = true;
            until = now + TRIAL_NANOS;
        }
    }

    /** Returns for how many more nanoseconds connections use TCP; 0 if they do not. */
    long left(long now) {
        return losses == 0 ? 0 : Math.max(0, until - now);
    }
}
