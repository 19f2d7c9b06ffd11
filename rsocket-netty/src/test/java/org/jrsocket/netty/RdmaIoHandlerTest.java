/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.netty;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.channel.IoEventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandle;
import io.netty.channel.nio.NioIoHandler;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** What a program can ask an event loop group of this transport. */
class RdmaIoHandlerTest {

    @Test
    void shouldBeTheKindOfHandlerThatItsGroupHas() throws Exception {
        IoEventLoopGroup group = new MultiThreadIoEventLoopGroup(1, RdmaIoHandler.newFactory());
        try {
            assertTrue(group.isIoType(RdmaIoHandler.class));
            assertFalse(group.isIoType(NioIoHandler.class));
            assertTrue(group.isCompatible(NioIoHandle.class), "Netty's NIO channels are served, too");
        } finally {
            assertTrue(group.shutdownGracefully(0, 0, TimeUnit.SECONDS).await(60, TimeUnit.SECONDS));
        }
    }
}
