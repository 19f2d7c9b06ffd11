/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.threads;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.jrsocket.verbs.Device;

/**
 * The threads that make what new connections need on their device, and that accept or complete them. All of this takes
 * adapters milliseconds, for which neither the service thread nor the connections of another device should wait.
 * Thread-safe.
 */
public final class Makers {

    /** The maximum for a device, of each kind. A maker mostly waits for the device, and else for the kernel. */
    private static final int MOST = Math.max(1, Math.min(4, Runtime.getRuntime().availableProcessors() / 2));

    private static final long LONG_NANOS = TimeUnit.SECONDS.toNanos(1);

    private final LongSupplier clock;
    private final Set<Work> begun = ConcurrentHashMap.newKeySet();
    private final DeviceThreads threads = new DeviceThreads("jrsocket-maker", MOST);
    /** For connections that peers wait for: these must not stand behind a crowd that is only beginning. */
    private final DeviceThreads completing = new DeviceThreads("jrsocket-maker", MOST);

    public Makers() {
        this(System::nanoTime);
    }

    /** @param clock nanoseconds, as {@link System#nanoTime} */
    public Makers(LongSupplier clock) {
        this.clock = clock;
    }

    /**
     * Has {@code task} run soon, on a thread of the device's.
     *
     * @return false if the transport is closing
     * @throws OutOfMemoryError if there is no memory, or no thread can be created; the task is not run then
     */
    public boolean execute(Device device, Runnable task) {
        return threads.execute(device, new Work(device, task));
    }

    /** Has {@code task}, which completes a connection, run soon, on another thread of the device's; else as above. */
    public boolean complete(Device device, Runnable task) {
        return completing.execute(device, new Work(device, task));
    }

    /** Returns for how long, in nanoseconds, one of them has been in a call that hangs; 0 if none is. */
    public long hungNanos() {
        return Math.max(threads.hungNanos(), completing.hungNanos());
    }

    /** Returns whether something on the device is taking longer than a busy host does. It may still go on. */
    public boolean waitLongFor(Device device) {
        long now = clock.getAsLong();
        boolean found = false;
        for (Work each : begun) {
            found |= each.device == device && each.takesLong(now);
        }
        return found;
    }

    /** A task, and since when it runs. */
    private final class Work implements Runnable {
        private final Device device;
        private final Runnable task;
        private long since; // published by the set
        private boolean noticed; // guarded by this, as the next
        private long noticedAt;

        Work(Device device, Runnable task) {
            this.device = device;
            this.task = task;
        }

        @Override
        public void run() {
            since = clock.getAsLong();
            try {
                begin();
                task.run();
            } finally {
                begun.remove(this);
            }
        }

        /**
         * Returns whether it was found to take long, and a second later as well. The first time may only mean that
         * this process stood still; then the device has answered long before.
         */
        synchronized boolean takesLong(long now) {
            if (noticed) {
                return now - noticedAt > LONG_NANOS;
            }
            noticed = now - since > LONG_NANOS;
            noticedAt = now;
            return false;
        }

        private void begin() {
            try {
                begun.add(this);
            } catch (OutOfMemoryError e) {
                // then nobody notices if the device does not answer
            }
        }
    }

    /** Returns whether the caller is one of them, which must not wait for another connection. */
    public boolean isCurrent() {
        return threads.isCurrent() || completing.isCurrent();
    }

    /**
     * Takes no more tasks, and waits for those that there are.
     *
     * @return false if some are still running after {@code nanos}
     */
    public boolean end(long nanos) {
        long start = System.nanoTime();
        boolean made = threads.end(nanos);
        return completing.end(nanos - (System.nanoTime() - start)) && made;
    }
}
