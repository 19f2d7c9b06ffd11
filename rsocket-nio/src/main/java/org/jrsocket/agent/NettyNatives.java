/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.agent;

import java.util.List;
import java.util.Map;
import java.util.Properties;

/**
 * Makes frameworks use NIO that prefer Netty's native transports: epoll and io_uring bypass the JDK, so their
 * connections could only be TCP. Netty has a property for that, which is set before any class of Netty is loaded and
 * reads it.
 */
final class NettyNatives {

    /** The name of a copy's property, after the name of its packages. */
    static final String SUFFIX = ".transport.noNative";

    /**
     * The properties of Netty itself, and of copies under another name: grpc-netty-shaded, Apache Ratis, Apache
     * Pulsar's clients, Apache Flink (with that of its ZooKeeper client), Couchbase's client, Apache Fluss and
     * Alluxio's client. Only those of programs that then use NIO.
     */
    static final List<String> PROPERTIES = List.of(
            "io.netty" + SUFFIX,
            "io.grpc.netty.shaded.io.netty" + SUFFIX,
            "org.apache.ratis.thirdparty.io.netty" + SUFFIX,
            "org.apache.pulsar.shade.io.netty" + SUFFIX,
            "org.apache.flink.shaded.netty4.io.netty" + SUFFIX,
            "org.apache.flink.shaded.zookeeper3.io.netty" + SUFFIX,
            "com.couchbase.client.core.deps.io.netty" + SUFFIX,
            "org.apache.fluss.shaded.netty4.io.netty" + SUFFIX,
            "alluxio.shaded.client.io.netty" + SUFFIX);

    /** How to make copies use NIO whose programs do not check whether there is epoll, and fail with the property. */
    static final Map<String, String> OWN_SETTINGS =
            Map.of("org.apache.hbase.thirdparty.io.netty", "HBase's own setting hbase.netty.nativetransport=false");

    private NettyNatives() {}

    /** Sets the properties. A value that is already set, such as {@code false}, is the user's choice and stays. */
    static void leaveOut(Properties properties) {
        for (String property : PROPERTIES) {
            properties.putIfAbsent(property, "true");
        }
    }
}
