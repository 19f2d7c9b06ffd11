/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.threads;

import java.io.IOException;

/** A service thread as seen from outside: an epoll loop. Callbacks run on it and must not block. */
public interface ServiceLoop {

    /** A loop that whoever started it has to end, unless a transport takes it over. */
    interface Owned extends ServiceLoop {

        /** Ends the loop, after the callback under way. */
        void end();
    }

    /**
     * Runs {@code task} soon on the service thread. May be called from any thread. When the loop ends it runs the tasks
     * that it has; those that come later are not run.
     */
    void execute(Runnable task);

    /** Runs {@code task} on the service thread after {@code nanos}, unless it has ended. Otherwise like the above. */
    Timer schedule(Runnable task, long nanos);

    /**
     * Schedules what is repeated, and would otherwise end for good: on the service thread, this waits until there is
     * memory for it. So no lock may be held: whoever waits for it might be about to free some memory.
     */
    default Timer scheduleAgain(Runnable task, long nanos) {
        return schedule(task, nanos);
    }

    /**
     * Watches a descriptor that the caller owns. Each time the watch was {@link Watch#arm armed}, the callback runs
     * once when the descriptor is readable. The watch starts unarmed.
     */
    Watch watch(int fd, Runnable onReadable) throws IOException;

    /** A task that is not due yet. Thread-safe. */
    interface Timer {
        /**
         * Forgets the task and what it holds; has no effect once it has run. A task that is due at this moment may
         * still run.
         */
        void cancel();
    }

    /** Returns whether the caller is the service thread, which must not wait for its own work. */
    boolean isCurrent();

    /** A watched descriptor. Thread-safe. */
    interface Watch {
        /** Requests one callback when the descriptor is readable. */
        void arm() throws IOException;

        /**
         * Ends the watch; must be called before the descriptor is closed. A callback already under way may still be
         * running when this returns.
         */
        void cancel();
    }
}
