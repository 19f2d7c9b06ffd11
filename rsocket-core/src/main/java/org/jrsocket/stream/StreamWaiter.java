/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.stream;

import java.io.IOException;
import java.io.UncheckedIOException;
import org.jrsocket.os.Epoll;
import org.jrsocket.threads.ServiceLoop;
import org.jrsocket.threads.Sleeper;
import org.jrsocket.threads.SleeperPool;

/**
 * Makes the reader and the writer of a stream wait: they poll for a while, then arm the completion queues and sleep.
 *
 * <p>Three rules ensure that no wake-up is lost. A sleeper first makes itself visible, then arms, then polls once more,
 * and only then sleeps. A thread that handles completions looks afterwards for a sleeper whose wait is over. A thread
 * that takes an event from the channel, which unarms the queue for all, polls, and arms again for those that still
 * wait.
 */
final class StreamWaiter {

    /** How long one call into native code polls. */
    private static final long SLICE_NANOS = 10_000;
    /** How long a thread polls before it gives way to other threads for a moment. */
    private static final long YIELD_NANOS = 100_000;
    /** A wait no longer than this was none: what the reader looked for was already there. */
    private static final long WAS_THERE_NANOS = 1_000;

    private final StreamCore core;
    private final ServiceLoop service;
    private final Runnable onReadable;

    private volatile Sleeper reader;
    private volatile Sleeper writer;
    private int writerAwaits; // set before the writer is
    private volatile StreamObserver observer;
    private final SpinBudget readerSpin; // used by the reader only
    private final SpinBudget writerSpin; // used by the writer only
    private boolean readerWaits; // guarded by the core's lock

    // Guarded by the core's lock.
    private ServiceLoop.Watch watch;
    private boolean leftoverWatched; // the service thread continues when the queues have something

    /** @param onReadable is run on the service thread when the channel, which is watched, has events */
    StreamWaiter(StreamCore core, ServiceLoop service, Runnable onReadable) {
        this.core = core;
        this.service = service;
        this.onReadable = onReadable;
        long spin = core.config.spinNanos();
        this.readerSpin = new SpinBudget(spin);
        this.writerSpin = new SpinBudget(spin);
    }

    /**
     * Waits until the stream is ready for what {@code bit} says: the reader for READABLE, the writer for another bit.
     * The caller is inside and holds the lock, which is released for the wait. It need not have polled.
     *
     * @param nanos how long to wait; 0 waits for ever, less than 0 not at all
     * @return false when the time is over
     */
    boolean await(int bit, long nanos) throws IOException {
        assert core.isHeld();
        boolean reading = bit == StreamCore.READABLE;
        if (!reading) {
            core.poll();
        }
        if (core.isReadyNow(bit)) {
            return true;
        }
        long start = System.nanoTime();
        SpinBudget budget = reading ? readerSpin : writerSpin;
        long spin = nanos < 0 ? 0 : budget.begin(nanos);
        try {
            if (spin > 0) {
                try {
                    if (spin(budget, bit, start, spin)) {
                        return true;
                    }
                } finally {
                    budget.end();
                }
            }
            core.exit();
            try {
                return sleep(bit, start, nanos);
            } finally {
                core.enter();
            }
        } finally {
            long waited = System.nanoTime() - start;
            budget.waited(waited);
            if (reading) {
                readerWaits = waited > WAS_THERE_NANOS;
            }
        }
    }

    /** Returns whether the reader had to wait the last time, and so probably finds nothing this time either. */
    boolean isReaderLikelyToWait() {
        return readerWaits;
    }

    /** Polls until ready. Called with the lock held, which is released between two looks. */
    private boolean spin(SpinBudget budget, int bit, long start, long spin) {
        boolean reading = bit == StreamCore.READABLE;
        long slice = Math.min(SLICE_NANOS, spin);
        long yield = start + YIELD_NANOS;
        long last = start;
        for (; ; ) {
            // A reader inside keeps the queues from being freed. While something is left to be sent, the next message
            // is not all there is to wait for.
            boolean inNative = reading && !core.phase.isFreed() && !core.closed && !core.hasLeftover();
            core.exit();
            try {
                if (inNative) {
                    core.queues.spin(slice);
                } else {
                    Thread.onSpinWait();
                }
            } finally {
                core.enter();
            }
            if (reading) {
                core.pollMessages();
            } else {
                core.poll();
            }
            if (core.isReadyNow(bit)) {
                return true;
            }
            long now = System.nanoTime();
            if (budget.passed(now - last) || now - start >= spin) {
                return false;
            }
            last = now;
            // Any other thread that wants this CPU gets it: it may be the very thread that we wait for.
            if (now - yield >= 0 && budget.mayGiveWay()) {
                core.exit();
                try {
                    Thread.yield();
                } finally {
                    core.enter();
                }
                last = System.nanoTime();
                if (budget.gaveWay(last - now)) {
                    return false;
                }
                yield = last + YIELD_NANOS;
            }
        }
    }

    private boolean sleep(int bit, long start, long nanos) throws IOException {
        boolean reading = bit == StreamCore.READABLE;
        Sleeper me = SleeperPool.COMMON.acquire();
        try {
            if (reading) {
                reader = me;
            } else {
                writerAwaits = bit;
                writer = me;
            }
            for (; ; ) {
                arm(!reading);
                if (core.isReady(bit)) {
                    return true;
                }
                long left = nanos == 0 ? -1 : nanos - (System.nanoTime() - start);
                if (nanos != 0 && left <= 0) {
                    me.checkInterrupt(); // a poll may have taken all the time
                    return false;
                }
                if (me.isVirtual()) {
                    watchOnce();
                }
                me.sleep(core.endpoint.eventFd(), left);
                takeEvent(me);
            }
        } finally {
            if (reading) {
                reader = null;
            } else {
                writer = null;
            }
            SleeperPool.COMMON.release(me);
        }
    }

    /**
     * Arms the queues. If the stream is not ready when this returns, the next thing to happen raises an event.
     *
     * @param writing whether to wait for room to write, too
     */
    void arm(boolean writing) {
        core.enter();
        try {
            core.armAndPoll(writing);
        } finally {
            core.exit();
        }
    }

    /** Takes one of the channel's events, for a selector, which then looks at the stream. */
    void takeEvent() {
        takeEvent(null);
    }

    private void takeEvent(Sleeper me) {
        core.enter();
        try {
            if (!core.phase.isFreed() && core.queues.takeEvent()) {
                core.poll();
                armForOthers(me);
            }
        } finally {
            core.exit();
        }
    }

    /** Called with the lock held. A selector that takes the events itself looks next, and arms then. */
    private void armForOthers(Sleeper me) {
        Sleeper r = reader;
        Sleeper w = writer;
        boolean anyWriter = w != null && w != me || leftoverWatched || core.closed;
        boolean anyReader = r != null && r != me || me != null && observer != null;
        if (anyWriter || anyReader) {
            core.armAndPoll(anyWriter || me != null && observer != null);
        }
    }

    void observe(StreamObserver newObserver) {
        observer = newObserver;
    }

    /** Wakes those whose wait is over. Called without the lock, after something has happened. */
    void progressed() {
        Sleeper r = reader;
        if (r != null && !r.isMine() && core.isReady(StreamCore.READABLE)) {
            r.wake();
        }
        Sleeper w = writer;
        if (w != null && !w.isMine() && core.isReady(writerAwaits)) {
            w.wake();
        }
        StreamObserver o = observer;
        if (o != null) {
            o.onProgress();
        }
    }

    /** Wakes everybody, after the stream was shut or closed. */
    void wakeAll() {
        wake(reader);
        wake(writer);
        StreamObserver o = observer;
        if (o != null) {
            o.onProgress();
        }
    }

    private static void wake(Sleeper sleeper) {
        if (sleeper != null) {
            sleeper.wake();
        }
    }

    // ---- the service thread ----

    /** Makes the stream's service thread watch the channel, for one event. May be called from any thread. */
    void watch() {
        try {
            watchOnce();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private void watchOnce() throws IOException {
        core.enter();
        try {
            if (core.phase.isFreed()) {
                return;
            }
            if (watch == null) {
                watch = service.watch(core.endpoint.eventFd(), onReadable);
            }
            watch.arm();
        } finally {
            core.exit();
        }
    }

    /**
     * Makes the service thread continue with what is left when the queues, which are armed, raise an event. Called with
     * the lock held.
     */
    void lookAfter() {
        watch();
        leftoverWatched = true;
    }

    /** Returns whether the service thread will continue with what is left. Called with the lock held. */
    boolean isLookedAfter() {
        return leftoverWatched;
    }

    /**
     * Goes on with what the queues have brought. Called on the service thread.
     *
     * @return what went wrong, or null
     */
    Throwable takeEvents() {
        core.enter();
        try {
            if (core.phase.isFreed()) {
                return null;
            }
            core.queues.takeEvent();
            core.poll();
            core.flush();
            leftoverWatched &= core.hasLeftover() && !core.writerInside;
            Sleeper r = reader;
            Sleeper w = writer;
            boolean anyWriter = leftoverWatched || w != null && !core.isReady(writerAwaits);
            boolean again = anyWriter || r != null && !core.isReadyNow(StreamCore.READABLE); // else exit() wakes it
            if (again || observer != null) {
                core.armAndPoll(anyWriter || observer != null);
            }
            if (again) {
                watch();
            }
            return null;
        } catch (RuntimeException | Error e) {
            leftoverWatched = false;
            return e;
        } finally {
            core.exit();
        }
    }

    void stopWatching() {
        core.enter();
        try {
            if (watch != null) {
                watch.cancel();
                watch = null;
            }
        } finally {
            core.exit();
        }
    }

    /** Has {@code set} report the channel as {@code data}; returns false if it is gone: its number may be reused. */
    boolean watchedBy(Epoll set, long data) throws IOException {
        core.enter();
        try {
            if (!core.phase.isFreed()) {
                set.add(core.endpoint.eventFd(), Epoll.IN, data);
            }
            return !core.phase.isFreed();
        } finally {
            core.exit();
        }
    }

    /** Called with the lock held by the thread that is about to free the stream: nobody sleeps any more. */
    void free() {
        if (watch != null) {
            watch.cancel();
        }
        if (core.pollSet != null) {
            core.pollSet.remove(core);
        }
    }

    /** See {@code RdmaStream.poll}. */
    void poll() {
        core.enter();
        try {
            core.poll();
        } finally {
            core.exit();
        }
    }

    /** See {@code RdmaStream.pollMessages}. */
    void pollMessages() {
        core.enter();
        try {
            core.pollMessages();
        } finally {
            core.exit();
        }
    }
}
