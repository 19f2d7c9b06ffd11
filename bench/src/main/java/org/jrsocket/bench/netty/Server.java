/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.bench.netty;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.Locale;

/**
 * The passive process of a pair: {@code Server netty|grpc nio|rdma ADDRESS PORT}. Says "ready" when it listens, and
 * ends with its standard input.
 */
public final class Server {

    private Server() {}

    public static void main(String[] args) throws IOException, InterruptedException {
        start(
                args[0],
                Transport.valueOf(args[1].toUpperCase(Locale.ROOT)),
                new InetSocketAddress(args[2], Integer.parseInt(args[3])));
        System.out.println("ready");
        while (System.in.read() >= 0) {
            // whoever started this process closes its input to end it
        }
        System.exit(0);
    }

    /** Returns the port. */
    static int start(String framework, Transport transport, InetSocketAddress address)
            throws IOException, InterruptedException {
        return switch (framework) {
            case "netty" -> NettyServer.start(transport, address);
            case "grpc" -> GrpcServer.start(transport, address);
            default -> throw new IllegalArgumentException("'" + framework + "' is none of netty, grpc");
        };
    }
}
