/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.stream;

import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.LinkedTransferQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.jrsocket.verbs.Device;

/**
 * The threads that make what new connections need on their device, and that accept them. Both take adapters
 * milliseconds, and a device whose firmware hangs a minute, for which neither the service thread nor the connections of
 * another device should wait. So each device has its own. There are none while no connection begins. Thread-safe.
 */
final class Makers {

    static final String NAME = "jrsocket-maker";

    /** The maximum for a device. A maker mostly waits for the device, and spends the rest in the kernel. */
    private static final int MOST = 4;

    private final int most = Math.max(1, Math.min(MOST, Runtime.getRuntime().availableProcessors() / 2));

    private final ThreadLocal<Boolean> current = ThreadLocal.withInitial(() -> false);

    // Guarded by this.
    private final Map<Device, ThreadPoolExecutor> pools = new HashMap<>();
    private boolean ended;

    /**
     * Has {@code task} run soon, on a thread of the device's.
     *
     * @return false if the transport is closing
     * @throws OutOfMemoryError if there is no memory, or no thread can be created; then the task is not run
     */
    synchronized boolean execute(Device device, Runnable task) {
        if (ended) {
            return false;
        }
        ThreadPoolExecutor pool = pools.get(device);
        if (pool == null) {
            pools.values().removeIf(Makers::isOver); // of devices that are gone
            pool = new ThreadPoolExecutor(
                    most,
                    most,
                    10,
                    TimeUnit.SECONDS,
                    new LinkedTransferQueue<>(), // without locks, whose waiters might interrupt themselves
                    run -> Threads.daemon(NAME, () -> {
                        current.set(true);
                        run.run();
                    }));
            pool.allowCoreThreadTimeOut(true);
            pools.put(device, pool);
        }
        pool.execute(task);
        return true;
    }

    /** Returns whether the caller is one of them, which must not wait for another connection. */
    boolean isCurrent() {
        return current.get();
    }

    private static boolean isOver(ThreadPoolExecutor pool) {
        return pool.getPoolSize() == 0 && pool.getQueue().isEmpty();
    }

    /**
     * Takes no more tasks, and waits for those that there are.
     *
     * @return false if some are still running after {@code nanos}
     */
    boolean end(long nanos) throws InterruptedException {
        Map<Device, ThreadPoolExecutor> all;
        synchronized (this) {
            ended = true;
            all = Map.copyOf(pools);
        }
        all.values().forEach(ThreadPoolExecutor::shutdown);
        long start = System.nanoTime();
        boolean over = true;
        for (ThreadPoolExecutor pool : all.values()) {
            over &= pool.awaitTermination(nanos - (System.nanoTime() - start), TimeUnit.NANOSECONDS);
        }
        return over;
    }
}
