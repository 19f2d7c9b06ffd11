/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.interop.frameworks.traffic;

import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.socket.ChannelInputShutdownEvent;
import io.netty.channel.socket.SocketChannel;
import io.netty.channel.socket.nio.NioChannelOption;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import jdk.net.ExtendedSocketOptions;
import org.jrsocket.netty.RdmaIoHandler;
import org.jrsocket.netty.RdmaServerSocketChannel;
import org.jrsocket.netty.RdmaSocketChannel;

/** The Netty transport. Futures are not looked at where their channel tells of the failure. */
@SuppressWarnings("FutureReturnValueIgnored")
final class NettyKind implements Kind {

    private static final int LOOPS = Integer.getInteger("jrsocket.traffic.loops", 1);

    private EventLoopGroup loops; // guarded by this

    /** Made when they are needed: each has descriptors, of which a client may have few. */
    private synchronized EventLoopGroup loops() {
        if (loops == null) {
            loops = new MultiThreadIoEventLoopGroup(LOOPS, RdmaIoHandler.newFactory());
        }
        return loops;
    }

    @Override
    public int serve(InetSocketAddress address) throws InterruptedException {
        ServerBootstrap server = new ServerBootstrap()
                .group(loops())
                .channel(RdmaServerSocketChannel.class)
                .option(ChannelOption.SO_REUSEADDR, true)
                .childOption(ChannelOption.SO_KEEPALIVE, true)
                .childOption(NioChannelOption.of(ExtendedSocketOptions.TCP_KEEPIDLE), Flow.IDLE_SECONDS)
                .childOption(NioChannelOption.of(ExtendedSocketOptions.TCP_KEEPINTERVAL), Flow.IDLE_SECONDS)
                .childOption(NioChannelOption.of(ExtendedSocketOptions.TCP_KEEPCOUNT), Flow.IDLE_COUNT)
                .childHandler(initializer(Echo::new));
        return ((InetSocketAddress) server.bind(address).sync().channel().localAddress()).getPort();
    }

    private static ChannelInitializer<SocketChannel> initializer(Supplier<ChannelInboundHandlerAdapter> handler) {
        return new ChannelInitializer<>() {
            @Override
            protected void initChannel(SocketChannel channel) {
                channel.pipeline().addLast(handler.get());
            }
        };
    }

    private static final class Echo extends ChannelInboundHandlerAdapter {
        @Override
        public void channelRead(ChannelHandlerContext context, Object message) {
            context.write(message, context.voidPromise());
        }

        @Override
        public void channelReadComplete(ChannelHandlerContext context) {
            context.flush();
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
            System.err.println("netty: " + Flow.withCauses(cause));
            context.close();
        }
    }

    @Override
    public void connect(InetSocketAddress server, Flow flow) {
        new Bootstrap()
                .group(loops())
                .channel(RdmaSocketChannel.class)
                .option(ChannelOption.ALLOW_HALF_CLOSURE, true)
                .option(ChannelOption.SO_KEEPALIVE, true)
                .option(NioChannelOption.of(ExtendedSocketOptions.TCP_KEEPIDLE), Flow.IDLE_SECONDS)
                .option(NioChannelOption.of(ExtendedSocketOptions.TCP_KEEPINTERVAL), Flow.IDLE_SECONDS)
                .option(NioChannelOption.of(ExtendedSocketOptions.TCP_KEEPCOUNT), Flow.IDLE_COUNT)
                .handler(initializer(() -> new Client(flow)))
                .connect(server)
                .addListener(done -> {
                    if (!done.isSuccess()) {
                        flow.failed(done.cause());
                    }
                });
    }

    private static final class Client extends ChannelInboundHandlerAdapter {
        private final Flow flow;

        Client(Flow flow) {
            this.flow = flow;
        }

        @Override
        public void channelActive(ChannelHandlerContext context) {
            flow.opened();
            next(context);
        }

        private void next(ChannelHandlerContext context) {
            if (flow.state() != Flow.State.OPEN) {
                context.close();
                return;
            }
            if (!flow.begin()) {
                ((SocketChannel) context.channel()).shutdownOutput();
                return;
            }
            ByteBuf buffer = context.alloc().directBuffer(Flow.MOST);
            ByteBuffer bytes = buffer.internalNioBuffer(0, Flow.MOST);
            int start = bytes.position();
            flow.take(bytes);
            buffer.writerIndex(bytes.position() - start);
            context.writeAndFlush(buffer).addListener(done -> {
                if (!done.isSuccess()) {
                    flow.failed(done.cause());
                    context.close();
                }
            });
        }

        @Override
        public void channelRead(ChannelHandlerContext context, Object message) {
            ByteBuf buffer = (ByteBuf) message;
            try {
                for (ByteBuffer part : buffer.nioBuffers()) {
                    if (!flow.check(part)) {
                        context.close();
                        return;
                    }
                }
            } finally {
                buffer.release();
            }
            if (flow.isQuiet()) {
                context.executor().schedule(() -> next(context), Flow.PAUSE_MILLIS, TimeUnit.MILLISECONDS);
            }
        }

        @Override
        public void userEventTriggered(ChannelHandlerContext context, Object event) {
            if (event == ChannelInputShutdownEvent.INSTANCE) {
                flow.ended();
                context.close();
            }
        }

        @Override
        public void channelInactive(ChannelHandlerContext context) {
            flow.ended();
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
            flow.failed(cause);
            context.close();
        }
    }
}
