/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.bench.lab;

import java.io.IOException;
import java.net.InetSocketAddress;

/** What makes connections: {@code java.net}, NIO, asynchronous channels, or the stream API with and without copies. */
interface Carrier {

    /** {@code spinning}: waits poll rather than sleep, where the carrier has a choice. */
    Wire connect(InetSocketAddress to, boolean spinning) throws IOException;

    Acceptor listen(InetSocketAddress at, boolean spinning) throws IOException;

    interface Acceptor {
        Wire accept() throws IOException;
    }

    static Carrier named(String name) throws IOException {
        return switch (name) {
            case "net" -> new NetCarrier();
            case "stream" -> new StreamCarrier(StreamWire::new);
            case "lend" -> new StreamCarrier(LendWire::new);
            case "channel" -> new ChannelCarrier(false);
            case "selector" -> new ChannelCarrier(true);
            case "aio" -> new AioCarrier();
            default ->
                throw new IllegalArgumentException(
                        "carrier '" + name + "' is none of net, stream, lend, channel, selector, aio");
        };
    }
}
