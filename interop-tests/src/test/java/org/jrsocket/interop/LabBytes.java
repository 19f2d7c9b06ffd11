/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.interop;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Payload bytes that the lab's RDMA device puts into memory of this host, from one moment on. {@code lab-bytes} has the
 * kernel count; what it counts is read here, because each program takes long to start in an emulated machine.
 */
public final class LabBytes implements AutoCloseable {

    private static final Path COUNTS = Path.of("/sys/kernel/tracing/events/roce_lab/copy/hist");
    /**
     * The part of the bytes that the kernel may fail to count: a probe that is hit while its processor handles another
     * one is missed. Some 1 % were missed once; a connection that used TCP would lack far more.
     */
    private static final int MISSED = 16;

    private static final Pattern TOWARDS_MEMORY =
            Pattern.compile("^\\{ direction: *0 }.* length: *(\\d+)", Pattern.MULTILINE);

    private static boolean on; // guarded by the class

    private final long before;

    private LabBytes() {
        before = counted();
    }

    /** Counts from now on. */
    public static synchronized LabBytes count() {
        if (!on) {
            Tool.run("lab-bytes", "on");
            on = true;
        }
        return new LabBytes();
    }

    private static long counted() {
        try {
            Matcher matcher = TOWARDS_MEMORY.matcher(Files.readString(COUNTS));
            return matcher.find() ? Long.parseLong(matcher.group(1)) : 0;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    public long delivered() {
        return counted() - before;
    }

    public void assertAtLeast(long bytes) {
        long delivered = delivered();
        assertTrue(delivered >= least(bytes), () -> delivered + " bytes were delivered by RDMA, fewer than " + bytes);
    }

    private static long least(long bytes) {
        return bytes - bytes / MISSED;
    }

    /** Waits until there are as many. */
    public void awaitAtLeast(long bytes, Duration limit) throws InterruptedException {
        long deadline = System.nanoTime() + limit.toNanos();
        while (delivered() < least(bytes) && System.nanoTime() < deadline) {
            TimeUnit.MILLISECONDS.sleep(200);
        }
        assertAtLeast(bytes);
    }

    public void assertLessThan(long bytes) {
        long delivered = delivered();
        assertTrue(delivered < bytes, () -> delivered + " bytes were delivered by RDMA, not fewer than " + bytes);
    }

    /** The kernel counts on: to stop it and to start it again for the next test takes two programs. */
    @Override
    public void close() {
        // see above
    }
}
