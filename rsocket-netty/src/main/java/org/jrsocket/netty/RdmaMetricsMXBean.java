/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.netty;

/**
 * {@code org.jrsocket:type=Netty}: what {@link RdmaMetrics} counts. There is a bean as soon as an event loop or a
 * channel of this transport was made.
 */
public interface RdmaMetricsMXBean {

    /** Payload bytes that were copied, sent and received together. */
    long getCopiedBytes();

    /** Copied into send memory of a connection. */
    long getSentCopiedBytes();

    /** Sent from where they lay in the application's buffer. */
    long getSentLentBytes();

    /** Copied into a buffer of the channel's allocator. */
    long getReceivedCopiedBytes();

    /** Handed to the application where the device had put them. */
    long getReceivedLentBytes();
}
