/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.aio;

import java.io.IOException;
import java.net.SocketException;
import java.nio.ByteBuffer;
import java.nio.channels.AsynchronousChannel;
import java.nio.channels.ReadPendingException;
import java.nio.channels.SelectionKey;
import java.nio.channels.SocketChannel;
import org.jrsocket.stream.StreamFailure;

/** The receiving direction of a channel. */
final class Reading extends Transfer {

    private final SocketChannel channel;
    private boolean failureTold; // accessed like the buffers of the operation in progress

    Reading(
            AsynchronousChannel owner,
            RAsynchronousChannelGroup group,
            SocketChannel channel,
            Readiness readiness,
            Connecting connecting) {
        super(owner, group, readiness, connecting, SelectionKey.OP_READ);
        this.channel = channel;
    }

    @Override
    long attempt(ByteBuffer one) throws IOException {
        if (failureTold) {
            return -1;
        }
        try {
            return channel.read(one);
        } catch (SocketException e) {
            throw told(e);
        }
    }

    @Override
    long attempt(ByteBuffer[] many) throws IOException {
        if (failureTold) {
            return hasRemaining(many) ? -1 : 0; // as in the JDK, which does not look if there is no room
        }
        try {
            return channel.read(many);
        } catch (SocketException e) {
            throw told(e);
        }
    }

    /** Returns what a failed read throws: as in the JDK, no SocketException; later reads find the stream's end. */
    private IOException told(SocketException e) {
        failureTold = true;
        return StreamFailure.passOn(e, new IOException(e.getMessage()));
    }

    @Override
    IOException afterShut() {
        return null; // the end of the stream
    }

    @Override
    IllegalStateException pending() {
        return new ReadPendingException();
    }

    @Override
    String refusal() {
        return "Reading not allowed due to timeout or cancellation";
    }
}
