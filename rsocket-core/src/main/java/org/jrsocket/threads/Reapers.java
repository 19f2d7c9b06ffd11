/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.threads;

import java.util.concurrent.TimeUnit;
import org.jrsocket.verbs.Device;

/**
 * The threads that free native objects. Destroying a queue pair can take a device milliseconds, and neither an
 * application nor the service thread should wait for that. Thread-safe.
 */
public final class Reapers {

    /** The maximum number for each device; freeing mostly waits, for the device or for the kernel's locks. */
    static final int MOST = 4;

    private static final long RETRY_NANOS = TimeUnit.MILLISECONDS.toNanos(200);
    private static final long END_NANOS = TimeUnit.SECONDS.toNanos(10);

    private final ServiceLoop service;
    private final DeviceThreads threads;

    public Reapers(ServiceLoop service) {
        this(service, new DeviceThreads("jrsocket-reaper", MOST));
    }

    /** @param threads that free */
    Reapers(ServiceLoop service, DeviceThreads threads) {
        this.service = service;
        this.threads = threads;
    }

    /** Does what calls the kernel for no device in particular, soon, on a thread that may take its time. */
    public void reap(Runnable free) {
        reap(null, free);
    }

    /**
     * Frees something native, soon, on a thread that may take its time; on this one where no memory is left to ask for
     * another.
     *
     * @param device the device that it is on; null if unknown
     */
    public void reap(Device device, Runnable free) {
        if (!handOver(device, free)) {
            free.run(); // nothing else refers to it any more
        }
    }

    /**
     * Does the same for a caller with a lock that others wait for, who must not free anything himself.
     *
     * @return false if no other thread will do it: no memory is left to ask one, or the transport is closing
     */
    public boolean handOver(Device device, Runnable free) {
        try {
            return threads.execute(device, free);
        } catch (OutOfMemoryError e) { // no thread can be created, which must not trouble the thread that closes
            return handOverLater(device, free);
        }
    }

    private boolean handOverLater(Device device, Runnable free) {
        try {
            service.schedule(() -> reap(device, free), RETRY_NANOS);
            return true;
        } catch (OutOfMemoryError e) {
            return false;
        }
    }

    /** Returns for how long, in nanoseconds, one of them has been in a call that hangs; 0 if none is. */
    public long hungNanos() {
        return threads.hungNanos();
    }

    /** Gives them ten seconds for what they have; what comes later is freed by the thread that brings it. */
    public void end() {
        threads.end(END_NANOS);
    }
}
