/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.stream;

import java.io.IOException;

/** The transport's one service thread, seen from outside: an epoll loop. Callbacks run on it and must not block. */
public interface ServiceLoop {

    /** Runs {@code task} soon on the service thread; any thread. */
    void execute(Runnable task);

    /** Runs {@code task} on the service thread after {@code nanos}; any thread. */
    Timer schedule(Runnable task, long nanos);

    /**
     * Watches a descriptor that the caller owns. The callback runs once each time the watch was {@link Watch#arm armed}
     * and the descriptor is readable. Starts unarmed.
     */
    Watch watch(int fd, Runnable onReadable) throws IOException;

    /** A task that is not due yet. Any thread. */
    interface Timer {
        /**
         * Forgets the task, and what it holds; harmless when it has run. One that is due at this moment may still run.
         */
        void cancel();
    }

    /** Whether the caller is the service thread: then it must not wait for what that thread does. */
    boolean isCurrent();

    /** One watched descriptor. Any thread. */
    interface Watch {
        /** Asks for one callback when the descriptor is readable. */
        void arm() throws IOException;

        /**
         * Ends the watch; must precede closing the descriptor. A callback already under way may still end after this
         * returns.
         */
        void cancel();
    }
}
