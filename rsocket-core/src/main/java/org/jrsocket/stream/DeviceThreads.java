/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.stream;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.WeakHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.LinkedTransferQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.jrsocket.verbs.Device;

/**
 * Threads that call the kernel and wait for a device. One whose firmware does not answer can take a minute, so each
 * device has threads of its own, and so has what concerns no device in particular. There are none while there is
 * nothing to do. Thread-safe.
 */
final class DeviceThreads {

    private final String name;
    private final int most;
    private final ThreadLocal<Boolean> current = ThreadLocal.withInitial(() -> false);
    private final ExecutorService ofNone;

    // Guarded by this.
    private final Map<Device, ExecutorService> ofDevices = new WeakHashMap<>(); // forgets a lost one
    private boolean ended;

    /** @param most the maximum number for each device */
    DeviceThreads(String name, int most) {
        this.name = name;
        this.most = most;
        ofNone = threads(name);
    }

    private ExecutorService threads(String withName) {
        ThreadPoolExecutor pool = new ThreadPoolExecutor(
                most,
                most,
                10,
                TimeUnit.SECONDS,
                new LinkedTransferQueue<>(), // without locks, whose waiters might interrupt themselves
                run -> Threads.daemon(withName, () -> {
                    current.set(true);
                    run.run();
                }));
        pool.allowCoreThreadTimeOut(true);
        return pool;
    }

    /**
     * Has {@code task} run soon.
     *
     * @param device the device that it may have to wait for; null if none or unknown
     * @return false if these threads have ended
     * @throws OutOfMemoryError if there is no memory, or no thread can be created; the task is not run then, unless
     *     the last thread ended at the same moment
     */
    boolean execute(Device device, Runnable task) {
        ExecutorService threads = of(device);
        if (threads.isShutdown()) {
            return false;
        }
        try {
            threads.execute(task);
            return true;
        } catch (RejectedExecutionException e) { // in the meantime
            return false;
        }
    }

    private ExecutorService of(Device device) {
        if (device == null) {
            return ofNone;
        }
        synchronized (this) {
            ExecutorService threads = ofDevices.get(device);
            if (threads == null) {
                if (ended) {
                    return ofNone; // which has ended, too
                }
                threads = threads(name + " " + device.name());
                ofDevices.put(device, threads);
            }
            return threads;
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
        List<ExecutorService> all;
        synchronized (this) {
            ended = true;
            all = new ArrayList<>(ofDevices.values());
        }
        all.add(ofNone);
        all.forEach(ExecutorService::shutdown);
        boolean done = true;
        boolean interrupted = false;
        for (int i = 0; i < all.size(); ) {
            try {
                done &= all.get(i).awaitTermination(nanos - (System.nanoTime() - start), TimeUnit.NANOSECONDS);
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
