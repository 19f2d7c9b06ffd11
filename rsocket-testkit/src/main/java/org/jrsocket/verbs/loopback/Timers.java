/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.verbs.loopback;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;

/** The timeouts and delays of one provider. Each task runs once, on the timer thread or by {@link #expireAll}. */
final class Timers {

    private final Set<Task> waiting = ConcurrentHashMap.newKeySet();
    private final ScheduledThreadPoolExecutor executor;
    private final Registry registry;

    Timers(String name, Registry registry) {
        this.registry = registry;
        executor = new ScheduledThreadPoolExecutor(
                1,
                task -> {
                    Thread thread = new Thread(task, name);
                    thread.setDaemon(true);
                    return thread;
                },
                new ThreadPoolExecutor.DiscardPolicy());
        executor.setRemoveOnCancelPolicy(true);
        executor.setExecuteExistingDelayedTasksAfterShutdownPolicy(false);
    }

    /** Runs {@code action} after {@code millis}; never in the caller, even if that is 0, because it may hold locks. */
    void schedule(long millis, Runnable action) {
        Task task = new Task(action);
        waiting.add(task);
        task.future = executor.schedule(task, millis, TimeUnit.MILLISECONDS);
    }

    /** Runs everything that waits now, in no particular order, and whatever that schedules. */
    void expireAll() {
        while (!waiting.isEmpty()) {
            for (Task task : waiting) {
                ScheduledFuture<?> future = task.future;
                if (future != null) {
                    future.cancel(false);
                }
                task.run();
            }
        }
    }

    void close() {
        executor.shutdownNow();
        waiting.clear();
    }

    private final class Task implements Runnable {
        private final AtomicBoolean ran = new AtomicBoolean();
        private final Runnable action;
        private volatile ScheduledFuture<?> future;

        Task(Runnable action) {
            this.action = action;
        }

        @Override
        public void run() {
            if (ran.compareAndSet(false, true)) {
                waiting.remove(this);
                try {
                    action.run();
                } catch (RuntimeException | Error e) {
                    registry.violation("timer task failed: " + e);
                    throw e;
                }
            }
        }
    }
}
