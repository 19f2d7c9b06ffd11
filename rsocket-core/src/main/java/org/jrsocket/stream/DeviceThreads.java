/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.stream;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.WeakHashMap;
import java.util.concurrent.LinkedTransferQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.BiFunction;
import java.util.function.LongSupplier;
import org.jrsocket.verbs.Device;

/**
 * Threads that call the kernel and wait for a device. One whose firmware does not answer can take a minute, so each
 * device has threads of its own, and so has what concerns no device in particular. There are none while there is
 * nothing to do. Thread-safe.
 */
final class DeviceThreads {

    /** The pause after a thread could not be created: the JVM prints a line on stdout for each try. */
    private static final long PAUSE_NANOS = TimeUnit.SECONDS.toNanos(1);

    private final String name;
    private final int most;
    private final BiFunction<String, Runnable, Thread> makes;
    private final LongSupplier clock;
    private final ThreadLocal<Boolean> current = ThreadLocal.withInitial(() -> false);
    private final Pool ofNone;

    // Guarded by this.
    private final Map<Device, Pool> ofDevices = new WeakHashMap<>(); // forgets a lost one
    private boolean ended;

    /** @param most the maximum number for each device */
    DeviceThreads(String name, int most) {
        this(name, most, Threads::daemon, System::nanoTime);
    }

    /**
     * @param makes makes a thread from its name and what it runs
     * @param clock nanoseconds, as {@link System#nanoTime}
     */
    DeviceThreads(String name, int most, BiFunction<String, Runnable, Thread> makes, LongSupplier clock) {
        this.name = name;
        this.most = most;
        this.makes = makes;
        this.clock = clock;
        ofNone = new Pool(name);
    }

    /** The threads of one device. Where no more can be created, those that there are do the work. */
    private final class Pool {
        private final ThreadPoolExecutor threads;
        private volatile boolean refused; // the last thread could not be created; written after the next
        private volatile long refusedAt;

        Pool(String withName) {
            threads = new ThreadPoolExecutor(
                    most,
                    most,
                    10,
                    TimeUnit.SECONDS,
                    new LinkedTransferQueue<>(), // without locks, whose waiters might interrupt themselves
                    run -> makes.apply(withName, () -> {
                        current.set(true);
                        run.run();
                    }));
            threads.allowCoreThreadTimeOut(true);
        }

        void execute(Runnable task) {
            if (refused && clock.getAsLong() - refusedAt < PAUSE_NANOS) {
                if (!queue(task)) {
                    throw new OutOfMemoryError("unable to create native thread, less than a second ago");
                }
                return;
            }
            try {
                threads.execute(task);
                if (refused) {
                    refused = false;
                }
            } catch (OutOfMemoryError e) {
                if (String.valueOf(e.getMessage()).contains("native thread")) {
                    refusedAt = clock.getAsLong();
                    refused = true;
                    if (queue(task)) {
                        return;
                    }
                }
                throw e;
            }
        }

        /** Leaves it to a thread that there is. Returns false if there is none. */
        private boolean queue(Runnable task) {
            if (threads.getPoolSize() == 0) {
                return false;
            }
            threads.getQueue().add(task);
            if (threads.isShutdown() && threads.remove(task)) {
                throw new RejectedExecutionException();
            }
            return threads.getPoolSize() > 0 || !threads.remove(task); // the last one may have ended just now
        }
    }

    /**
     * Has {@code task} run soon.
     *
     * @param device the device that it may have to wait for; null if none or unknown
     * @return false if these threads have ended
     * @throws OutOfMemoryError if there is no memory, or no thread and none can be created; the task is not run then,
     *     unless the last thread ended at the same moment
     */
    boolean execute(Device device, Runnable task) {
        Pool pool = of(device);
        if (pool.threads.isShutdown()) {
            return false;
        }
        try {
            pool.execute(task);
            return true;
        } catch (RejectedExecutionException e) { // in the meantime
            return false;
        }
    }

    private Pool of(Device device) {
        if (device == null) {
            return ofNone;
        }
        synchronized (this) {
            Pool pool = ofDevices.get(device);
            if (pool == null) {
                if (ended) {
                    return ofNone; // which has ended, too
                }
                pool = new Pool(name + " " + device.name());
                ofDevices.put(device, pool);
            }
            return pool;
        }
    }

    /** Returns whether the caller is one of them. */
    boolean isCurrent() {
        return current.get();
    }

    /**
     * Lets them take no more, and waits for what they have, despite interrupts, after which the thread is interrupted.
     *
     * @return false if that is not done after {@code nanos}
     */
    boolean end(long nanos) {
        long start = System.nanoTime();
        List<Pool> all;
        synchronized (this) {
            ended = true;
            all = new ArrayList<>(ofDevices.values());
        }
        all.add(ofNone);
        all.forEach(pool -> pool.threads.shutdown());
        boolean done = true;
        boolean interrupted = false;
        for (int i = 0; i < all.size(); ) {
            try {
                done &= all.get(i).threads.awaitTermination(nanos - (System.nanoTime() - start), TimeUnit.NANOSECONDS);
                i++;
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
        return done;
    }
}
