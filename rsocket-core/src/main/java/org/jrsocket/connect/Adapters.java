/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.connect;

import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.jrsocket.connect.GidTables.Local;

/**
 * The addresses of those RDMA devices of this host whose ports are up, read at most once a second ({@link Refreshed},
 * {@link GidTables}). Safe for use by many threads.
 */
final class Adapters {

    static final long FRESH_NANOS = TimeUnit.SECONDS.toNanos(1);

    private final Refreshed<Local> locals;

    Adapters() {
        this(new GidTables(), NanoClock.SYSTEM);
    }

    /** @param clock nanoseconds, as {@link System#nanoTime} */
    Adapters(Refreshed.Source<Local> source, LongSupplier clock) {
        locals = new Refreshed<>("the addresses of the RDMA devices", source, FRESH_NANOS, clock);
    }

    /** Returns the addresses, in alphabetical order of the devices. */
    List<Local> locals() {
        return locals.get();
    }
}
