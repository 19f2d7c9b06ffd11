/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.aio;

import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.jrsocket.threads.Threads;

/** The timer of a group. Its thread is created when it is first needed. Safe for use by many threads. */
final class GroupTimer {

    /** The pause after the thread could not be created: the JVM prints a line on stdout for each try. */
    private static final long PAUSE_NANOS = TimeUnit.SECONDS.toNanos(1);

    private final ScheduledThreadPoolExecutor timer;
    private final LongSupplier clock;
    private volatile OutOfMemoryError refusal; // the last one; written after the next
    private volatile long refusedAt;

    GroupTimer() {
        this(task -> Threads.daemon("jrsocket-aio-timer", task), System::nanoTime);
    }

    /** @param clock nanoseconds, as {@link System#nanoTime} */
    GroupTimer(ThreadFactory threads, LongSupplier clock) {
        this.clock = clock;
        this.timer = new ScheduledThreadPoolExecutor(1, threads);
        timer.setRemoveOnCancelPolicy(true);
    }

    /**
     * Has {@code task} run after a while.
     *
     * @throws RejectedExecutionException if the timer has ended
     * @throws OutOfMemoryError if there is no memory, or no thread; the task never runs then
     */
    Future<?> schedule(Runnable task, long delay, TimeUnit unit) {
        OutOfMemoryError last = refusal;
        if (last != null && clock.getAsLong() - refusedAt < PAUSE_NANOS) {
            throw last;
        }
        try {
            timer.prestartCoreThread(); // first, because a task without a thread would stay in the queue
            if (last != null) {
                refusal = null;
            }
        } catch (OutOfMemoryError e) {
            refusedAt = clock.getAsLong();
            refusal = e;
            throw e;
        }
        return timer.schedule(task, delay, unit);
    }

    /** Returns how many tasks wait for their time. For tests. */
    int size() {
        return timer.getQueue().size();
    }

    void shutdown() {
        timer.shutdown();
    }
}
