/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.stream;

import java.net.SocketException;
import org.jrsocket.protocol.Outbound;
import org.jrsocket.protocol.SendLimits;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What a stream has to send and has not sent: because the peer gives no room, because the send queue is busy, or
 * because small writes are collected for the next one to take along. Makes sure that somebody goes on with it, see
 * {@link Leftovers}. With the core's lock, but for what the service thread calls.
 */
final class StreamLeftover {

    private static final Logger LOG = LoggerFactory.getLogger(RdmaStream.class);

    private final StreamCore core;
    private final Outbound out;
    private final Burst burst = new Burst();

    private boolean collected; // something is written, and left for the next write to take along
    private boolean corked; // the writer has more, and says when that was all
    private boolean listed; // among the streams that are looked after
    int writesInRow; // since anything was read; not counted once it is more than Burst.LENGTH
    private long seenWritten;
    private int looks; // the service thread's

    /** The list's, see {@link Leftovers}. */
    StreamLeftover next;

    StreamLeftover(StreamCore core) {
        this.core = core;
        this.out = core.out;
    }

    /**
     * Sends what a writer has written; or leaves it for the next write to take along, while the writer outruns its
     * device, see {@link Burst}.
     *
     * @param call bytes of the whole call, of which these are a part
     */
    void flushWritten(int call) {
        countWrite();
        if (corked && out.written() - out.posted() < SendLimits.MAX_MESSAGE) {
            collected = true;
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
            collected = true;
            return;
        }
        long posted = out.posted();
        core.flush();
        if (out.posted() != posted) {
            burst.posted(before, System.nanoTime());
        }
    }

    /**
     * Asked before a short write, which can be posted at once. If it may be, it counts as {@link #flushWritten} does;
     * if not, that has to decide.
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

    /** See {@link RdmaStream#cork}. */
    void cork() {
        corked = true;
    }

    boolean isCorked() {
        return corked;
    }

    /** Sends what was held back. Harmless when repeated, and once the stream has ended. */
    void uncork() {
        corked = false;
        if (collected) {
            core.flush();
        }
    }

    /** Whether much was written since anything was read. */
    boolean isStreaming() {
        return writesInRow > Burst.LENGTH;
    }

    /** A reader took something: writing and reading in turn is no burst. */
    void hasRead() {
        writesInRow = 0;
    }

    /** Whether something is left for the next write, which waits for no event. */
    boolean isCollected() {
        return collected;
    }

    /** It is being sent, or never will be. */
    void collectedNoMore() {
        collected = false;
    }

    /**
     * Has the device tell what became of what was posted, if nobody has asked: of small copies it need not tell until
     * memory is full. For whoever waits for room while memory is not quite full, or for an acknowledgement.
     */
    void askForRoom() {
        if (out.acknowledged() != out.posted() && !out.awaitsCompletion()) {
            out.probe();
            core.flush();
        }
    }

    /** Whether something waits to be sent. */
    boolean any() {
        return !core.freed && (collected || core.connection.hasLeftover());
    }

    /** Asked by whoever leaves the stream: whether it has to be added to the list now. */
    boolean toBeListed() {
        if (listed || core.writerInside || corked || !any()) {
            return false;
        }
        // What is collected waits for no event: that somebody waits for one is not enough.
        if (!collected && core.waits().isLookedAfter()) {
            return false;
        }
        listed = true;
        seenWritten = out.written();
        return true;
    }

    /**
     * Looks after what a writer left behind; called by the service thread now and then. Done once that is not needed
     * any more: all is sent, somebody else does it, or an event of the queues will tell when to go on.
     */
    Leftovers.Look lookAfter() {
        if (!core.tryEnter()) {
            return Leftovers.Look.SOON; // a writer that meets nobody here need not wait, nor wake anybody
        }
        try {
            long written = out.written();
            if (written != seenWritten && !out.waitsForPeer()) {
                seenWritten = written; // the writer is about: its next write sends this, too
                looks = 0;
                return Leftovers.Look.LATER;
            }
            core.poll();
            core.flush();
            if (any() && !core.writerInside) {
                if (looks++ == 0 && !out.waitsForPeer()) {
                    return Leftovers.Look.SOON;
                }
                core.armAndPoll(true);
                if (any()) {
                    core.waits().lookAfter();
                }
            }
            listed = false;
            looks = 0;
            return Leftovers.Look.DONE;
        } finally {
            core.exit();
        }
    }

    /** Looking after it failed, so nobody does it any longer: an error is better than silence. */
    void fail(Throwable cause) {
        LOG.error("sending what is left of {} failed, the connection is reset", core.stream(), cause);
        core.enter();
        try {
            core.effects().fail(new SocketException("Connection reset"), "sending what was left failed: " + cause);
            listed = false; // last: if even that fails, it stays on the list
        } finally {
            core.exit();
        }
    }
}
