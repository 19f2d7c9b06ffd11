/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.protocol;

/**
 * The queues of one connection's queue pair, as {@link Pump} uses them: each call is at most one crossing into the
 * device's library. The requests that {@link RequestSink} collects are posted by {@link #post}.
 */
public interface Queues extends RequestSink {

    /** Takes receive completions and returns how many: 0 if there are none, negative if the queue is broken. */
    int pollReceives();

    /** Completions that one {@link #pollReceives} or {@link #pollSends} takes at most; fewer mean an empty queue. */
    int batch();

    /** Of the last {@link #pollReceives}: whether the message arrived; if not, the queue pair is in error. */
    boolean isReceived(int index);

    /** Whether it is a kind of message that rsocket has. */
    boolean isMessage(int index);

    /** Immediate data, in host order. */
    int imm(int index);

    /** Bytes that came with it, or {@link Inbound#UNKNOWN_LENGTH}. */
    int length(int index);

    /** Takes send completions and returns how many: 0 if there are none, negative if the queue is broken. */
    int pollSends();

    /** Of the last {@link #pollSends}: whether the request was carried out; if not, the queue pair is in error. */
    boolean isSent(int index);

    /** Gives receives to the device; false if it did not take them all. */
    boolean postReceives(int count);

    /** Posts what the sink holds, if anything, and empties it; false if the device did not take it all. */
    boolean post();

    /** Makes the next completion of either queue after this raise an event. Harmless when repeated. */
    void arm();

    /** As {@link #arm}, for the receive queue alone. */
    void armReceives();
}
