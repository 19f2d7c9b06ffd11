/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.stream;

import java.io.IOException;
import java.net.InetAddress;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/** A connection that is being made. Thread-safe. */
public interface PendingConnect {

    /**
     * How long a peer that was asked is still listened to after the attempt was given up; see
     * {@link Observer#answered}.
     */
    long LATE_NANOS = TimeUnit.SECONDS.toNanos(2);

    /** A peer's answer to a request. */
    enum Answer {
        /** It would accept the connection, and is one of ours. */
        OURS,
        /** It would accept the connection, and does not know our extension: a C program, for example. */
        FOREIGN,
        /** It would not accept, for whatever reason. */
        REFUSED
    }

    /** Is told what an attempt learns about the peer, on one of the transport's threads. Must not block. */
    interface Observer {

        /** An observer that does nothing. */
        Observer NONE = new Observer() {
            @Override
            public void asked() {
                // nothing to do
            }

            @Override
            public void answered(Answer answer) {
                // nothing to do
            }
        };

        /** Returns whether the connection may use the device of the route. Called before the peer is asked. */
        default boolean mayUse(String device, InetAddress local) {
            return true;
        }

        /** Returns whether to wait for a device that has not answered others for a while. Called likewise. */
        default boolean isPatient() {
            return true;
        }

        /** Called when there is a route: what the request still waits for says nothing about the way to the peer. */
        default void routed() {}

        /** Called when the request goes out: the time spent until then is this host's own. */
        void asked();

        /**
         * Called when the peer has answered, perhaps only after the attempt was given up; then no connection comes of
         * it, at the peer either.
         */
        void answered(Answer answer);
    }

    /**
     * Waits for the outcome. Not interruptible on a platform thread (as {@code Socket.connect}); on a virtual thread an
     * interrupt ends the wait with {@link java.io.InterruptedIOException} and cancels the attempt.
     *
     * @param nanos how long to wait; 0 waits as long as the CM does
     * @throws RdmaConnectException with the reason; after a TIMEOUT the attempt is cancelled
     */
    default RdmaStream await(long nanos) throws IOException {
        long deadline = System.nanoTime() + nanos;
        return await(() -> nanos == 0 ? Long.MAX_VALUE : deadline - System.nanoTime());
    }

    /**
     * Waits with a limit that may move: {@code left} is asked again when the nanoseconds that it returned are over, and
     * ends the attempt by returning 0 or less.
     */
    RdmaStream await(LongSupplier left) throws IOException;

    /** Returns whether there is an outcome. */
    boolean isDone();

    /** Returns why {@link #await} fails; null if there is a connection, or no outcome yet. */
    RdmaConnectException failure();

    /**
     * Runs {@code action} when there is an outcome: on one of the transport's threads, or at once on the caller's if
     * there already is one. The action must not block.
     */
    void onDone(Runnable action);

    /**
     * Ends the attempt with TIMEOUT when {@code left} says so, as {@link #await(LongSupplier)} does, for callers that
     * do not wait. The attempt ends on the service thread, which takes the answers, and after all answers that have
     * arrived. So either the connection is used, or the peer never takes it for established.
     */
    void expire(LongSupplier left);

    /** Gives up: a waiter gets CANCELLED, a stream not taken is closed. No effect if repeated or too late. */
    void cancel();
}
