/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.aio;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.AsynchronousChannel;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.SelectionKey;
import java.nio.channels.SocketChannel;
import java.nio.channels.WritePendingException;

/** The sending direction of a channel. */
final class Writing extends Transfer {

    private final AsynchronousChannel owner;
    private final SocketChannel channel;

    Writing(
            AsynchronousChannel owner,
            RAsynchronousChannelGroup group,
            SocketChannel channel,
            Readiness readiness,
            Connecting connecting) {
        super(owner, group, readiness, connecting, SelectionKey.OP_WRITE);
        this.owner = owner;
        this.channel = channel;
    }

    @Override
    long attempt(ByteBuffer one) throws IOException {
        try {
            return channel.write(one);
        } catch (ClosedChannelException e) {
            throw shutMeanwhile(e);
        }
    }

    @Override
    long attempt(ByteBuffer[] many) throws IOException {
        try {
            return channel.write(many);
        } catch (ClosedChannelException e) {
            throw shutMeanwhile(e);
        }
    }

    /** Returns what to throw for a write that was waiting when the output was shut. */
    private IOException shutMeanwhile(ClosedChannelException e) {
        return isShut() && owner.isOpen() ? new IOException("Broken pipe") : e;
    }

    @Override
    IOException afterShut() {
        return new ClosedChannelException();
    }

    @Override
    IllegalStateException pending() {
        return new WritePendingException();
    }

    @Override
    String refusal() {
        return "Writing not allowed due to timeout or cancellation";
    }
}
