/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.protocol;

/**
 * The queues of one connection's queue pair, as {@code Pump} uses them. Each call is at most one crossing into the
 * device's library. The requests that {@link RequestSink} collects are posted by {@link #post}.
 */
public interface Queues extends RequestSink {

    /** Takes receive completions and returns how many; 0 if there are none, negative if the queue is broken. */
    int pollReceives();

    /** Returns the most that {@link #pollReceives} or {@link #pollSends} takes at once; fewer mean an empty queue. */
    int batch();

    /** Returns whether a message of the last {@link #pollReceives} arrived; if not, the queue pair is in error. */
    boolean isReceived(int index);

    /** Returns whether it is a kind of message that rsocket has. */
    boolean isMessage(int index);

    /** Returns its immediate data, in host order. */
    int imm(int index);

    /** Returns the bytes that came with it, or {@link Inbound#UNKNOWN_LENGTH}. */
    int length(int index);

    /** Takes send completions and returns how many; 0 if there are none, negative if the queue is broken. */
    int pollSends();

    /** Returns whether a request of the last {@link #pollSends} was carried out; if not, the queue pair is in error. */
    boolean isSent(int index);

    /** Gives receives to the device; returns false if it did not take all of them. */
    boolean postReceives(int count);

    /** Posts what the sink holds, if anything, and empties it; returns false if the device did not take all of it. */
    boolean post();

    /**
     * Makes the next completion of either queue raise an event. Repeated calls have no effect. A queue may not be armed
     * before its next poll, so each queue has to be polled afterwards, whether a completion can be there or not.
     */
    void arm();

    /** Arms like {@link #arm}, but only the receive queue. */
    void armReceives();
}
