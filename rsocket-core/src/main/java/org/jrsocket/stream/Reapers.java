/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.stream;

import java.util.concurrent.ExecutorService;
import java.util.concurrent.LinkedTransferQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/**
 * The threads that free native objects. Destroying a queue pair can take a device milliseconds, and neither an
 * application nor the service thread should wait for that. There are none while nothing ends. Thread-safe.
 */
final class Reapers {

    /** The maximum number; freeing mostly waits, for the device or for the kernel's locks. */
    private static final int MOST = 4;

    private static final long RETRY_NANOS = TimeUnit.MILLISECONDS.toNanos(200);

    private final ServiceLoop service;
    private final ExecutorService threads;

    Reapers(ServiceLoop service) {
        this.service = service;
        ThreadPoolExecutor pool = new ThreadPoolExecutor(
                MOST,
                MOST,
                10,
                TimeUnit.SECONDS,
                new LinkedTransferQueue<>(), // without locks, whose waiters might interrupt themselves
                task -> Threads.daemon("jrsocket-reaper", task));
        pool.allowCoreThreadTimeOut(true);
        threads = pool;
    }

    /** Frees something native, soon, on a thread that may take its time. */
    void reap(Runnable free) {
        try {
            threads.execute(free);
        } catch (RejectedExecutionException e) {
            free.run(); // the transport is closing
        } catch (OutOfMemoryError e) { // no thread can be created, which must not trouble the thread that closes
            service.schedule(() -> reap(free), RETRY_NANOS);
        }
    }

    /** Gives them ten seconds for what they have; what comes later is freed by the thread that brings it. */
    void end() throws InterruptedException {
        threads.shutdown();
        threads.awaitTermination(10, TimeUnit.SECONDS);
    }
}
