/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.stream;

/**
 * Looks at a stream every few seconds for what nothing else would notice: if nothing has moved for some rounds, memory
 * is given back; if the device has said nothing for many, the connection is ended. Used on the service thread.
 */
final class StreamSweep {

    private static final int IDLE_SWEEPS = 2;

    private final StreamCore core;
    private final DeviceSilence silence;
    private long movesSeen;
    private int idleSweeps;
    private boolean atRest;
    private volatile Runnable whenQuiet = () -> {};

    StreamSweep(StreamCore core) {
        this.core = core;
        this.silence = new DeviceSilence(core.endpoint.device.isIwarp());
    }

    /** See {@link RdmaStream#whenQuiet}. */
    void whenQuiet(Runnable action) {
        whenQuiet = action;
    }

    /**
     * Does one round, unless another thread is busy with the stream at this moment or there is nothing to do.
     *
     * @return whether the stream was entered
     */
    boolean look() {
        if (atRest && isStillAtRest() || !core.tryEnter()) {
            return false;
        }
        boolean stuck;
        boolean quiet;
        try {
            stuck = core.closed && !core.releasing && !core.freed;
            long moves = moves();
            idleSweeps = moves == movesSeen ? idleSweeps + 1 : 0;
            movesSeen = moves;
            core.in.timePassed();
            boolean inUse = !core.freed && !core.closed;
            quiet = idleSweeps >= IDLE_SWEEPS && inUse && !core.writerInside;
            // More than once: what was on its way the first time has kept its memory.
            if (quiet && idleSweeps < 2 * IDLE_SWEEPS) {
                core.act(core.connection.quiet());
            }
            if (inUse && !core.peerGone && core.failure == null && core.out.awaitsCompletion()) {
                core.poll(); // on an idle stream nothing else does
                if (silence.look(core.out)) {
                    core.effects().silent(silence.seconds());
                }
            }
            atRest = quiet && idleSweeps >= 2 * IDLE_SWEEPS && !core.out.awaitsCompletion();
        } finally {
            core.exit();
        }
        if (stuck) { // a close is just beginning, or ran out of memory before it was handed over
            core.stream().closing().endNow();
        }
        if (quiet) {
            whenQuiet.run(); // without the lock, because it may wait for a thread that waits for the lock
        }
        return true;
    }

    /**
     * Returns whether nothing has changed. It does not take the lock: with ten thousand idle connections, each lock
     * would be memory that is in no processor's cache, and more work for the garbage collector. What another thread is
     * doing at this moment is seen in the next round.
     */
    private boolean isStillAtRest() {
        return moves() == movesSeen && !core.closed && !core.out.awaitsCompletion();
    }

    private long moves() {
        return core.in.consumed() + core.out.written();
    }
}
