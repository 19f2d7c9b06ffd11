/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.interop;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.concurrent.TimeUnit;

/** Payload bytes that the lab's RDMA device puts into memory of this host: {@code lab-bytes}. One count at a time. */
public final class LabBytes implements AutoCloseable {

    private LabBytes() {
        Tool.run("lab-bytes", "on");
    }

    /** Counts from now on. */
    public static LabBytes count() {
        return new LabBytes();
    }

    public long delivered() {
        return Long.parseLong(Tool.run("lab-bytes").strip());
    }

    public void assertAtLeast(long bytes) {
        long delivered = delivered();
        assertTrue(delivered >= bytes, () -> delivered + " bytes were delivered by RDMA, fewer than " + bytes);
    }

    /** Waits until there are as many. */
    public void awaitAtLeast(long bytes, Duration limit) throws InterruptedException {
        long deadline = System.nanoTime() + limit.toNanos();
        while (delivered() < bytes && System.nanoTime() < deadline) {
            TimeUnit.MILLISECONDS.sleep(200);
        }
        assertAtLeast(bytes);
    }

    public void assertLessThan(long bytes) {
        long delivered = delivered();
        assertTrue(delivered < bytes, () -> delivered + " bytes were delivered by RDMA, not fewer than " + bytes);
    }

    @Override
    public void close() {
        Tool.run("lab-bytes", "off");
    }
}
