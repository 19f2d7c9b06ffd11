/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.netty;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import java.net.InetSocketAddress;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The transport as a program uses it, on a device: nothing is copied, and the device has carried every byte. */
@Tag("device")
@Tag("lab")
class ZeroCopyLabTest {

    private static final int BYTES = 32 << 20;
    private static final int BUFFER = 64 * 1024;

    @Test
    void shouldSendAndReceiveWithoutACopy() throws Exception {
        InetSocketAddress address = new InetSocketAddress(DeviceLab.assumed(), 0);
        Rdma.ensureAvailability();
        EventLoopGroup loops = new MultiThreadIoEventLoopGroup(2, RdmaIoHandler.newFactory());
        Pattern.Checker checker = new Pattern.Checker(BYTES);
        Counted before = Counted.now();
        DeviceLab.bytes("on");
        try {
            Channel server = new ServerBootstrap()
                    .group(loops)
                    .channel(RdmaServerSocketChannel.class)
                    .childOption(RdmaChannelOption.LEND_RECEIVES, true)
                    .childHandler(checker)
                    .bind(address)
                    .sync()
                    .channel();
            RdmaSocketChannel client = (RdmaSocketChannel) new Bootstrap()
                    .group(loops)
                    .channel(RdmaSocketChannel.class)
                    .handler(ChannelTests.ignoring())
                    .connect(server.localAddress())
                    .sync()
                    .channel();
            assertTrue(client.isRdma());
            for (int at = 0; at < BYTES; at += BUFFER) {
                ChannelFuture written =
                        client.writeAndFlush(Pattern.fill(client.alloc().directBuffer(BUFFER), at, BUFFER));
                if (!client.isWritable()) {
                    written.sync();
                }
            }
            checker.await();
            ChannelTests.await(client::holdsNothing, () -> "buffers are still retained");
            client.close().sync();
            long delivered = Long.parseLong(DeviceLab.bytes());
            System.out.println("of " + BYTES + " bytes the device delivered " + delivered + "; " + Rdma.metrics());
            assertTrue(delivered >= BYTES, () -> "the device delivered " + delivered + " bytes");
        } finally {
            DeviceLab.bytes("off");
            loops.shutdownGracefully(0, ChannelTests.PATIENCE, TimeUnit.SECONDS).sync();
        }
        assertEquals(new Counted(0, BYTES, 0, BYTES), Counted.since(before));
    }
}
