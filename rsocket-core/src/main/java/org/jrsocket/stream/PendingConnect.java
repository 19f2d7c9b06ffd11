/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.stream;

import java.io.IOException;

/** A connection that is being made. Safe for use by many threads. */
public interface PendingConnect {

    /**
     * Waits for the outcome. Not interruptible on a platform thread (as {@code Socket.connect}); on a virtual thread an interrupt ends the wait
     * with {@link java.io.InterruptedIOException} and cancels.
     *
     * @param nanos 0 waits as long as the CM does
     * @throws RdmaConnectException the reason; after a TIMEOUT the attempt is cancelled
     */
    RdmaStream await(long nanos) throws IOException;

    /** Whether there is an outcome. */
    boolean isDone();

    /** Runs {@code action} when there is an outcome, on the service thread, or at once on the caller's if there is one already. Must not block. */
    void onDone(Runnable action);

    /** Ends the attempt with TIMEOUT, as an {@link #await} of so many nanoseconds does, if there is no outcome yet. For those who do not wait. */
    void expire(long nanos);

    /** Gives up: a waiter gets CANCELLED, a stream that nobody took is closed. Harmless when repeated or too late. */
    void cancel();
}
