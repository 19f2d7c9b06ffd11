/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.netty;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBufUtil;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelPipeline;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.handler.codec.http.DefaultFullHttpRequest;
import io.netty.handler.codec.http.DefaultFullHttpResponse;
import io.netty.handler.codec.http.FullHttpRequest;
import io.netty.handler.codec.http.FullHttpResponse;
import io.netty.handler.codec.http.HttpClientCodec;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpObjectAggregator;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpServerCodec;
import io.netty.handler.codec.http.HttpUtil;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.codec.http2.Http2FrameCodecBuilder;
import io.netty.handler.codec.http2.Http2MultiplexHandler;
import io.netty.handler.codec.http2.Http2StreamChannel;
import io.netty.handler.codec.http2.Http2StreamChannelBootstrap;
import io.netty.handler.codec.http2.Http2StreamFrameToHttpObjectCodec;
import io.netty.handler.ssl.ApplicationProtocolConfig;
import io.netty.handler.ssl.ApplicationProtocolNames;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslContextBuilder;
import io.netty.handler.ssl.SslHandler;
import io.netty.handler.ssl.SslProvider;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jrsocket.netty.FrameworkBehaviours.Site;

/** A server of Netty's HTTP codecs behind an {@code SslHandler} that sends each body back, and its client. */
@SuppressWarnings("FutureReturnValueIgnored") // what fails shows in what arrives
final class HttpEcho {

    private static final int LARGEST = 1 << 20;

    private final Site site;

    private HttpEcho(Site site) {
        this.site = site;
    }

    /** One request after the other. */
    static long http1(Site site, byte[][] bodies) throws Exception {
        return new HttpEcho(site).http1(bodies);
    }

    /** All requests at once, each in a stream of the same connection. */
    static long http2(Site site, byte[][] bodies) throws Exception {
        return new HttpEcho(site).http2(bodies);
    }

    private long http1(byte[][] bodies) throws Exception {
        Channel server = listen(
                site.certificate().server().sslProvider(SslProvider.JDK),
                pipeline -> pipeline.addLast(new HttpServerCodec(), new HttpObjectAggregator(LARGEST), new Echo()));
        try {
            Answers answers = new Answers();
            Channel client = connect(
                    server,
                    site.certificate().client().sslProvider(SslProvider.JDK),
                    pipeline -> pipeline.addLast(new HttpClientCodec(), new HttpObjectAggregator(LARGEST), answers));
            long bytes = 0;
            for (byte[] body : bodies) {
                client.writeAndFlush(request(client, body)).sync();
                assertArrayEquals(body, answers.next());
                bytes += 2L * body.length;
            }
            client.close().sync();
            return bytes;
        } finally {
            server.close().sync();
        }
    }

    private long http2(byte[][] bodies) throws Exception {
        ChannelInitializer<Channel> eachStream = new ChannelInitializer<>() {
            @Override
            protected void initChannel(Channel stream) {
                stream.pipeline()
                        .addLast(
                                new Http2StreamFrameToHttpObjectCodec(true),
                                new HttpObjectAggregator(LARGEST),
                                new Echo());
            }
        };
        Channel server = listen(
                site.certificate().server().applicationProtocolConfig(http2()),
                pipeline -> pipeline.addLast(
                        Http2FrameCodecBuilder.forServer().build(), new Http2MultiplexHandler(eachStream)));
        try {
            Channel client = connect(
                    server,
                    site.certificate().client().applicationProtocolConfig(http2()),
                    pipeline -> pipeline.addLast(
                            Http2FrameCodecBuilder.forClient().build(),
                            new Http2MultiplexHandler(new ChannelInboundHandlerAdapter())));
            SslHandler tls = client.pipeline().get(SslHandler.class);
            tls.handshakeFuture().sync();
            assertEquals(ApplicationProtocolNames.HTTP_2, tls.applicationProtocol());
            List<Answers> all = new ArrayList<>();
            for (byte[] body : bodies) {
                Answers answers = new Answers();
                all.add(answers);
                Http2StreamChannel stream = open(client, answers);
                stream.writeAndFlush(request(stream, body));
            }
            long bytes = 0;
            for (int i = 0; i < bodies.length; i++) {
                assertArrayEquals(bodies[i], all.get(i).next());
                bytes += 2L * bodies[i].length;
            }
            client.close().sync();
            return bytes;
        } finally {
            server.close().sync();
        }
    }

    private static ApplicationProtocolConfig http2() {
        return new ApplicationProtocolConfig(
                ApplicationProtocolConfig.Protocol.ALPN,
                ApplicationProtocolConfig.SelectorFailureBehavior.NO_ADVERTISE,
                ApplicationProtocolConfig.SelectedListenerFailureBehavior.ACCEPT,
                ApplicationProtocolNames.HTTP_2);
    }

    private static Http2StreamChannel open(Channel connection, Answers answers) throws InterruptedException {
        return new Http2StreamChannelBootstrap(connection)
                .handler(new ChannelInitializer<Channel>() {
                    @Override
                    protected void initChannel(Channel stream) {
                        stream.pipeline()
                                .addLast(
                                        new Http2StreamFrameToHttpObjectCodec(false),
                                        new HttpObjectAggregator(LARGEST),
                                        answers);
                    }
                })
                .open()
                .sync()
                .getNow();
    }

    private Channel listen(SslContextBuilder keys, Consumer<ChannelPipeline> protocol) throws Exception {
        SslContext tls = keys.build();
        return new ServerBootstrap()
                .group(site.loops())
                .channelFactory(site.servers())
                .childOption(RdmaChannelOption.LEND_RECEIVES, site.lendReceives())
                .childHandler(new ChannelInitializer<Channel>() {
                    @Override
                    protected void initChannel(Channel channel) {
                        channel.pipeline().addLast(tls.newHandler(channel.alloc()));
                        protocol.accept(channel.pipeline());
                    }
                })
                .bind(site.any())
                .sync()
                .channel();
    }

    private Channel connect(Channel server, SslContextBuilder trust, Consumer<ChannelPipeline> protocol)
            throws Exception {
        SslContext tls = trust.build();
        int port = ((InetSocketAddress) server.localAddress()).getPort();
        return new Bootstrap()
                .group(site.loops())
                .channelFactory(site.clients())
                .option(RdmaChannelOption.LEND_RECEIVES, site.lendReceives())
                .handler(new ChannelInitializer<Channel>() {
                    @Override
                    protected void initChannel(Channel channel) {
                        channel.pipeline().addLast(tls.newHandler(channel.alloc(), site.address(), port));
                        protocol.accept(channel.pipeline());
                    }
                })
                .connect(site.address(), port)
                .sync()
                .channel();
    }

    private FullHttpRequest request(Channel channel, byte[] body) {
        FullHttpRequest request = new DefaultFullHttpRequest(
                HttpVersion.HTTP_1_1,
                HttpMethod.POST,
                "/",
                channel.alloc().directBuffer(body.length).writeBytes(body));
        request.headers().set(HttpHeaderNames.HOST, site.address());
        HttpUtil.setContentLength(request, body.length);
        return request;
    }

    private static final class Echo extends SimpleChannelInboundHandler<FullHttpRequest> {
        @Override
        protected void channelRead0(ChannelHandlerContext context, FullHttpRequest request) {
            FullHttpResponse response = new DefaultFullHttpResponse(
                    HttpVersion.HTTP_1_1,
                    HttpResponseStatus.OK,
                    request.content().retain());
            HttpUtil.setContentLength(response, response.content().readableBytes());
            context.writeAndFlush(response);
        }
    }

    /** What the server answers, or why it does not. */
    private static final class Answers extends SimpleChannelInboundHandler<FullHttpResponse> {
        private final BlockingQueue<Object> come = new LinkedBlockingQueue<>();

        @Override
        protected void channelRead0(ChannelHandlerContext context, FullHttpResponse response) {
            come.add(ByteBufUtil.getBytes(response.content()));
        }

        @Override
        public void channelInactive(ChannelHandlerContext context) {
            come.add(new IOException("closed"));
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
            come.add(cause);
        }

        byte[] next() throws InterruptedException {
            Object next = come.poll(FrameworkBehaviours.PATIENCE.toSeconds(), TimeUnit.SECONDS);
            if (next instanceof byte[] body) {
                return body;
            }
            throw new AssertionError(next instanceof Throwable cause ? cause : new IOException("no answer"));
        }
    }
}
