/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.threads;

import java.util.concurrent.TimeUnit;

/** For how long a thread has been in one call, which may hang in a driver. Written by that thread alone. */
final class CallTime {

    /** However busy the host is, no call takes as long. */
    private static final long LONG_NANOS = TimeUnit.SECONDS.toNanos(1);

    private volatile boolean calling;
    private volatile long began;

    void begin() {
        began = System.nanoTime();
        calling = true;
    }

    void end() {
        calling = false;
    }

    /** Returns the nanoseconds since the call under way began; 0 if there is none, or not for long. */
    long hungNanos() {
        long nanos = calling ? System.nanoTime() - began : 0;
        return nanos > LONG_NANOS ? nanos : 0;
    }
}
