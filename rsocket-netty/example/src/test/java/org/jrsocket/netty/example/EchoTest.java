/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.netty.example;

import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.channel.Channel;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import java.net.InetSocketAddress;
import java.util.concurrent.TimeUnit;
import org.jrsocket.netty.Rdma;
import org.jrsocket.netty.RdmaIoHandler;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

class EchoTest {

    @Test
    @Timeout(60)
    void shouldSendBackWhatItReads() throws Exception {
        EventLoopGroup group = new MultiThreadIoEventLoopGroup(1, RdmaIoHandler.newFactory());
        try {
            Channel server = Echo.listen(group, 0);
            int port = ((InetSocketAddress) server.localAddress()).getPort();
            String result = Echo.send(group, "127.0.0.1", port, 8);
            server.close().sync();
            String expected = "8388608 of 8388608 bytes came back, unchanged over ";
            assertTrue(
                    result.equals(expected + "TCP") || Rdma.isAvailable() && result.equals(expected + "RDMA"), result);
        } finally {
            group.shutdownGracefully(0, 30, TimeUnit.SECONDS).sync();
        }
    }
}
