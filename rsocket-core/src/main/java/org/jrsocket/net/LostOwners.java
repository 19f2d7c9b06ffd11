/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.net;

import java.lang.ref.Cleaner;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.jrsocket.threads.Threads;

/**
 * Closes what the application has lost. The thread for this is created with the first socket. A process that may create
 * no more threads at that moment gets its sockets all the same: what it loses then stays open. Once a second, a new
 * socket tries again to create the thread. Thread-safe.
 */
final class LostOwners {

    /** The pause after the thread could not be created: the JVM prints a line on stdout for each try. */
    private static final long PAUSE_NANOS = TimeUnit.SECONDS.toNanos(1);

    private static final LostOwners ALL = new LostOwners(new OwnThread(), new OwnClock());

    // A named class, because the code of a lambda is generated at run time.
    private static final class OwnThread implements Supplier<Cleaner> {

        @Override
        public Cleaner get() {
            return Threads.cleaner("jrsocket-cleaner");
        }
    }

    private static final class OwnClock implements LongSupplier { // likewise

        @Override
        public long getAsLong() {
            return System.nanoTime();
        }
    }

    /** Runs its action once. */
    private static final class Unwatched implements Cleaner.Cleanable {
        private final AtomicReference<Runnable> action;

        Unwatched(Runnable action) {
            this.action = new AtomicReference<>(action);
        }

        @Override
        public void clean() {
            Runnable last = action.getAndSet(null);
            if (last != null) {
                last.run();
            }
        }
    }

    private final Supplier<Cleaner> cleaners;
    private final LongSupplier clock;

    // Guarded by this.
    private Cleaner cleaner; // null: no thread could be created so far
    private boolean refused; // the last one could not be created
    private long refusedAt;

    /**
     * @param cleaners makes a cleaner, unless it throws an OutOfMemoryError
     * @param clock nanoseconds, as {@link System#nanoTime}
     */
    LostOwners(Supplier<Cleaner> cleaners, LongSupplier clock) {
        this.cleaners = cleaners;
        this.clock = clock;
    }

    /**
     * Has {@code action} run once: when the result is told to, or when {@code owner} is lost.
     *
     * @param action must not refer to {@code owner}
     */
    static Cleaner.Cleanable watch(Object owner, Runnable action) {
        return ALL.register(owner, action);
    }

    Cleaner.Cleanable register(Object owner, Runnable action) {
        Cleaner watching = cleaner();
        return watching == null ? new Unwatched(action) : watching.register(owner, action);
    }

    /** Returns null if its thread cannot be created for now. */
    private synchronized Cleaner cleaner() {
        if (cleaner == null && !(refused && clock.getAsLong() - refusedAt < PAUSE_NANOS)) {
            try {
                cleaner = cleaners.get();
            } catch (OutOfMemoryError e) {
                refused = true;
                refusedAt = clock.getAsLong();
            }
        }
        return cleaner;
    }
}
