/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.stream;

import java.io.IOException;
import java.net.InetAddress;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/** A connection that is being made. Safe for use by many threads. */
public interface PendingConnect {

    /**
     * For so long a peer that was asked is still listened to after the attempt was given up: {@link Observer#answered}.
     */
    long LATE_NANOS = TimeUnit.SECONDS.toNanos(2);

    /** What a peer said to a request. */
    enum Answer {
        /** It would have the connection, and is one of ours. */
        OURS,
        /** It would have the connection, and does not know our extension: a C program, for example. */
        FOREIGN,
        /** It would not, for whatever reason. */
        REFUSED
    }

    /** Hears what an attempt learns of the peer, on the service thread. Must not block. */
    interface Observer {

        /** Of no interest. */
        Observer NONE = new Observer() {
            @Override
            public void asked() {
                // nobody wants to know
            }

            @Override
            public void answered(Answer answer) {
                // nobody wants to know
            }
        };

        /** Whether the connection may use the device that the route leads to; asked before the peer is. */
        default boolean mayUse(String device, InetAddress local) {
            return true;
        }

        /** The request goes out: what is spent until here is this host's own time. */
        void asked();

        /**
         * The peer spoke, perhaps only after the attempt was given up; then nothing comes of it, at the peer neither.
         */
        void answered(Answer answer);
    }

    /**
     * Waits for the outcome. Not interruptible on a platform thread (as {@code Socket.connect}); on a virtual thread an
     * interrupt ends the wait with {@link java.io.InterruptedIOException} and cancels.
     *
     * @param nanos 0 waits as long as the CM does
     * @throws RdmaConnectException the reason; after a TIMEOUT the attempt is cancelled
     */
    default RdmaStream await(long nanos) throws IOException {
        long deadline = System.nanoTime() + nanos;
        return await(() -> nanos == 0 ? Long.MAX_VALUE : deadline - System.nanoTime());
    }

    /**
     * The same with a limit that may move: {@code left} is asked again when the nanoseconds that it gave are over, and
     * ends the attempt with 0 or less.
     */
    RdmaStream await(LongSupplier left) throws IOException;

    /** Whether there is an outcome. */
    boolean isDone();

    /** Why there is no connection, as {@link #await} says it; null if there is one, or no outcome yet. */
    RdmaConnectException failure();

    /**
     * Runs {@code action} when there is an outcome, on the service thread, or at once on the caller's if there is one
     * already. Must not block.
     */
    void onDone(Runnable action);

    /**
     * Ends the attempt with TIMEOUT when {@code left} says so, as {@link #await(LongSupplier)} does; for those who do
     * not wait. It ends on the service thread, which takes the answers, and after all that have arrived: so either the
     * connection is used, or the peer never takes it for established.
     */
    void expire(LongSupplier left);

    /** Gives up: a waiter gets CANCELLED, a stream that nobody took is closed. Harmless when repeated or too late. */
    void cancel();
}
