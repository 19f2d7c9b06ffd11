/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.stream;

import java.io.IOException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jrsocket.jfr.Events;

/**
 * The end of a stream: what was written is delivered, and DISCONNECT is sent and acknowledged, or the time for that
 * runs out; then {@link StreamFreeing} follows. Most closes have nothing to wait for and end in the thread that closes.
 * The others end on the service thread, step by step.
 */
final class StreamClosing {

    /** How long a closed stream may take to deliver what was written, while its peer is alive but does not read. */
    private static final long CLOSE_NANOS = TimeUnit.SECONDS.toNanos(30);
    /** How long an aborted stream tries to tell its peer. */
    private static final long ABORT_NANOS = TimeUnit.SECONDS.toNanos(3);

    /** The time between two looks whether a reader or a writer has left a closed stream. */
    private static final long INSIDE_NANOS = TimeUnit.MILLISECONDS.toNanos(1);

    private final StreamCore core;
    private final RdmaTransport transport;
    private final StreamFreeing freeing;
    private final CountDownLatch drained = new CountDownLatch(1);
    private final FloodBudget flood = new FloodBudget();
    private final long openedNanos = System.nanoTime();

    // Guarded by the core's lock.
    private boolean dropped; // a close dropped written or unread data
    private long deadline; // 0 unless a close is under way on the service thread
    private long began;
    private long postedBefore;

    private boolean stepDue; // a timer is set; service thread

    StreamClosing(StreamCore core) {
        this.core = core;
        this.transport = core.transport;
        this.freeing = new StreamFreeing(core);
    }

    StreamFreeing freeing() {
        return freeing;
    }

    /** See {@link RdmaStream#shutdownInput}. */
    void shutdownInput() throws IOException {
        core.enter();
        try {
            core.ensureOpen();
            core.inputShut = true;
            core.discardInput();
        } finally {
            core.exit();
        }
        core.waits().wakeAll();
    }

    /** See {@link RdmaStream#shutdownOutput}. */
    void shutdownOutput() throws IOException {
        core.enter();
        try {
            core.ensureOpen();
            core.outputShut = true;
            core.out.shutdown();
            core.flush();
        } finally {
            core.exit();
        }
        core.waits().wakeAll();
    }

    /**
     * Closes the stream.
     *
     * @param hard whether to drop what is not sent, and reset
     * @param endFirst whether the peer reads the end before a reset that is due to unread data
     */
    void close(boolean hard, boolean endFirst) {
        boolean begun = false;
        boolean asked = false;
        core.enter();
        try {
            boolean first = !core.closed;
            if (!first && !hard) {
                return;
            }
            begun = true;
            try {
                core.poll(); // unread data may still sit in the queue
            } finally {
                core.closed = true;
            }
            core.keepAlive().end();
            boolean unread = first && (core.in.readable() > 0 || core.discarded > 0);
            if (unread && endFirst) {
                core.out.shutdown();
                core.flush();
            }
            dropped |= hard || unread;
            core.resetting |= hard;
            core.out.close(hard, hard || unread);
            asked = true;
            core.flush();
        } finally { // also after an error such as lack of memory: nothing else would end the stream
            if (begun && !asked) {
                core.out.close(true, true);
            }
            try {
                core.exit();
            } finally {
                if (begun) {
                    end(hard);
                }
            }
        }
    }

    private void end(boolean hard) {
        boolean ended = false;
        try {
            core.waits().wakeAll();
            ended = endAtOnce();
        } finally {
            if (!ended) { // otherwise begin does nothing
                transport.service().execute(() -> begin(hard ? ABORT_NANOS : CLOSE_NANOS)); // if this fails: endNow
            }
        }
    }

    /** Ends the stream at once if everything is acknowledged, as it mostly is, without the service thread. */
    private boolean endAtOnce() {
        core.enter();
        try {
            if (core.readerInside || core.writerInside || core.phase.isReleasing()) {
                return false;
            }
            core.poll();
            if (!core.out.isDrained()) {
                return false;
            }
            core.advanceTo(Phase.RELEASING);
        } finally {
            core.exit();
        }
        release();
        return true;
    }

    /** Called by the thread that ends the close: nothing is under way any more. */
    private void release() {
        String failed = core.effects().failedWith();
        if (failed == null && !dropped && core.out.hasLost()) {
            failed = "the connection ended before all was sent";
        }
        try {
            Events.closed(
                    core.local,
                    core.remote,
                    core.endpoint.device.name(),
                    core.bytesRead(),
                    core.out.written(),
                    nanosOpen(),
                    failed != null ? "failed" : dropped ? "reset" : "closed",
                    failed);
        } finally {
            drained.countDown();
            try {
                core.waits().stopWatching();
            } finally {
                transport.reap(freeing);
            }
        }
    }

    long nanosOpen() {
        return System.nanoTime() - openedNanos;
    }

    /**
     * Ends the stream soon because the peer broke the protocol, although the application has not closed it, or has
     * given it longer. May be called from any thread.
     */
    void abandon() {
        transport.service().execute(() -> begin(ABORT_NANOS));
    }

    /** Continues a close that no other thread continues. Called on the service thread. */
    void endNow() {
        begin(core.resetting ? ABORT_NANOS : CLOSE_NANOS);
    }

    /** Begins a close, or shortens one that has begun. Called on the service thread. */
    private void begin(long nanos) {
        long until = System.nanoTime() + nanos;
        core.enter();
        try {
            if (!core.phase.isReleasing()) {
                core.advanceTo(Phase.RELEASING);
                deadline = until;
            } else if (deadline != 0 && until - deadline < 0) {
                deadline = until;
            } else {
                return;
            }
            began = System.nanoTime();
            postedBefore = core.out.posted();
        } finally {
            core.exit();
        }
        boolean known = false;
        try {
            transport.closings().add(core.stream());
            known = true;
        } finally {
            if (!known) { // nothing would look at it again: the sweep has to begin it anew
                notBegun();
            }
        }
        step();
    }

    private void notBegun() {
        core.enter();
        try {
            core.phase = Phase.IN_USE;
            deadline = 0;
        } finally {
            core.exit();
        }
    }

    /** Drops unsent data, tells the peer, and ends soon. Called on the service thread, during a close. */
    void cutShort() {
        long soon = System.nanoTime() + ABORT_NANOS;
        core.enter();
        try {
            dropped = true;
            core.resetting = true;
            core.out.close(true, true);
            core.flush();
            deadline = soon - deadline < 0 ? soon : deadline;
        } finally {
            core.exit();
        }
        step();
    }

    /** Checks the time limit, on the service thread now and then. Returns whether the close is still under way. */
    boolean check() {
        step();
        return deadline != 0;
    }

    /** Does one step, on the service thread, repeated until everything is delivered or the time is over. */
    void step() {
        if (isSomebodyInside()) {
            core.waits().wakeAll();
            if (!stepDue) {
                transport.service().schedule(this::stepAgain, INSIDE_NANOS);
                stepDue = true;
            }
            return;
        }
        boolean over;
        boolean cut;
        core.enter();
        try {
            if (core.phase.isFreed() || deadline == 0) {
                return;
            }
            core.queues.takeEvent();
            core.armAndPoll(true);
            long now = System.nanoTime();
            boolean flooded = flood.isSpent(core.in.idleMessages(), now);
            if (flooded && !core.resetting) {
                core.out.close(true, true);
                core.flush();
            }
            boolean late = now - deadline >= 0;
            over = core.out.isDrained() || flooded || late && core.resetting;
            cut = !over
                    && (late
                            || !core.resetting
                                    && core.out.waitsForPeer()
                                    && core.out.posted() == postedBefore
                                    && now - began >= transport.closings().starvedNanos());
            if (over) {
                deadline = 0;
            } else if (cut) {
                deadline = now + ABORT_NANOS;
            } else {
                core.waits().watch();
            }
        } finally {
            core.exit();
        }
        if (over) {
            transport.closings().remove(core.stream());
            release();
        } else if (cut) {
            cutShort();
        }
    }

    private void stepAgain() {
        stepDue = false;
        step();
    }

    /** Returns whether a close has to wait for a reader or a writer. Meanwhile no other thread can come in. */
    private boolean isSomebodyInside() {
        core.enter();
        try {
            return !core.phase.isFreed() && deadline != 0 && (core.readerInside || core.writerInside);
        } finally {
            core.exit();
        }
    }

    /** Called on the service thread when the completion channel has events. */
    void onWatched() {
        core.enter();
        try {
            if (core.phase.isFreed()) {
                return;
            }
            if (!core.closed && deadline == 0) {
                return;
            }
        } finally {
            core.exit();
        }
        step();
    }

    /**
     * Waits after a close until everything is acknowledged; returns false when the time is over. The service thread
     * does not wait, because it is the thread that continues with what is left.
     */
    boolean awaitDrained(long nanos) {
        long limit = nanos == 0 ? Long.MAX_VALUE : nanos;
        return Threads.await(drained, transport.serviceThread().isCurrent() ? 0 : limit);
    }

    boolean isDrained() {
        return drained.getCount() == 0;
    }

    /** Returns whether what there is to send waits only for the peer. May be called from any thread. */
    boolean isStarved() {
        core.enter();
        try {
            return core.out.waitsForPeer();
        } finally {
            core.exit();
        }
    }

    /** See {@link RdmaStream#isDelivering}. */
    boolean isDelivering(long written) {
        core.enter();
        try {
            if (core.closed) {
                return !isDrained() || freeing.leavesUnheard();
            }
            core.poll();
            core.flush();
            if (core.phase.isFreed()
                    || core.failure != null
                    || core.peerGone
                    || core.out.acknowledged() - written >= 0) {
                return false;
            }
            if (core.out.posted() - written >= 0 && !core.out.awaitsCompletion()) {
                core.out.probe();
                core.flush();
            }
            return true;
        } finally {
            core.exit();
        }
    }
}
