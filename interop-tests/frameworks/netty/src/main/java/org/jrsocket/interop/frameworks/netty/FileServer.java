/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.interop.frameworks.netty;

import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.DefaultFileRegion;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.SocketChannel;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.handler.codec.http.DefaultFullHttpResponse;
import io.netty.handler.codec.http.DefaultHttpResponse;
import io.netty.handler.codec.http.FullHttpRequest;
import io.netty.handler.codec.http.HttpObjectAggregator;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpServerCodec;
import io.netty.handler.codec.http.HttpUtil;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.codec.http.LastHttpContent;
import java.io.File;
import java.net.InetSocketAddress;
import java.nio.file.Path;

/**
 * Sends the files of a folder with {@code FileChannel.transferTo}.
 *
 * <p>{@code FileServer ADDRESS FOLDER}. Prints {@code listening=PORT} and runs until it is killed.
 */
public final class FileServer {

    private FileServer() {}

    public static void main(String[] args) throws Exception {
        Path folder = Path.of(args[1]);
        EventLoopGroup loops = new MultiThreadIoEventLoopGroup(NioIoHandler.newFactory());
        InetSocketAddress bound = (InetSocketAddress) new ServerBootstrap()
                .group(loops)
                .channel(NioServerSocketChannel.class)
                .childHandler(new ChannelInitializer<SocketChannel>() {
                    @Override
                    protected void initChannel(SocketChannel channel) {
                        channel.pipeline()
                                .addLast(new HttpServerCodec(), new HttpObjectAggregator(65536), new Sender(folder));
                    }
                })
                .bind(args[0], 0)
                .sync()
                .channel()
                .localAddress();
        System.out.println("listening=" + bound.getPort());
    }

    @SuppressWarnings("FutureReturnValueIgnored") // as users of Netty write it
    private static final class Sender extends SimpleChannelInboundHandler<FullHttpRequest> {

        private final Path folder;

        Sender(Path folder) {
            this.folder = folder;
        }

        @Override
        protected void channelRead0(ChannelHandlerContext context, FullHttpRequest request) {
            File file = folder.resolve(request.uri().substring(1)).toFile();
            boolean keepAlive = HttpUtil.isKeepAlive(request);
            if (!file.isFile()) {
                HttpResponse missing = new DefaultFullHttpResponse(HttpVersion.HTTP_1_1, HttpResponseStatus.NOT_FOUND);
                HttpUtil.setContentLength(missing, 0);
                HttpUtil.setKeepAlive(missing, keepAlive);
                context.writeAndFlush(missing);
                return;
            }
            HttpResponse response = new DefaultHttpResponse(HttpVersion.HTTP_1_1, HttpResponseStatus.OK);
            HttpUtil.setContentLength(response, file.length());
            HttpUtil.setKeepAlive(response, keepAlive);
            context.write(response);
            context.write(new DefaultFileRegion(file, 0, file.length()));
            var sent = context.writeAndFlush(LastHttpContent.EMPTY_LAST_CONTENT);
            if (!keepAlive) {
                sent.addListener(ChannelFutureListener.CLOSE);
            }
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
            cause.printStackTrace();
            context.close();
        }
    }
}
