/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.bench.lab;

import java.io.IOException;
import java.nio.ByteBuffer;

/**
 * What a client asks of the server on a new connection: one byte that says what, then, but for {@link #TOUCH}, two
 * big-endian numbers. {@code rsock.c} speaks the same.
 */
record Request(byte what, int size, long count) {

    /** Sends back each message of {@code size} bytes, until the end of the stream. */
    static final byte ECHO = 'E';
    /** Reads {@code count} messages, by at most {@code size} bytes at a time, then answers one byte. */
    static final byte SINK = 'S';
    /** Answers one byte. */
    static final byte TOUCH = 'T';

    private static final int BYTES = 13;

    void send(Wire wire) throws IOException {
        wire.write(
                ByteBuffer.allocate(BYTES).put(what).putInt(size).putLong(count).array(), BYTES);
    }

    static Request receive(Wire wire) throws IOException {
        byte[] bytes = new byte[BYTES];
        wire.readFully(bytes, 1);
        if (bytes[0] == TOUCH) {
            return new Request(TOUCH, 1, 1);
        }
        byte[] rest = new byte[BYTES - 1];
        wire.readFully(rest, BYTES - 1);
        ByteBuffer numbers = ByteBuffer.wrap(rest);
        return new Request(bytes[0], numbers.getInt(), numbers.getLong());
    }
}
