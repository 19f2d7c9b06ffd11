/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.connect;

import java.io.IOException;
import java.security.AccessController;
import java.security.PrivilegedActionException;
import java.security.PrivilegedExceptionAction;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A list of what this host has, read on demand, but at most once per period and by one thread. Other threads use the
 * previous list, as all do if it cannot be read. Safe for use by many threads.
 */
final class Refreshed<T> {

    private static final Logger LOG = LoggerFactory.getLogger(Refreshed.class);

    /** Reads the list. */
    interface Source<T> {
        List<T> read() throws IOException;
    }

    private record Reading<T>(List<T> list, long at) {}

    private final String what;
    private final Source<T> source;
    private final long freshNanos;
    private final LongSupplier clock;
    private volatile Reading<T> reading;
    private final AtomicBoolean refreshing = new AtomicBoolean(); // a thread is reading, not counting the first ones

    /**
     * @param what names the list in the log
     * @param freshNanos how long a reading is used
     * @param clock nanoseconds, as {@link System#nanoTime}
     */
    Refreshed(String what, Source<T> source, long freshNanos, LongSupplier clock) {
        this.what = what;
        this.source = source;
        this.freshNanos = freshNanos;
        this.clock = clock;
    }

    List<T> get() {
        Reading<T> last = reading;
        long now = clock.getAsLong();
        if (last == null) { // nothing has been read yet
            return read(now, List.of());
        }
        if (now - last.at < freshNanos || !refreshing.compareAndSet(false, true)) {
            return last.list;
        }
        try {
            return read(now, last.list);
        } finally {
            refreshing.set(false);
        }
    }

    private List<T> read(long now, List<T> before) {
        List<T> list = before;
        try {
            list = List.copyOf(privileged());
        } catch (IOException e) {
            LOG.debug("{} cannot be read", what, e);
        }
        reading = new Reading<>(list, now);
        return list;
    }

    /** Reads with the access rights of this project, which an application under a security manager need not have. */
    @SuppressWarnings("removal") // of JDK 17
    private List<T> privileged() throws IOException {
        try {
            return AccessController.doPrivileged((PrivilegedExceptionAction<List<T>>) source::read);
        } catch (PrivilegedActionException e) {
            throw (IOException) e.getException();
        }
    }
}
