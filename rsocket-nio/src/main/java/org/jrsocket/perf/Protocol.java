/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.perf;

import java.io.IOException;
import java.net.SocketTimeoutException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * What the client and server of {@code perf} exchange before they measure: a greeting from the server, then one request
 * from the client.
 */
final class Protocol {

    static final int MAX_SIZE = 16 << 20;

    private static final byte[] GREETING = "jrsocket-perf 1\n".getBytes(StandardCharsets.US_ASCII);
    private static final int MAGIC = 0x4a525046;
    private static final int REQUEST_BYTES = 12;

    /** What the server is to do with a connection. */
    enum Task {
        /** Sends each message back. */
        ECHO,
        /** Reads to the end, then sends the number of bytes read, in eight bytes, most significant first. */
        SINK,
        /** Writes until the connection ends. */
        SOURCE
    }

    /** @param size bytes of a message, 1 to {@value Protocol#MAX_SIZE} */
    record Request(Task task, int size) {}

    private Protocol() {}

    static void greet(Link link) throws IOException {
        link.write(GREETING, GREETING.length);
    }

    /** Returns whether the peer is a server of this protocol; a silent one is not. */
    static boolean isGreeted(Link link, int millis) throws IOException {
        byte[] greeting = new byte[GREETING.length];
        try {
            return link.readFully(greeting, greeting.length, millis) && Arrays.equals(greeting, GREETING);
        } catch (SocketTimeoutException e) {
            return false;
        }
    }

    static void request(Link link, Request request) throws IOException {
        link.write(
                ByteBuffer.allocate(REQUEST_BYTES)
                        .putInt(MAGIC)
                        .putInt(request.task().ordinal())
                        .putInt(request.size())
                        .array(),
                REQUEST_BYTES);
    }

    /** Returns the client's request, or null if it has none. */
    static Request read(Link link, int millis) throws IOException {
        byte[] bytes = new byte[REQUEST_BYTES];
        if (!link.readFully(bytes, bytes.length, millis)) {
            return null;
        }
        ByteBuffer fields = ByteBuffer.wrap(bytes);
        int magic = fields.getInt();
        int task = fields.getInt();
        int size = fields.getInt();
        if (magic != MAGIC || task < 0 || task >= Task.values().length || size < 1 || size > MAX_SIZE) {
            throw new IOException("not a request of jrsocket perf");
        }
        return new Request(Task.values()[task], size);
    }
}
