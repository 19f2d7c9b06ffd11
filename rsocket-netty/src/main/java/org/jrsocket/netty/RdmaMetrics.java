/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.netty;

import java.util.concurrent.atomic.LongAdder;

/**
 * Payload bytes that the channels of this process have carried over RDMA, by what was done with them. Bytes over TCP
 * are not counted. JMX has the same numbers: {@link RdmaMetricsMXBean}. Safe for use by many threads.
 */
public final class RdmaMetrics {

    static final RdmaMetrics TOTAL = new RdmaMetrics();

    private final LongAdder sentCopied = new LongAdder();
    private final LongAdder sentLent = new LongAdder();
    private final LongAdder receivedCopied = new LongAdder();
    private final LongAdder receivedLent = new LongAdder();

    private RdmaMetrics() {}

    /** Returns the bytes that were copied, sent and received together. */
    public long copiedBytes() {
        return sentCopiedBytes() + receivedCopiedBytes();
    }

    /** Returns the bytes that were copied into send memory of the connection. */
    public long sentCopiedBytes() {
        return sentCopied.sum();
    }

    /** Returns the bytes that were sent from where they lay in the application's buffer. */
    public long sentLentBytes() {
        return sentLent.sum();
    }

    /** Returns the bytes that were copied into a buffer of the channel's allocator. */
    public long receivedCopiedBytes() {
        return receivedCopied.sum();
    }

    /** Returns the bytes that were handed to the application where the device had put them. */
    public long receivedLentBytes() {
        return receivedLent.sum();
    }

    void sentCopied(long bytes) {
        sentCopied.add(bytes);
    }

    void sentLent(long bytes) {
        sentLent.add(bytes);
    }

    void receivedCopied(long bytes) {
        receivedCopied.add(bytes);
    }

    void receivedLent(long bytes) {
        receivedLent.add(bytes);
    }

    @Override
    public String toString() {
        return "sent " + sentLent + " bytes lent, " + sentCopied + " copied; received " + receivedLent + " lent, "
                + receivedCopied + " copied";
    }
}
