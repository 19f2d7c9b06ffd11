/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.interop.frameworks.netty;

import io.netty.bootstrap.Bootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.SocketChannel;
import io.netty.channel.socket.nio.NioSocketChannel;
import io.netty.handler.codec.http.DefaultFullHttpRequest;
import io.netty.handler.codec.http.HttpClientCodec;
import io.netty.handler.codec.http.HttpContent;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpObject;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.codec.http.LastHttpContent;
import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import java.util.zip.CRC32C;

/**
 * Loads a file several times: with Netty's HTTP codec, on one connection, and with {@code java.net}.
 *
 * <p>{@code FileClient ADDRESS PORT FILE TIMES}. Prints {@code netty=} and {@code url=}, each followed by the bytes
 * received and their CRC32C (over all times), such as {@code netty=1000 0badcafe}.
 */
public final class FileClient extends SimpleChannelInboundHandler<HttpObject> {

    private final Sum sum = new Sum();
    private final byte[] buffer = new byte[1 << 16];
    private volatile CompletableFuture<Void> response;

    private FileClient() {}

    public static void main(String[] args) throws Exception {
        String address = args[0];
        int port = Integer.parseInt(args[1]);
        String file = args[2];
        int times = Integer.parseInt(args[3]);
        System.out.println("netty=" + new FileClient().load(address, port, file, times));
        Sum url = new Sum();
        for (int i = 0; i < times; i++) {
            try (InputStream in = URI.create("http://" + address + ':' + port + '/' + file)
                    .toURL()
                    .openStream()) {
                url.addAll(in);
            }
        }
        System.out.println("url=" + url);
    }

    private Sum load(String address, int port, String file, int times) throws Exception {
        EventLoopGroup loops = new MultiThreadIoEventLoopGroup(1, NioIoHandler.newFactory());
        try {
            Channel channel = new Bootstrap()
                    .group(loops)
                    .channel(NioSocketChannel.class)
                    .handler(new ChannelInitializer<SocketChannel>() {
                        @Override
                        protected void initChannel(SocketChannel channel) {
                            channel.pipeline().addLast(new HttpClientCodec(), FileClient.this);
                        }
                    })
                    .connect(address, port)
                    .sync()
                    .channel();
            for (int i = 0; i < times; i++) {
                CompletableFuture<Void> end = new CompletableFuture<>();
                response = end;
                DefaultFullHttpRequest request =
                        new DefaultFullHttpRequest(HttpVersion.HTTP_1_1, HttpMethod.GET, '/' + file);
                request.headers().set(HttpHeaderNames.HOST, address);
                channel.writeAndFlush(request).sync();
                end.get();
            }
            channel.close().sync();
            return sum;
        } finally {
            Future<?> unused = loops.shutdownGracefully();
        }
    }

    @Override
    protected void channelRead0(ChannelHandlerContext context, HttpObject message) throws IOException {
        if (message instanceof HttpResponse head && head.status().code() != 200) {
            throw new IOException("the server answers " + head.status());
        }
        if (message instanceof HttpContent content) {
            while (content.content().isReadable()) {
                int count = Math.min(buffer.length, content.content().readableBytes());
                content.content().readBytes(buffer, 0, count);
                sum.add(buffer, count);
            }
        }
        if (message instanceof LastHttpContent) {
            response.complete(null);
        }
    }

    @Override
    public void channelInactive(ChannelHandlerContext context) {
        response.completeExceptionally(new IOException("closed by the server"));
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
        response.completeExceptionally(cause);
    }

    private static final class Sum {

        private final CRC32C crc = new CRC32C();
        private long bytes;

        void add(byte[] data, int count) {
            crc.update(data, 0, count);
            bytes += count;
        }

        void addAll(InputStream in) throws IOException {
            byte[] data = new byte[1 << 16];
            for (int count = in.read(data); count >= 0; count = in.read(data)) {
                add(data, count);
            }
        }

        @Override
        public String toString() {
            return String.format("%d %08x", bytes, crc.getValue());
        }
    }
}
