/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.bench.netty;

import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import java.net.InetSocketAddress;
import org.jrsocket.netty.RdmaChannelOption;

/**
 * The server of {@link NettyExchange}. Each connection begins with a request: a byte that says what is wanted, and how
 * many bytes there will be.
 */
@SuppressWarnings("FutureReturnValueIgnored") // what fails ends the channel
final class NettyServer {

    /** Everything that comes is sent back. */
    static final byte ECHO = 'E';
    /** Bytes are taken; when all are there, one is answered. */
    static final byte SINK = 'S';
    /** The same, read where the device has put them. */
    static final byte SINK_LENT = 'L';

    private static final int REQUEST = 1 + Long.BYTES;

    private NettyServer() {}

    static ByteBuf request(ByteBufAllocator allocator, byte what, long bytes) {
        return allocator.directBuffer(REQUEST).writeByte(what).writeLong(bytes);
    }

    /** Returns the port. */
    static int start(Transport transport, InetSocketAddress address) throws InterruptedException {
        Channel channel = new ServerBootstrap()
                .group(transport.newLoop(), transport.newLoop())
                .channel(transport.serverChannel)
                .childHandler(new ChannelInitializer<Channel>() {
                    @Override
                    protected void initChannel(Channel accepted) {
                        accepted.pipeline().addLast(new Beginning());
                    }
                })
                .bind(address)
                .sync()
                .channel();
        return ((InetSocketAddress) channel.localAddress()).getPort();
    }

    private static class Failing extends ChannelInboundHandlerAdapter {
        @Override
        public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
            cause.printStackTrace(); // whoever started this program reads it
            context.close();
        }
    }

    /** Takes the request, and leaves the rest to the handler for it. */
    private static final class Beginning extends Failing {
        private ByteBuf request;

        @Override
        public void handlerAdded(ChannelHandlerContext context) {
            request = context.alloc().heapBuffer(REQUEST, REQUEST);
        }

        @Override
        public void handlerRemoved(ChannelHandlerContext context) {
            request.release();
        }

        @Override
        public void channelRead(ChannelHandlerContext context, Object message) {
            ByteBuf bytes = (ByteBuf) message;
            bytes.readBytes(request, Math.min(request.writableBytes(), bytes.readableBytes()));
            if (request.isWritable()) {
                bytes.release();
                return;
            }
            byte what = request.readByte();
            long count = request.readLong();
            switch (what) {
                case ECHO -> context.pipeline().addLast(new Echo());
                case SINK_LENT, SINK -> {
                    if (what == SINK_LENT) {
                        context.channel().config().setOption(RdmaChannelOption.LEND_RECEIVES, true);
                    }
                    context.pipeline().addLast(new Sink(count));
                }
                default -> throw new IllegalArgumentException("a client asked for '" + (char) what + "'");
            }
            context.fireChannelRead(bytes);
            context.pipeline().remove(this);
        }
    }

    private static final class Echo extends Failing {
        @Override
        public void channelRead(ChannelHandlerContext context, Object message) {
            context.write(message);
        }

        @Override
        public void channelReadComplete(ChannelHandlerContext context) {
            context.flush();
        }
    }

    private static final class Sink extends Failing {
        private long left;

        Sink(long bytes) {
            left = bytes;
        }

        @Override
        public void channelRead(ChannelHandlerContext context, Object message) {
            ByteBuf bytes = (ByteBuf) message;
            left -= bytes.readableBytes();
            bytes.release();
            if (left == 0) {
                context.writeAndFlush(context.alloc().directBuffer(1).writeByte(0));
            }
        }
    }
}
