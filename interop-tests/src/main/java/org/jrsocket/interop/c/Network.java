/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.interop.c;

import java.io.Closeable;
import java.io.IOException;
import java.net.InetSocketAddress;

/** Makes connections. */
interface Network extends Closeable {

    /** Sizes of the buffers of later connections, both ways; 0 leaves the defaults. */
    void bufferSize(int bytes);

    Link connect(InetSocketAddress remote) throws IOException;

    Door listen(InetSocketAddress local) throws IOException;

    /** Connections that are not closed for good yet. */
    int live();

    /** A listening address. */
    interface Door extends Closeable {

        int port();

        Link accept() throws IOException;
    }

    /** By name: {@code stream}, {@code stream-nonblocking}, {@code stream-async}, {@code net}. */
    static Network named(String name) throws IOException {
        return switch (name) {
            case "stream" -> new StreamNetwork(StreamNetwork.Mode.BLOCKING);
            case "stream-nonblocking" -> new StreamNetwork(StreamNetwork.Mode.NONBLOCKING);
            case "stream-async" -> new StreamNetwork(StreamNetwork.Mode.ASYNC);
            case "net" -> new NetNetwork();
            default -> throw new IllegalArgumentException("no API " + name);
        };
    }
}
