/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.aio;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.ReadPendingException;
import java.nio.channels.SelectionKey;
import java.nio.channels.SocketChannel;

/** What a channel receives. */
final class Reading extends Transfer {

    private final SocketChannel channel;

    Reading(RAsynchronousSocketChannel owner, SocketChannel channel, Readiness readiness) {
        super(owner, readiness, SelectionKey.OP_READ);
        this.channel = channel;
    }

    @Override
    long attempt(ByteBuffer one) throws IOException {
        return channel.read(one);
    }

    @Override
    long attempt(ByteBuffer[] many) throws IOException {
        return channel.read(many);
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
