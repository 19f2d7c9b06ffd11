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
 * The threads that free native objects. Destroying a queue pair can take a device milliseconds, and neither an
 * application nor the service thread should wait for that. A device whose firmware does not answer can take a minute,
 * so each device has threads of its own, and so has what concerns no device in particular. There are none while nothing
 * ends. Thread-safe.
 */
final class Reapers {

    /** The maximum number for each device; freeing mostly waits, for the device or for the kernel's locks. */
    private static final int MOST = 4;

    private static final long RETRY_NANOS = TimeUnit.MILLISECONDS.toNanos(200);
    private static final long END_NANOS = TimeUnit.SECONDS.toNanos(10);

    private final ServiceLoop service;
    private final ExecutorService ofNone = threads("jrsocket-reaper");

    // Guarded by this.
    private final Map<Device, ExecutorService> ofDevices = new WeakHashMap<>(); // forgets a lost one
    private boolean ended;

    Reapers(ServiceLoop service) {
        this.service = service;
    }

    private static ExecutorService threads(String name) {
        ThreadPoolExecutor pool = new ThreadPoolExecutor(
                MOST,
                MOST,
                10,
                TimeUnit.SECONDS,
                new LinkedTransferQueue<>(), // without locks, whose waiters might interrupt themselves
                task -> Threads.daemon(name, task));
        pool.allowCoreThreadTimeOut(true);
        return pool;
    }

    /** Does what calls the kernel for no device in particular, soon, on a thread that may take its time. */
    void reap(Runnable free) {
        reap(null, free);
    }

    /**
     * Frees something native, soon, on a thread that may take its time.
     *
     * @param device the device that it is on; null if unknown
     */
    void reap(Device device, Runnable free) {
        try {
            of(device).execute(free);
        } catch (RejectedExecutionException e) {
            free.run(); // the transport is closing
        } catch (OutOfMemoryError e) { // no thread can be created, which must not trouble the thread that closes
            service.schedule(() -> reap(device, free), RETRY_NANOS);
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
                    return ofNone; // which rejects it
                }
                threads = threads("jrsocket-reaper " + device.name());
                ofDevices.put(device, threads);
            }
            return threads;
        }
    }

    /** Gives them ten seconds for what they have; what comes later is freed by the thread that brings it. */
    void end() throws InterruptedException {
        long start = System.nanoTime();
        List<ExecutorService> all;
        synchronized (this) {
            ended = true;
            all = new ArrayList<>(ofDevices.values());
        }
        all.add(ofNone);
        all.forEach(ExecutorService::shutdown);
        for (ExecutorService each : all) {
            each.awaitTermination(END_NANOS - (System.nanoTime() - start), TimeUnit.NANOSECONDS);
        }
    }
}
