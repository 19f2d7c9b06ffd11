/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.nio;

import java.nio.channels.AsynchronousCloseException;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.SocketChannel;
import java.nio.channels.spi.SelectorProvider;

/**
 * A socket channel as its parts see it. They do what the channel is called for, and need what it has from the JDK's
 * classes: its mode, its close, and that an interrupt of a thread that blocks closes it.
 */
abstract class InterruptibleSocketChannel extends SocketChannel {

    InterruptibleSocketChannel(SelectorProvider provider) {
        super(provider);
    }

    /** Begins a call that may block: from now on an interrupt closes the channel. */
    final void beginBlocking() {
        begin();
    }

    /**
     * Ends such a call.
     *
     * @param done whether it has done something, so that a close in the meantime is no failure
     */
    final void endBlocking(boolean done) throws AsynchronousCloseException {
        end(done);
    }

    /** Closes a blocking channel of an interrupted thread, as the JDK does before it does or refuses anything. */
    final void heedInterrupt() throws AsynchronousCloseException {
        if (isBlocking()) {
            begin();
            end(isOpen());
        }
    }

    final RuntimeException refused(RuntimeException why) throws AsynchronousCloseException {
        heedInterrupt();
        return why;
    }

    final void ensureOpen() throws ClosedChannelException {
        if (!isOpen()) {
            throw new ClosedChannelException();
        }
    }
}
