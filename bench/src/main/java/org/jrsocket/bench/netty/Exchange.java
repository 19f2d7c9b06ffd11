/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.bench.netty;

import java.net.InetSocketAddress;
import org.jrsocket.bench.lab.RoundTrips;

/** What a client does with its server. */
interface Exchange {

    void run(RoundTrips trips) throws Exception;

    /**
     * Sends {@code count} messages of {@code size} bytes; returns when the server has said that it has them all.
     * Nanoseconds from when it could begin, connected, to that word.
     *
     * @param lend whether the server reads them where the device has put them, if its transport can do that
     */
    long stream(int size, int count, boolean lend) throws Exception;

    /** Of which framework. */
    static Exchange with(String framework, Transport transport, InetSocketAddress server) {
        return switch (framework) {
            case "netty" -> new NettyExchange(transport, server);
            case "grpc" -> new GrpcExchange(transport, server);
            default -> throw new IllegalArgumentException("'" + framework + "' is none of netty, grpc");
        };
    }
}
