/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.protocol;

/**
 * Takes the work requests of {@code Outbound.build}: a chain that the driver posts as a whole, in this order. What was
 * put here counts as posted.
 *
 * <p>A sink for iWARP makes two requests of one message with payload: a plain write, and a SEND that carries
 * {@code imm}. {@link SendLimits} says how many send queue slots a message takes.
 */
public interface RequestSink {

    /** Returns how many work requests can still be appended; a data message and a grant may take two. */
    int room();

    /**
     * Appends a write with immediate data. Its payload follows as one or more {@link #piece}s.
     *
     * @param imm the immediate data, in host order
     * @param inline whether the payload may travel inside the request, so that its memory is free as soon as the chain
     *     is posted
     * @param signaled whether the request asks for a completion
     */
    void data(int imm, long remoteAddress, int remoteKey, boolean inline, boolean signaled);

    /** Adds memory to the last {@link #data}. */
    void piece(long address, int length, int localKey);

    /**
     * Appends a grant: 16 bytes into the peer's table, with immediate data.
     *
     * @param tableAddress where in the peer's memory the entry is
     */
    void grant(int imm, long tableAddress, int tableKey, Slab granted, boolean signaled);

    /** Appends a message without payload. */
    void control(int imm, boolean signaled);

    /**
     * Appends a plain write of no bytes, whose acknowledgement shows that the peer's device is alive. It always asks
     * for a completion.
     */
    void probe();
}
