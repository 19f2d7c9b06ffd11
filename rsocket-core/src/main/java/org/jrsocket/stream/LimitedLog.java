/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.stream;

import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.slf4j.Logger;

/**
 * Limits warnings of one kind whose number a peer determines. One line is logged per interval, and says how many were
 * left out since the one before. The others are logged at debug level. Thread-safe.
 */
final class LimitedLog {

    /** Often enough to notice, too seldom to fill a disk. */
    static final long INTERVAL_NANOS = TimeUnit.SECONDS.toNanos(10);

    private final Logger log;
    private final long intervalNanos;
    private final LongSupplier clock;

    // Guarded by this.
    private boolean any;
    private long last;
    private long leftOut;

    LimitedLog(Logger log) {
        this(log, INTERVAL_NANOS, System::nanoTime);
    }

    LimitedLog(Logger log, long intervalNanos, LongSupplier clock) {
        this.log = log;
        this.intervalNanos = intervalNanos;
        this.clock = clock;
    }

    /** Logs like {@link Logger#warn(String, Object...)}. */
    void warn(String format, Object... arguments) {
        long before = pass();
        if (before < 0) {
            log.debug(format, arguments);
        } else if (before == 0) {
            log.warn(format, arguments);
        } else {
            log.warn(format + " (" + before + " more of this kind suppressed before it)", arguments);
        }
    }

    /** Returns how many warnings were left out before this one, or -1 if it is left out too. */
    private synchronized long pass() {
        long now = clock.getAsLong();
        if (any && now - last < intervalNanos) {
            leftOut++;
            return -1;
        }
        long before = leftOut;
        any = true;
        last = now;
        leftOut = 0;
        return before;
    }
}
