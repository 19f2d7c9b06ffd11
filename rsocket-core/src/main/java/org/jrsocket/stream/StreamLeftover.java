/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.stream;

import java.net.SocketException;
import org.jrsocket.protocol.Outbound;
import org.jrsocket.protocol.SendLimits;
import org.jrsocket.threads.Leftovers;

/**
 * What a stream has to send and has not sent: because the peer gives no room, because the send queue is busy, or
 * because small writes are collected for the next one to take along. This class makes sure that sending continues, see
 * {@link Leftovers}. Guarded by the core's lock, except for what the service thread calls.
 */
final class StreamLeftover extends Leftovers.Stream {

    private final StreamCore core;
    private final Outbound out;
    private final StreamEffects effects;
    private final StreamWaiter waits;
    private final Burst burst = new Burst();

    private boolean corked; // the writer has more, and says when that is all
    private boolean listed; // among the streams that are looked after
    int writesInRow; // since anything was read; not counted beyond Burst.LENGTH + 1
    private long seenWritten;
    private int looks; // by the service thread

    StreamLeftover(StreamCore core, StreamEffects effects, StreamWaiter waits) {
        this.core = core;
        this.out = core.out;
        this.effects = effects;
        this.waits = waits;
    }

    /**
     * Sends what a writer has written, or leaves it for the next write to take along while the writer outruns its
     * device, see {@link Burst}.
     *
     * @param call bytes of the whole call, of which these are a part
     */
    void flushWritten(int call) {
        countWrite();
        if (corked && out.written() - out.posted() < SendLimits.MAX_MESSAGE) {
            core.collected = true;
            return;
        }
        if (call >= SendLimits.BULK || writesInRow <= Burst.LENGTH) {
            burst.end();
            core.flush();
            return;
        }
        if (burst.isCheap()) {
            core.flush();
            return;
        }
        long before = System.nanoTime();
        if (burst.isRunning(before) && out.written() - out.posted() < SendLimits.BULK) {
            core.collected = true;
            return;
        }
        long posted = out.posted();
        core.flush();
        if (out.posted() != posted) {
            burst.posted(before, System.nanoTime());
        }
    }

    /**
     * Returns whether a short write that can be posted at once may be. If so, it counts it as {@link #flushWritten}
     * does; if not, {@link #flushWritten} has to decide.
     */
    boolean goesAtOnce() {
        if (corked) {
            return false;
        }
        if (writesInRow < Burst.LENGTH) {
            burst.end();
        } else if (!burst.isCheap()) {
            return false;
        }
        countWrite();
        return true;
    }

    private void countWrite() {
        if (writesInRow <= Burst.LENGTH) {
            writesInRow++;
        }
    }

    /** See {@code RdmaStream.cork}. */
    void cork() {
        corked = true;
    }

    boolean isCorked() {
        return corked;
    }

    /** Sends what was held back. May be called repeatedly, and after the stream has ended. */
    void uncork() {
        corked = false;
        if (core.collected) {
            core.flush();
        }
    }

    /** Returns whether much was written since anything was last read. */
    boolean isStreaming() {
        return writesInRow > Burst.LENGTH;
    }

    /** Records that a reader took something: writing and reading in turn is no burst. */
    void hasRead() {
        writesInRow = 0;
    }

    /** Returns whether the stream has to be added to the list now. Asked by each thread that leaves the stream. */
    boolean toBeListed() {
        if (listed || core.writerInside || corked || !core.hasLeftover()) {
            return false;
        }
        // No event will send what is collected, so it is not enough that somebody waits for one.
        if (!core.collected && waits.isLookedAfter()) {
            return false;
        }
        listed = true;
        seenWritten = out.written();
        return true;
    }

    /**
     * Looks after what a writer left behind; called by the service thread now and then. Returns DONE once that is no
     * longer needed: everything is sent, another thread takes care of it, or an event of the queues will tell when to
     * continue.
     */
    @Override
    public Leftovers.Look lookAfter() {
        if (!core.tryEnter()) {
            return Leftovers.Look.SOON; // so that a writer never has to wait for this thread, nor to wake it
        }
        try {
            long written = out.written();
            if (written != seenWritten && !out.waitsForPeer()) {
                seenWritten = written; // the writer is active: its next write sends this, too
                looks = 0;
                return Leftovers.Look.LATER;
            }
            core.poll();
            core.flush();
            if (core.hasLeftover() && !core.writerInside) {
                if (looks++ == 0 && !out.waitsForPeer()) {
                    return Leftovers.Look.SOON;
                }
                core.armAndPoll(true);
                if (core.hasLeftover()) {
                    waits.lookAfter();
                }
            }
            listed = false;
            looks = 0;
            return Leftovers.Look.DONE;
        } finally {
            core.exit();
        }
    }

    /** Resets a stream that could not be looked after and no longer will be: an error is better than silence. */
    @Override
    public void fail(Throwable cause) {
        core.enter();
        try {
            effects.fail(new SocketException("Connection reset"), "sending the remaining data failed: " + cause);
            listed = false; // last: if even that fails, it stays on the list
        } finally {
            core.exit();
        }
        Logs.STREAM.error("sending the remaining data of {} failed; the connection is reset", core, cause);
    }
}
