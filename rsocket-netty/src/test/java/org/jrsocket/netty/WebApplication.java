/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.netty;

import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.util.concurrent.DefaultThreadFactory;
import io.netty.util.concurrent.GlobalEventExecutor;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.Callable;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.jrsocket.connect.Rules;
import org.jrsocket.connect.RulesFile;
import org.jrsocket.connect.Settings;
import org.jrsocket.connect.TransportContext;
import org.jrsocket.connect.TransportHolder;
import org.jrsocket.nio.OwnTransport;
import org.jrsocket.nio.RSelectorProvider;
import org.jrsocket.verbs.loopback.LoopbackProvider;

/** One that serves and connects, on the transport of its {@link ApplicationLoader}. */
@SuppressWarnings("FutureReturnValueIgnored") // what fails shows in what arrives
abstract class WebApplication implements Callable<String> {

    static final InetSocketAddress HERE = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);

    /** Which verbs an application has. */
    enum Verbs {
        /** Those of the host, if any. */
        HOST,
        /** Verbs within the JVM, as if the transport had opened them. */
        OWN,
        /** The same, from somebody else, as the agent brings its own. */
        BROUGHT
    }

    /** Null with the verbs of the host. */
    final TransportHolder holder;

    private final BlockingQueue<Integer> arrived = new LinkedBlockingQueue<>();

    WebApplication(Verbs verbs) throws Exception {
        holder = verbs == Verbs.HOST ? null : TransportHolder.opening(LoopbackProvider::new);
        if (holder == null) {
            return;
        }
        TransportContext context = new TransportContext(
                Settings.read("policy=auto,connect.timeout=50s", new Properties(), Map.of()), rules(), holder);
        if (verbs == Verbs.OWN) {
            OwnTransport.share(context, holder);
        } else {
            RSelectorProvider.share(context, holder);
        }
    }

    /** With a name that is looked up again, in the background. */
    private static Rules rules() throws Exception {
        Path file = Files.createTempFile("rules", null);
        try {
            return RulesFile.load(Files.writeString(file, "connect no-such-host.invalid 1 tcp\n"));
        } finally {
            Files.delete(file);
        }
    }

    static EventLoopGroup loops() {
        return new MultiThreadIoEventLoopGroup(1, new DefaultThreadFactory("app"), RdmaIoHandler.newFactory());
    }

    static void end(EventLoopGroup loops) throws InterruptedException {
        loops.shutdownGracefully(0, ChannelTests.PATIENCE, TimeUnit.SECONDS).sync();
        if (!GlobalEventExecutor.INSTANCE.awaitInactivity(ChannelTests.PATIENCE, TimeUnit.SECONDS)) {
            throw new IllegalStateException("Netty's own thread goes on");
        }
    }

    /** A server that takes note of what arrives. */
    Channel server(EventLoopGroup loops) throws InterruptedException {
        return new ServerBootstrap()
                .group(loops)
                .channel(RdmaServerSocketChannel.class)
                .childHandler(new ChannelInboundHandlerAdapter() {
                    @Override
                    public boolean isSharable() {
                        return true;
                    }

                    @Override
                    public void channelRead(ChannelHandlerContext context, Object message) {
                        arrived.add(((ByteBuf) message).readableBytes());
                        ((ByteBuf) message).release();
                    }

                    @Override
                    public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
                        context.close();
                    }
                })
                .bind(HERE)
                .sync()
                .channel();
    }

    static Bootstrap client(EventLoopGroup loops, Class<? extends Channel> type) {
        return new Bootstrap().group(loops).channel(type).handler(new ChannelInboundHandlerAdapter() {
            @Override
            public boolean isSharable() {
                return true;
            }

            @Override
            public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
                context.close();
            }
        });
    }

    /** Sends the server something, which arrives there. */
    void send(Channel client) throws InterruptedException {
        client.writeAndFlush(client.alloc().directBuffer(8192).writeZero(8192));
        for (int left = 8192; left > 0; ) {
            Integer bytes = arrived.poll(ChannelTests.PATIENCE, TimeUnit.SECONDS);
            if (bytes == null) {
                throw new IllegalStateException("nothing arrives");
            }
            left -= bytes;
        }
    }
}
