/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.stream;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class ServiceThreadTest {

    private final ServiceThread service;

    ServiceThreadTest() throws IOException {
        service = new ServiceThread("service-of-a-test", Threads::daemon);
    }

    @Test
    void shouldEnd() {
        assertTrue(service.stop(TimeUnit.SECONDS.toNanos(50)));
        assertTrue(service.stop(0), "it has ended before");
    }

    /** As that of a logger, which whoever ends a program may have while it closes the transport. */
    @Test
    void shouldNotKeepWhoeverClosesWithALockThatItWaitsFor() {
        ReentrantLock lock = new ReentrantLock();
        lock.lock();
        try {
            service.execute(() -> {
                lock.lock();
                try {
                    assertTrue(lock.isHeldByCurrentThread());
                } finally {
                    lock.unlock();
                }
            });
            while (!lock.hasQueuedThreads()) {
                Thread.onSpinWait();
            }
            Thread.currentThread().interrupt();
            assertFalse(service.stop(1_000_000));
            assertTrue(Thread.interrupted(), "the interrupt is the caller's");
        } finally {
            lock.unlock();
        }
        assertTrue(service.stop(TimeUnit.SECONDS.toNanos(50)));
    }
}
