/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.endpoint;

import java.io.IOException;
import java.util.concurrent.TimeUnit;
import org.jrsocket.threads.Reapers;
import org.jrsocket.threads.ServiceThread;
import org.jrsocket.threads.Threads;
import org.jrsocket.verbs.Device;
import org.jrsocket.verbs.loopback.LoopbackProvider;

/** A pool of bundles over loopback verbs, with the threads that it needs, and without streams. */
final class Pool implements AutoCloseable {

    static final long PATIENCE_NANOS = TimeUnit.SECONDS.toNanos(20);

    private static final OpenDevices.Users NOBODY = new OpenDevices.Users() {
        @Override
        public void lost(Device device) {}

        @Override
        public void queueFailed(Device device, int event) {}
    };

    final LoopbackProvider verbs = new LoopbackProvider();
    final MemoryBudget budget = new MemoryBudget();
    private final ServiceThread service = new ServiceThread(ServiceThread.NAME, Threads::daemon);
    private final Reapers reapers = new Reapers(service);
    final BundlePool bundles;
    final OpenDevices devices;

    /** @param idleNanos how long what connections leave is kept */
    Pool(long idleNanos) throws IOException {
        bundles = new BundlePool(verbs.openVerbs(), idleNanos, budget, service, reapers);
        devices = new OpenDevices(service, bundles, new InlineLimits(), () -> {}, NOBODY);
    }

    static Bundle.Shape shape(Device device, int receiveSlab) {
        return new Bundle.Shape(device, 16, 16, 4096, receiveSlab);
    }

    /** Ends in the order of a transport. */
    @Override
    public void close() {
        devices.end();
        service.stop(PATIENCE_NANOS);
        bundles.close();
        reapers.end();
        verbs.assertClean();
        verbs.close();
    }
}
