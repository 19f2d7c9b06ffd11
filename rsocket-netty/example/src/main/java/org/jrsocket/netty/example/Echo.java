/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.netty.example;

import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import java.net.InetSocketAddress;
import org.jrsocket.netty.RdmaChannelOption;
import org.jrsocket.netty.RdmaIoHandler;
import org.jrsocket.netty.RdmaServerSocketChannel;
import org.jrsocket.netty.RdmaSocketChannel;

/**
 * A server that sends back what it reads, and a client that sends it something: {@code server PORT} or
 * {@code client HOST PORT MEBIBYTES}.
 */
public final class Echo {

    private Echo() {}

    public static void main(String[] args) throws Exception {
        boolean server = args.length == 2 && args[0].equals("server");
        if (!server && !(args.length == 4 && args[0].equals("client") && Integer.parseInt(args[3]) > 0)) {
            System.err.println("server PORT, or client HOST PORT MEBIBYTES");
            System.exit(2);
        }
        EventLoopGroup group = new MultiThreadIoEventLoopGroup(1, RdmaIoHandler.newFactory());
        try {
            if (server) {
                Channel listening = listen(group, Integer.parseInt(args[1]));
                System.out.println("listening=" + ((InetSocketAddress) listening.localAddress()).getPort());
                listening.closeFuture().sync();
            } else {
                System.out.println(send(group, args[1], Integer.parseInt(args[2]), Integer.parseInt(args[3])));
            }
        } finally {
            group.shutdownGracefully().sync(); // its threads keep the JVM alive
        }
    }

    static Channel listen(EventLoopGroup group, int port) throws InterruptedException {
        return new ServerBootstrap()
                .group(group)
                .channel(RdmaServerSocketChannel.class)
                .childOption(RdmaChannelOption.LEND_RECEIVES, true)
                .childHandler(new EchoHandler())
                .bind(port)
                .sync()
                .channel();
    }

    /** Returns what came of it. */
    static String send(EventLoopGroup group, String host, int port, int mebibytes) throws Exception {
        Sender sender = new Sender((long) mebibytes << 20);
        RdmaSocketChannel channel = (RdmaSocketChannel) new Bootstrap()
                .group(group)
                .channel(RdmaSocketChannel.class)
                .option(RdmaChannelOption.LEND_RECEIVES, true)
                .handler(sender)
                .connect(host, port)
                .sync()
                .channel();
        channel.closeFuture().sync();
        return sender.result() + (channel.isRdma() ? " over RDMA" : " over TCP");
    }

    /** Writes what it reads; the channel releases it. */
    @ChannelHandler.Sharable
    @SuppressWarnings("FutureReturnValueIgnored") // as users of Netty write it
    private static final class EchoHandler extends ChannelInboundHandlerAdapter {
        @Override
        public void channelRead(ChannelHandlerContext context, Object message) {
            context.write(message);
        }

        @Override
        public void channelReadComplete(ChannelHandlerContext context) {
            context.flush();
        }

        /** Reads no more than the client takes. */
        @Override
        public void channelWritabilityChanged(ChannelHandlerContext context) {
            context.channel().config().setAutoRead(context.channel().isWritable());
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
            context.close();
        }
    }
}
