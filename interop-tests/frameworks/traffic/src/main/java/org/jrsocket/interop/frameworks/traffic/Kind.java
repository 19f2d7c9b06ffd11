/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.interop.frameworks.traffic;

import java.io.IOException;
import java.net.InetSocketAddress;

/** An interface that programs use for their connections. */
interface Kind {

    /** Listens, and gives every connection its bytes back. Returns the port. */
    int serve(InetSocketAddress address) throws Exception;

    /** Connects, and keeps {@code flow} going until it ends. Returns at once. */
    void connect(InetSocketAddress server, Flow flow) throws IOException;

    static Kind named(String name) throws IOException {
        return switch (name) {
            case "net" -> new NetKind();
            case "nio" -> new NioKind();
            case "netty" -> new NettyKind();
            default -> throw new IllegalArgumentException(name + " is none of net, nio, netty");
        };
    }
}
