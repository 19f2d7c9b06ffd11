/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.interop.frameworks.netty;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.netty.bootstrap.Bootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.nio.NioSocketChannel;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.lang.management.ManagementFactory;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import javax.management.ObjectName;

/**
 * {@code TimedConnects LOCAL}: connects to echo servers when it is told, with Netty's own time limit. A line of its
 * input is {@code ADDRESS PORT MILLIS TRIES}; ADDRESS {@code self} is a server that it has itself, for classes to be
 * loaded, and 0 milliseconds are no limit. Answers {@code call=N try=K micros=M}, of the try that got through and its
 * time, or {@code call=N failed=WHY}. The line {@code forget} has the agent forget what it remembers of peers, {@code
 * call=N forgotten=COUNT}.
 */
public final class TimedConnects {

    private TimedConnects() {}

    public static void main(String[] args) throws Exception {
        ServerSocket server = new ServerSocket();
        server.bind(new InetSocketAddress(args[0], 0));
        Thread thread = new Thread(() -> echo(server), "self");
        thread.setDaemon(true);
        thread.start();
        EventLoopGroup loops = new MultiThreadIoEventLoopGroup(1, NioIoHandler.newFactory());
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in, UTF_8));
        int call = 0;
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            if (line.equals("forget")) {
                System.out.println("call=" + ++call + " forgotten="
                        + ManagementFactory.getPlatformMBeanServer()
                                .invoke(new ObjectName("org.jrsocket:type=Transport"), "forgetRemembered", null, null));
                continue;
            }
            String[] words = line.split(" ");
            InetSocketAddress to = words[0].equals("self")
                    ? (InetSocketAddress) server.getLocalSocketAddress()
                    : new InetSocketAddress(words[0], Integer.parseInt(words[1]));
            String outcome = call(loops, to, Integer.parseInt(words[2]), Integer.parseInt(words[3]));
            System.out.println("call=" + ++call + ' ' + outcome);
        }
        Future<?> unused = loops.shutdownGracefully();
    }

    private static void echo(ServerSocket server) {
        for (; ; ) {
            try (Socket socket = server.accept()) {
                socket.getOutputStream().write(socket.getInputStream().read());
            } catch (IOException e) {
                System.out.println("self=" + e);
            }
        }
    }

    private static String call(EventLoopGroup loops, InetSocketAddress to, int millis, int tries) throws Exception {
        Throwable last = null;
        for (int i = 1; i <= tries; i++) {
            CompletableFuture<Byte> answer = new CompletableFuture<>();
            long start = System.nanoTime();
            ChannelFuture connect = new Bootstrap()
                    .group(loops)
                    .channel(NioSocketChannel.class)
                    .option(ChannelOption.CONNECT_TIMEOUT_MILLIS, millis)
                    .handler(new ChannelInitializer<Channel>() {
                        @Override
                        protected void initChannel(Channel channel) {
                            channel.pipeline().addLast(new SimpleChannelInboundHandler<ByteBuf>() {
                                @Override
                                protected void channelRead0(ChannelHandlerContext context, ByteBuf bytes) {
                                    answer.complete(bytes.readByte());
                                }

                                @Override
                                public void channelInactive(ChannelHandlerContext context) {
                                    answer.completeExceptionally(new IOException("the connection ended"));
                                }
                            });
                        }
                    })
                    .connect(to)
                    .await();
            if (connect.isSuccess()) {
                long micros = (System.nanoTime() - start) / 1000;
                connect.channel()
                        .writeAndFlush(Unpooled.wrappedBuffer(new byte[] {7}))
                        .sync();
                if (answer.get() == 7) {
                    connect.channel().close().sync();
                    return "try=" + i + " micros=" + micros;
                }
                return "failed=other bytes came back";
            }
            last = connect.cause();
        }
        return "failed=" + last;
    }
}
