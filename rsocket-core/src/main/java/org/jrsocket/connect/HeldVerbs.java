/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.connect;

import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.jrsocket.verbs.VerbsProvider;
import org.jrsocket.verbs.VerbsUnavailableException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The verbs of a process, opened once, when they are first asked for. If there are none, the reason is
 * kept, and as long as callers keep asking, a look for them is made every few seconds. Safe for use by many threads.
 */
final class HeldVerbs {

    /** The least time between two looks. */
    static final long LOOK_NANOS = TimeUnit.SECONDS.toNanos(5);

    /**
     * Initialised on demand, because the agent makes a holder before it has set up the log. Its name is that of the
     * class that users know.
     */
    private static final class Log {
        private static final Logger LOG = LoggerFactory.getLogger("org.jrsocket.connect.TransportHolder");
    }

    private final VerbsOpener opener;
    private final Executor looks;
    private final LongSupplier clock;
    private volatile VerbsProvider provider; // written under this, as the next two
    private volatile VerbsUnavailableException unavailable;
    private volatile boolean opening; // a device may hang meanwhile, and others wait for this
    private boolean closed; // guarded by this, as the next two
    private boolean looking;
    private long looked;

    /**
     * @param looks runs a look for verbs, which may take a while
     * @param clock nanoseconds, as {@link System#nanoTime}
     */
    HeldVerbs(VerbsOpener opener, Executor looks, LongSupplier clock) {
        this.opener = opener;
        this.looks = looks;
        this.clock = clock;
    }

    /** Sets verbs that somebody else has opened. */
    synchronized void set(VerbsProvider opened) {
        provider = opened;
    }

    /** Keeps the reason why there are no verbs. */
    synchronized VerbsUnavailableException lack(VerbsUnavailableException reason) {
        unavailable = reason;
        looked = clock.getAsLong();
        return reason;
    }

    /**
     * Returns the verbs, which are opened if that has not been tried.
     *
     * @throws VerbsUnavailableException with the reason why this process has no RDMA, as of the last look
     */
    synchronized VerbsProvider get() throws VerbsUnavailableException {
        if (unavailable != null) {
            lookIfDue();
            throw lacking();
        }
        if (provider == null) {
            opening = true;
            try {
                provider = opener.open();
            } catch (VerbsUnavailableException e) {
                throw lack(e);
            } catch (RuntimeException | LinkageError | OutOfMemoryError e) { // TCP still works
                throw lack(failed("cannot open RDMA verbs: " + e, e));
            } finally {
                opening = false;
            }
        }
        return provider;
    }

    /** Returns an exception with the caller's stack trace for the reason that is kept. */
    synchronized VerbsUnavailableException lacking() {
        return new VerbsUnavailableException(unavailable.reason(), unavailable.getMessage(), unavailable);
    }

    /**
     * Returns the exception for a failure here. It must not fail what the application asked for, which needs no RDMA.
     */
    static VerbsUnavailableException failed(String message, Throwable cause) {
        return new VerbsUnavailableException(VerbsUnavailableException.Reason.LIBRARY, message, cause);
    }

    /** Starts a look for verbs, if it is time for one. Called with the lock held. */
    private void lookIfDue() {
        if (looking
                || closed
                || unavailable.reason() == VerbsUnavailableException.Reason.PLATFORM
                || clock.getAsLong() - looked < LOOK_NANOS) {
            return;
        }
        looking = true;
        try {
            looks.execute(this::look);
        } catch (RuntimeException | OutOfMemoryError e) { // no thread available: later
            looking = false;
            looked = clock.getAsLong();
        }
    }

    private void look() {
        VerbsProvider found = null;
        VerbsUnavailableException why = null;
        try {
            found = opener.open();
            Log.LOG.info("RDMA can be used from now on: {}", found.description());
        } catch (VerbsUnavailableException e) {
            why = e;
        } catch (RuntimeException | LinkageError | OutOfMemoryError e) {
            Log.LOG.debug("looking for RDMA failed", e);
        } finally {
            looked(found, why);
        }
    }

    private synchronized void looked(VerbsProvider found, VerbsUnavailableException why) {
        looking = false;
        looked = clock.getAsLong();
        if (closed) {
            return;
        }
        if (found != null) {
            provider = found;
            unavailable = null;
        } else if (why != null) {
            unavailable = why;
        }
    }

    /** Lets the verbs go. Callers are told from now on that the program has ended its use of RDMA. */
    synchronized void close() {
        closed = true;
        unavailable = new VerbsUnavailableException(
                VerbsUnavailableException.Reason.CLOSED, "this program has ended its use of RDMA", null);
        provider = null;
    }

    /** Returns whether verbs are open; opens nothing, and does not wait for a thread that does. */
    boolean areOpen() {
        return provider != null;
    }

    /** Describes the verbs, or why there are none; opens nothing, and waits for no thread that does. */
    String description() {
        VerbsProvider open = provider;
        if (open != null) {
            return open.description();
        }
        if (unavailable == null) {
            return opening ? "none: RDMA is being opened at this moment" : "none: nothing has needed RDMA so far";
        }
        try {
            return get().description();
        } catch (VerbsUnavailableException e) {
            return "none: " + e.getMessage();
        }
    }
}
