/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.netty;

/**
 * The bean {@code org.jrsocket:type=Netty}: what {@link RdmaMetrics} counts. It exists as soon as an event loop or a
 * channel of this transport has been created.
 */
public interface RdmaMetricsMXBean {

    /** Returns the payload bytes that were copied, sent and received together. */
    long getCopiedBytes();

    /** Returns the bytes that were copied into send memory of a connection. */
    long getSentCopiedBytes();

    /** Returns the bytes that were sent from where they lay in the application's buffer. */
    long getSentLentBytes();

    /** Returns the bytes that were copied into a buffer of the channel's allocator. */
    long getReceivedCopiedBytes();

    /** Returns the bytes that were handed to the application where the device had put them. */
    long getReceivedLentBytes();
}
