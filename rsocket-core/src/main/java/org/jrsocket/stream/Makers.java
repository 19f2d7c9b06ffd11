/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.stream;

import org.jrsocket.verbs.Device;

/**
 * The threads that make what new connections need on their device, and that accept them. Both take adapters
 * milliseconds, for which neither the service thread nor the connections of another device should wait. Thread-safe.
 */
final class Makers {

    /** The maximum for a device. A maker mostly waits for the device, and spends the rest in the kernel. */
    private static final int MOST = 4;

    private final DeviceThreads threads = new DeviceThreads(
            "jrsocket-maker", Math.max(1, Math.min(MOST, Runtime.getRuntime().availableProcessors() / 2)));

    /**
     * Has {@code task} run soon, on a thread of the device's.
     *
     * @return false if the transport is closing
     * @throws OutOfMemoryError if there is no memory, or no thread can be created; most probably the task is not run
     */
    boolean execute(Device device, Runnable task) {
        return threads.execute(device, task);
    }

    /** Returns whether the caller is one of them, which must not wait for another connection. */
    boolean isCurrent() {
        return threads.isCurrent();
    }

    /**
     * Takes no more tasks, and waits for those that there are.
     *
     * @return false if some are still running after {@code nanos}
     */
    boolean end(long nanos) {
        return threads.end(nanos);
    }
}
