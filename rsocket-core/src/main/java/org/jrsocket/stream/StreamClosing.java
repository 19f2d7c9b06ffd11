/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.stream;

import java.io.IOException;
import java.util.concurrent.CountDownLatch;
import org.jrsocket.jfr.Events;
import org.jrsocket.threads.Threads;

/**
 * The end of a stream: what was written is delivered, and DISCONNECT is sent and acknowledged, or the peer takes
 * nothing for too long; then {@link StreamFreeing} follows. Most closes have nothing to wait for and end in the thread
 * that closes. The others end on the service thread, step by step. As in {@link DeviceSilence}, waiting is counted in
 * {@linkplain Closings looks} and not in time: a process that stood still has not seen what its peers took meanwhile.
 */
final class StreamClosing implements Closings.Close {

    /** Looks for which an aborted stream tries to tell its peer: 3 s. */
    private static final int ABORT_LOOKS = 6;

    /** Looks without progress after which nothing is left to say but that it is a reset: 30 s. */
    private static final int RESET_LOOKS = 60;

    /** Looks between two probes of a peer to which nothing is on its way, and which may be dead: 10 s. */
    private static final int PROBE_LOOKS = 20;

    private final StreamCore core;
    private final Services services;
    private final StreamEffects effects;
    private final StreamWaiter waits;
    private final StreamFreeing freeing;
    private final CountDownLatch drained = new CountDownLatch(1);
    private final FloodBudget flood = new FloodBudget();
    private final long openedNanos = System.nanoTime();

    // Guarded by the core's lock.
    private boolean dropped; // a close dropped written or unread data
    private boolean underWay; // on the service thread
    private int idleLooks; // in a row, without progress
    private int resetLooks; // since it is a reset
    private long moved; // progress as of the last look
    private boolean awaitsLeaving; // the next step is due when nobody is inside any more

    StreamClosing(StreamCore core, StreamEffects effects, StreamWaiter waits, StreamFreeing freeing) {
        this.core = core;
        this.services = core.services;
        this.effects = effects;
        this.waits = waits;
        this.freeing = freeing;
    }

    /** See {@code RdmaStream.shutdownInput}. */
    void shutdownInput() throws IOException {
        core.enter();
        try {
            core.ensureOpen();
            core.inputShut = true;
            core.discardInput();
        } finally {
            core.exit();
        }
        waits.wakeAll();
    }

    /** See {@code RdmaStream.shutdownOutput}. */
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
        waits.wakeAll();
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
            core.keepAlive.end();
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
                    end();
                }
            }
        }
    }

    private void end() {
        boolean ended = false;
        try {
            waits.wakeAll();
            ended = endAtOnce();
        } finally {
            if (!ended) { // otherwise begin does nothing
                services.service.execute(this::begin); // if this fails: the sweep calls begin
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
        String failed = effects.failedWith();
        if (failed == null && !dropped && core.out.hasLost()) {
            failed = "the connection ended before all was sent";
        }
        try {
            Events.closed(
                    core.local,
                    core.remote,
                    core.endpoint.device().name(),
                    core.bytesRead(),
                    core.out.written(),
                    nanosOpen(),
                    failed != null ? "failed" : dropped ? "reset" : "closed",
                    failed);
        } finally {
            drained.countDown();
            try {
                waits.stopWatching();
            } finally {
                services.reapers.reap(core.endpoint.device(), freeing);
            }
        }
    }

    long nanosOpen() {
        return System.nanoTime() - openedNanos;
    }

    /**
     * Ends a stream that is to be reset, because the peer broke the protocol or the device is gone, although the
     * application may not have closed it. May be called from any thread.
     */
    void abandon() {
        services.service.execute(this::begin);
    }

    /** Begins a close that no other thread has begun, or goes on with one. Called on the service thread. */
    void begin() {
        core.enter();
        try {
            if (!core.phase.isReleasing()) {
                core.advanceTo(Phase.RELEASING);
                underWay = true;
                moved = progress();
            } else if (!underWay) {
                return;
            }
        } finally {
            core.exit();
        }
        boolean known = false;
        try {
            services.closings.add(this);
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
            underWay = false;
        } finally {
            core.exit();
        }
    }

    @Override
    public void cutShort() {
        core.enter();
        try {
            dropped = true;
            core.resetting = true;
            core.out.close(true, true);
            core.flush();
        } finally {
            core.exit();
        }
        step();
    }

    @Override
    public boolean look() {
        core.enter();
        try {
            idleLooks++;
            resetLooks += core.resetting ? 1 : 0;
            // At once, because the first answer also acknowledges what was sent before, and so is progress.
            if (idleLooks % PROBE_LOOKS == 1 && !core.phase.isFreed() && !core.out.awaitsCompletion()) {
                core.out.probe();
                core.flush();
            }
        } finally {
            core.exit();
        }
        step();
        return underWay;
    }

    @Override
    public boolean isStuck(int looks, boolean starved) {
        core.enter();
        try {
            return underWay && !core.resetting && idleLooks >= looks && (!starved || core.out.waitsForPeer());
        } finally {
            core.exit();
        }
    }

    /** Called with the core's lock held. */
    private long progress() {
        return core.out.posted() + core.out.acknowledged();
    }

    /** Does one step, on the service thread, repeated until everything is delivered or the time is over. */
    void step() {
        if (isSomebodyInside()) {
            waits.wakeAll();
            return;
        }
        core.enter();
        try {
            if (core.phase.isFreed() || !underWay) {
                return;
            }
            core.queues.takeEvent();
            core.armAndPoll(true);
            boolean flooded = flood.isSpent(core.in.idleMessages(), System.nanoTime());
            if (flooded && !core.resetting) {
                core.out.close(true, true);
                core.flush();
            }
            long now = progress();
            if (now != moved) {
                moved = now;
                idleLooks = 0;
            }
            boolean late = resetLooks >= ABORT_LOOKS || core.out.isReset() && idleLooks >= RESET_LOOKS;
            underWay = !core.out.isDrained() && !flooded && !late;
            if (underWay) {
                waits.watch();
                return;
            }
        } finally {
            core.exit();
        }
        services.closings.remove(this);
        release();
    }

    /** Returns whether a close has to wait for a reader or a writer. Meanwhile no other thread can come in. */
    private boolean isSomebodyInside() {
        core.enter();
        try {
            awaitsLeaving = !core.phase.isFreed() && underWay && (core.readerInside || core.writerInside);
            return awaitsLeaving;
        } finally {
            core.exit();
        }
    }

    /**
     * Returns, once, that a close can go on because the last thread inside leaves. That may take long: a virtual thread
     * that is woken has to wait for a carrier. Called with the lock held by each thread that leaves the stream.
     */
    boolean isToGoOn() {
        if (!awaitsLeaving || core.readerInside || core.writerInside) {
            return false;
        }
        awaitsLeaving = false;
        return true;
    }

    /** Returns whether what the completion channel brings may be of use to a close. */
    boolean isUnderWay() {
        core.enter();
        try {
            return !core.phase.isFreed() && (core.closed || underWay);
        } finally {
            core.exit();
        }
    }

    /**
     * Waits after a close until everything is acknowledged; returns false when the time is over. The service thread
     * does not wait, because it is the thread that continues with what is left.
     */
    boolean awaitDrained(long nanos) {
        long limit = nanos == 0 ? Long.MAX_VALUE : nanos;
        return Threads.await(drained, services.service.isCurrent() ? 0 : limit);
    }

    boolean isDrained() {
        return drained.getCount() == 0;
    }

    /** See {@code RdmaStream.isDelivering}. */
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

    @Override
    public String toString() {
        return core.toString();
    }
}
