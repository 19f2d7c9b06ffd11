/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.netty;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;

import io.netty.bootstrap.Bootstrap;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelOption;
import io.netty.channel.ConnectTimeoutException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.util.Map;
import java.util.Properties;
import org.jrsocket.connect.Rules;
import org.jrsocket.connect.Settings;
import org.jrsocket.connect.TransportContext;
import org.jrsocket.connect.TransportHolder;
import org.jrsocket.nio.RSelectorProvider;
import org.jrsocket.verbs.loopback.Reachability;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Connects with a time limit, to a host that does not answer over RDMA. */
@Tag("once")
class ConnectTimeoutTest extends ChannelTests {

    private static final String SILENT = "127.0.0.7";

    private ChannelFuture connect(RSelectorProvider of, ServerSocket server, int millis) throws InterruptedException {
        return new Bootstrap()
                .group(loops)
                .channelFactory(() -> new RdmaSocketChannel(of))
                .option(ChannelOption.CONNECT_TIMEOUT_MILLIS, millis)
                .handler(ignoring())
                .connect(server.getLocalSocketAddress())
                .await();
    }

    /** The head start of RDMA is 50 s here. */
    @Test
    void shouldLeaveHalfOfTheTimeToTcp() throws Exception {
        verbs.place(InetAddress.getByName(SILENT), Reachability.SILENT);
        try (ServerSocket server = new ServerSocket(0, 5, InetAddress.getByName(SILENT))) {
            ChannelFuture connected = connect(provider, server, 4000);
            assertNull(connected.cause());
            assertFalse(((RdmaSocketChannel) connected.channel()).isRdma());
            connected.channel().close().sync();
        }
    }

    @Test
    void shouldTellOfATimeoutAsNettyDoesWhereThereIsNoTcp() throws Exception {
        verbs.place(InetAddress.getByName(SILENT), Reachability.SILENT);
        TransportHolder holder = TransportHolder.of(transport);
        RSelectorProvider rdmaOnly = new RSelectorProvider(
                new TransportContext(Settings.read("policy=rdma", new Properties(), Map.of()), Rules.NONE, holder),
                holder);
        try (ServerSocket server = new ServerSocket(0, 5, InetAddress.getByName(SILENT))) {
            ChannelFuture connected = connect(rdmaOnly, server, 100);
            assertEquals(ConnectTimeoutException.class, connected.cause().getClass());
        }
    }
}
