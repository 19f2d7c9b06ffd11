/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.net;

import java.lang.ref.Cleaner;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;
import org.jrsocket.stream.Threads;

/**
 * Closes what the application has lost. The thread for this is created with the first socket. A process that may create
 * no more threads at that moment gets its sockets all the same: what it loses then stays open. Thread-safe.
 */
final class LostOwners {

    private static final LostOwners ALL = new LostOwners(new OwnThread());

    // A named class, because the code of a lambda is generated at run time.
    private static final class OwnThread implements Supplier<Cleaner> {

        @Override
        public Cleaner get() {
            return Threads.cleaner("jrsocket-cleaner");
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
    private Cleaner cleaner; // guarded by this; null: no thread could be created so far

    /** @param cleaners makes a cleaner, unless it throws an OutOfMemoryError */
    LostOwners(Supplier<Cleaner> cleaners) {
        this.cleaners = cleaners;
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
        Cleaner watching;
        try {
            watching = cleaner();
        } catch (OutOfMemoryError e) { // no thread can be created; the next socket tries again
            return new Unwatched(action);
        }
        return watching.register(owner, action);
    }

    private synchronized Cleaner cleaner() {
        if (cleaner == null) {
            cleaner = cleaners.get();
        }
        return cleaner;
    }
}
