/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.aio;

import java.nio.channels.AsynchronousSocketChannel;
import java.util.concurrent.atomic.AtomicInteger;

/** One channel, and what went through it. */
final class End {
    final AsynchronousSocketChannel channel;
    volatile End peer;
    final AtomicInteger sent = new AtomicInteger();
    final AtomicInteger received = new AtomicInteger();
    volatile boolean shutIn;
    volatile boolean shutOut;
    volatile boolean filled; // by the last read, which may have left something
    volatile boolean full; // its writes may wait
    volatile boolean unclear; // what it has read is not known any more

    End(AsynchronousSocketChannel channel) {
        this.channel = channel;
    }

    /** What the peer has written, and nobody has read. */
    int unread() {
        return peer == null ? 0 : peer.sent.get() - received.get();
    }

    /**
     * Closing it resets the connection over TCP, and not over RDMA: what comes after its input was shut is dropped
     * as it comes, and a peer that has heard of the end hears of no reset.
     */
    boolean isDeaf() {
        return (shutIn || shutOut) && (unread() > 0 || peer != null && peer.full);
    }

    /** A read waits, until something is done. */
    boolean isQuiet() {
        return channel.isOpen()
                && !shutIn
                && !unclear
                && peer != null
                && peer.channel.isOpen()
                && !peer.shutOut
                && !peer.full
                && unread() == 0;
    }
}
