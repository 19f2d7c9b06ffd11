/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.bench.netty;

import io.netty.bootstrap.Bootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.EventLoopGroup;
import java.io.EOFException;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.concurrent.CompletableFuture;
import org.jrsocket.bench.lab.RoundTrips;

/** Handlers on a channel; a channel for each exchange. The server's end is {@link NettyServer}. */
@SuppressWarnings("FutureReturnValueIgnored") // what fails ends the channel
final class NettyExchange implements Exchange {

    private final Transport transport;
    private final InetSocketAddress server;
    private final EventLoopGroup loop;

    NettyExchange(Transport transport, InetSocketAddress server) {
        this.transport = transport;
        this.server = server;
        this.loop = transport.newLoop();
    }

    @Override
    public void run(RoundTrips trips) throws Exception {
        exchange(new Pings(trips));
    }

    @Override
    public long stream(int size, int count, boolean lend) throws Exception {
        Stream stream = new Stream(size, count, lend);
        exchange(stream);
        return stream.nanos;
    }

    private void exchange(End end) throws Exception {
        Channel channel = new Bootstrap()
                .group(loop)
                .channel(transport.channel)
                .handler(end)
                .connect(server)
                .sync()
                .channel();
        try {
            end.done.get();
        } finally {
            channel.close().sync();
        }
    }

    private abstract static class End extends ChannelInboundHandlerAdapter {
        final CompletableFuture<Void> done = new CompletableFuture<>();

        @Override
        public final void channelRead(ChannelHandlerContext context, Object message) throws IOException {
            ByteBuf bytes = (ByteBuf) message;
            try {
                received(context, bytes);
            } finally {
                bytes.release();
            }
        }

        abstract void received(ChannelHandlerContext context, ByteBuf bytes) throws IOException;

        @Override
        public void channelInactive(ChannelHandlerContext context) {
            done.completeExceptionally(new EOFException("the server ended the connection"));
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
            done.completeExceptionally(cause);
        }
    }

    private static final class Pings extends End {
        private final RoundTrips trips;
        private int at; // of the message that comes back

        Pings(RoundTrips trips) {
            this.trips = trips;
        }

        @Override
        public void channelActive(ChannelHandlerContext context) {
            context.write(NettyServer.request(context.alloc(), NettyServer.ECHO, 0));
            ping(context);
        }

        private void ping(ChannelHandlerContext context) {
            trips.begin();
            context.writeAndFlush(context.alloc().directBuffer(trips.out.length).writeBytes(trips.out));
        }

        @Override
        void received(ChannelHandlerContext context, ByteBuf bytes) throws IOException {
            int n = bytes.readableBytes();
            if (n > trips.in.length - at) {
                throw new IOException("more came back than was sent");
            }
            bytes.readBytes(trips.in, at, n);
            at += n;
            if (at == trips.in.length) {
                at = 0;
                if (trips.end()) {
                    ping(context);
                } else {
                    done.complete(null);
                }
            }
        }
    }

    /** Always the same bytes, from the same memory: filling it is the application's own work. */
    private static final class Stream extends End {
        private final int size;
        private final boolean lend;
        private int left;
        private ByteBuf content;
        private long start;
        private long nanos; // published by done

        Stream(int size, int count, boolean lend) {
            this.size = size;
            this.left = count;
            this.lend = lend;
        }

        @Override
        public void channelActive(ChannelHandlerContext context) {
            content = context.alloc().directBuffer(size).writeZero(size);
            context.write(NettyServer.request(
                    context.alloc(), lend ? NettyServer.SINK_LENT : NettyServer.SINK, (long) size * left));
            start = System.nanoTime();
            send(context);
        }

        @Override
        public void channelWritabilityChanged(ChannelHandlerContext context) {
            send(context);
        }

        private void send(ChannelHandlerContext context) {
            while (left > 0 && context.channel().isWritable()) {
                left--; // before the write, which may call back
                context.writeAndFlush(content.retainedDuplicate());
            }
        }

        @Override
        void received(ChannelHandlerContext context, ByteBuf bytes) {
            nanos = System.nanoTime() - start;
            done.complete(null);
        }

        @Override
        public void handlerRemoved(ChannelHandlerContext context) {
            if (content != null) {
                content.release();
            }
        }
    }
}
