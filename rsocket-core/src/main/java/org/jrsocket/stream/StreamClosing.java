/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.stream;

import java.io.IOException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jrsocket.jfr.Events;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The end of a stream: what was written is delivered, and DISCONNECT is sent and acknowledged, or the time for that is
 * over; then the native objects are freed. Most closes have nothing to wait for and end in the thread that closes. The
 * others end on the service thread, step by step.
 */
final class StreamClosing {

    private static final Logger LOG = LoggerFactory.getLogger(StreamClosing.class);

    /** How long a closed stream may take to deliver what was written, while its peer lives but does not read. */
    private static final long CLOSE_NANOS = TimeUnit.SECONDS.toNanos(30);
    /** How long an aborted stream tries to tell its peer. */
    private static final long ABORT_NANOS = TimeUnit.SECONDS.toNanos(3);

    private final StreamCore core;
    private final RdmaTransport transport;
    private final CountDownLatch drained = new CountDownLatch(1);
    private final FloodBudget flood = new FloodBudget();
    private final long openedNanos = System.nanoTime();

    // With the core's lock.
    private boolean dropped; // data that was written, or that was not read, by a close
    private long deadline; // 0 unless a close is under way on the service thread
    private long began;
    private long postedBefore;
    private boolean waitsForBorrowed; // all but freed
    private Runnable whenFreed;

    StreamClosing(StreamCore core) {
        this.core = core;
        this.transport = core.transport;
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
     * @param hard drops what is not sent and resets
     * @param endFirst whether the peer is to read the end before a reset because of unread data
     */
    void close(boolean hard, boolean endFirst) {
        boolean begun = false;
        core.enter();
        try {
            core.poll(); // unread data may still sit in the queue
            boolean first = !core.closed;
            if (!first && !hard) {
                return;
            }
            core.closed = true;
            begun = true;
            core.keepAlive().end();
            boolean unread = first && !core.inputShut && core.in.readable() > 0;
            if (unread && endFirst) {
                core.out.shutdown();
                core.flush();
            }
            dropped |= hard || unread;
            core.resetting |= hard;
            core.out.close(hard, hard || unread);
            core.flush();
        } finally {
            core.exit();
            if (begun) { // also after an error such as lack of memory: nobody else would end it
                end(hard);
            }
        }
    }

    private void end(boolean hard) {
        core.waits().wakeAll();
        if (!endAtOnce()) {
            transport.service().execute(() -> begin(hard ? ABORT_NANOS : CLOSE_NANOS));
        }
    }

    /** In most cases everything is acknowledged by now, and the service thread need not hear of it. */
    private boolean endAtOnce() {
        core.enter();
        try {
            if (core.readerInside || core.writerInside || core.releasing) {
                return false;
            }
            core.poll();
            core.releasing = core.out.isDrained();
            if (!core.releasing) {
                return false;
            }
        } finally {
            core.exit();
        }
        release();
        return true;
    }

    /** Called by whoever ends the close: nothing is under way any more. */
    private void release() {
        String failed = core.effects().failedWith();
        Events.closed(
                core.local,
                core.remote,
                core.handles.device.name(),
                core.in.consumed(),
                core.out.written(),
                nanosOpen(),
                failed != null ? "failed" : dropped ? "reset" : "closed",
                failed);
        drained.countDown();
        core.waits().stopWatching();
        transport.reap(this::free);
    }

    /** The peer must not write into what the application still reads. */
    private void stopThePeer() {
        try {
            core.handles.qp.toError();
        } catch (IOException e) {
            LOG.warn("the queue pair of {} cannot be stopped", core.stream(), e);
        }
    }

    /** The application has given back everything that it had borrowed. Any thread. */
    void allGivenBack() {
        boolean free;
        core.enter();
        try {
            free = waitsForBorrowed && core.borrowed == 0;
            waitsForBorrowed &= !free;
        } finally {
            core.exit();
        }
        if (free) {
            transport.reap(this::free);
        }
    }

    long nanosOpen() {
        return System.nanoTime() - openedNanos;
    }

    void whenFreed(Runnable action) {
        core.enter();
        try {
            if (!core.gone) {
                whenFreed = action;
                return;
            }
        } finally {
            core.exit();
        }
        action.run();
    }

    /** The device may take long, so nobody has to wait for the stream's lock meanwhile. */
    private void free() {
        boolean reusable;
        boolean unheard;
        core.enter();
        try {
            if (core.freed) {
                return;
            }
            core.waits().free();
            if (core.borrowed > 0) {
                waitsForBorrowed = true;
                stopThePeer();
                return;
            }
            core.freed = true;
            // Not for reuse: a stream that is freed before it is closed may still be in somebody's epoll set, and a
            // peer that broke the rules may have left anything.
            reusable = core.closed && !core.protocolBroken;
            unheard = leavesUnheard();
        } finally {
            core.exit();
        }
        try {
            if (unheard) {
                core.handles.free(reusable, id -> transport.farewells().say(id, core.local.getAddress()));
            } else {
                core.handles.free(reusable);
            }
        } finally {
            gone();
        }
    }

    private void gone() {
        Runnable action;
        core.enter();
        try {
            core.gone = true;
            action = whenFreed;
            whenFreed = null;
        } finally {
            core.exit();
        }
        transport.forget(core.stream());
        if (action != null) {
            action.run();
        }
    }

    /** Whether the peer may know nothing of the end. With the core's lock. */
    private boolean leavesUnheard() {
        return core.queues.isUnheard() && !core.peerGone;
    }

    /** The peer broke the protocol: the stream ends soon, although the application has not closed it. Any thread. */
    void abandon() {
        transport.service().execute(() -> {
            if (!core.releasing) {
                begin(ABORT_NANOS);
            }
        });
    }

    /** Begins a close, or shortens one that has begun. Service thread. */
    private void begin(long nanos) {
        long until = System.nanoTime() + nanos;
        core.enter();
        try {
            if (!core.releasing) {
                core.releasing = true;
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
        transport.closings().add(core.stream());
        step();
    }

    /** Drops what is not sent yet, tells the peer, and ends soon; service thread, while a close is under way. */
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

    /** Looks whether the time is over; service thread, now and then. Returns whether the close is still under way. */
    boolean check() {
        step();
        return deadline != 0;
    }

    /** One step, on the service thread: again and again until everything is delivered or the time is over. */
    void step() {
        if (isSomebodyInside()) {
            core.waits().wakeAll();
            transport.service().schedule(this::step, 1_000_000);
            return;
        }
        boolean over;
        boolean cut;
        core.enter();
        try {
            if (core.freed || deadline == 0) {
                return;
            }
            core.queues.takeEvents();
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

    /** Whether a close is under way and has to wait for a reader or a writer. Nobody comes in any more meanwhile. */
    private boolean isSomebodyInside() {
        core.enter();
        try {
            return !core.freed && deadline != 0 && (core.readerInside || core.writerInside);
        } finally {
            core.exit();
        }
    }

    /** The completion channel has events; service thread. */
    void onWatched() {
        core.enter();
        try {
            if (core.freed) {
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

    /** After a close: waits until everything is acknowledged; false when the time is over. */
    boolean awaitDrained(long nanos) {
        return Threads.await(drained, nanos);
    }

    boolean isDrained() {
        return drained.getCount() == 0;
    }

    /** See {@link RdmaStream#isDelivering}. */
    boolean isDelivering(long written) {
        core.enter();
        try {
            if (core.closed) {
                return !isDrained() || leavesUnheard() && !core.gone && !waitsForBorrowed;
            }
            core.poll();
            core.flush();
            if (core.freed || core.failure != null || core.peerGone || core.out.acknowledged() - written >= 0) {
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
