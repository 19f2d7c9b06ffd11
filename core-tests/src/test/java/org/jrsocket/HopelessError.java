/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket;

import java.util.concurrent.atomic.AtomicInteger;

/** Lack of memory that at first cannot even be described, because that needs memory, too. */
public final class HopelessError extends OutOfMemoryError {

    private static final long serialVersionUID = 1L;

    private final AtomicInteger left;

    /** @param times how often it cannot be described */
    public HopelessError(int times) {
        left = new AtomicInteger(times);
    }

    /** Runs what may throw no lack of memory: as it is, that would be the end of all tests. */
    public static void ensureNone(Runnable body) {
        try {
            body.run();
        } catch (OutOfMemoryError e) {
            throw new AssertionError(e);
        }
    }

    @Override
    public String getMessage() {
        if (left.getAndDecrement() > 0) {
            throw this;
        }
        return "says a test";
    }
}
