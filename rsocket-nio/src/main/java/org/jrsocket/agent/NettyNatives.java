/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.agent;

import java.util.List;
import java.util.Properties;

/**
 * Keeps frameworks that prefer Netty's native transports to NIO: epoll and io_uring bypass the JDK, so their
 * connections could only be TCP. Netty offers a property for that, which is set before any of its classes is there to
 * read it.
 */
final class NettyNatives {

    /**
     * Netty's own, and those that grpc-netty-shaded, Apache Ratis and Apache Pulsar's clients read: a copy of Netty
     * under another name has another name for the property too. Only of programs that then use NIO: HBase's servers do
     * not ask whether there is epoll, and would not start.
     */
    static final List<String> PROPERTIES = List.of(
            "io.netty.transport.noNative",
            "io.grpc.netty.shaded.io.netty.transport.noNative",
            "org.apache.ratis.thirdparty.io.netty.transport.noNative",
            "org.apache.pulsar.shade.io.netty.transport.noNative");

    /** What a copy's property is called after the name of its packages. */
    static final String SUFFIX = ".transport.noNative";

    private NettyNatives() {}

    /** A value that is there already, {@code false} for one, is the user's choice and stays. */
    static void leaveOut(Properties properties) {
        for (String property : PROPERTIES) {
            properties.putIfAbsent(property, "true");
        }
    }
}
