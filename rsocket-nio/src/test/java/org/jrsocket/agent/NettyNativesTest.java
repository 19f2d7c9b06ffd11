/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.agent;

import static org.junit.jupiter.api.Assertions.assertEquals;

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
        assertEquals("true", properties.getProperty("io.grpc.netty.shaded.io.netty.transport.noNative"));
        assertEquals("true", properties.getProperty("org.apache.ratis.thirdparty.io.netty.transport.noNative"));
        assertEquals("true", properties.getProperty("org.apache.pulsar.shade.io.netty.transport.noNative"));
    }

    @Test
    void shouldLeaveTheChoiceToTheUser() {
        properties.setProperty("io.netty.transport.noNative", "false");
        NettyNatives.leaveOut(properties);
        assertEquals("false", properties.getProperty("io.netty.transport.noNative"));
    }
}
