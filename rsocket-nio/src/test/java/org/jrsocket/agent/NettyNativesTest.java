/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.agent;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.List;
import java.util.Properties;
import org.junit.jupiter.api.Test;

class NettyNativesTest {

    private final Properties properties = new Properties();

    @Test
    void shouldHaveNettyUseNio() {
        NettyNatives.leaveOut(properties);
        for (String property : NettyNatives.PROPERTIES) {
            assertEquals("true", properties.getProperty(property));
        }
    }

    @Test
    void shouldHaveRenamedCopiesOfNettyUseNio() {
        NettyNatives.leaveOut(properties);
        for (String copy : List.of(
                "io.grpc.netty.shaded.io.netty",
                "org.apache.ratis.thirdparty.io.netty",
                "org.apache.pulsar.shade.io.netty",
                "org.apache.flink.shaded.netty4.io.netty",
                "org.apache.flink.shaded.zookeeper3.io.netty",
                "com.couchbase.client.core.deps.io.netty",
                "org.apache.fluss.shaded.netty4.io.netty",
                "alluxio.shaded.client.io.netty")) {
            assertEquals("true", properties.getProperty(copy + ".transport.noNative"), copy);
        }
    }

    @Test
    void shouldLeaveTheChoiceToTheUser() {
        properties.setProperty("io.netty.transport.noNative", "false");
        NettyNatives.leaveOut(properties);
        assertEquals("false", properties.getProperty("io.netty.transport.noNative"));
    }
}
