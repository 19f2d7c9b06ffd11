/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.netty;

import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.EventLoop;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.util.concurrent.DefaultThreadFactory;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.net.InetSocketAddress;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import org.jrsocket.connect.Rules;
import org.jrsocket.connect.Settings;
import org.jrsocket.connect.TransportContext;
import org.jrsocket.connect.TransportHolder;
import org.jrsocket.nio.RSelectorProvider;
import org.jrsocket.stream.RdmaTransport;
import org.jrsocket.verbs.loopback.LoopbackConfig;
import org.jrsocket.verbs.loopback.LoopbackProvider;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;

/** Tests of our channels over loopback verbs; afterwards everything must be given back. */
@SuppressWarnings("FutureReturnValueIgnored") // what fails shows in what arrives
abstract class ChannelTests {

    /** Seconds; only what hangs takes as long. */
    static final int PATIENCE = 60;

    private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();

    LoopbackProvider verbs;
    RdmaTransport transport;
    RSelectorProvider provider;
    EventLoopGroup loops;
    private final BlockingQueue<RdmaSocketChannel> accepted = new LinkedBlockingQueue<>();

    /** Two ends of one connection. */
    record Pair(RdmaSocketChannel client, RdmaSocketChannel server) {}

    @BeforeEach
    void open() throws Exception {
        verbs = new LoopbackProvider(new LoopbackConfig().cmTimeoutMillis(30_000));
        transport = RdmaTransport.over(verbs);
        TransportHolder holder = TransportHolder.of(transport);
        Settings settings =
                Settings.read("policy=auto,memory.rejected=0,connect.timeout=50s", new Properties(), Map.of());
        provider = new RSelectorProvider(new TransportContext(settings, Rules.NONE, holder), holder);
        loops = new MultiThreadIoEventLoopGroup(
                2, new DefaultThreadFactory("netty", true), RdmaIoHandler.newFactory(provider));
    }

    @AfterEach
    void everythingIsGivenBack() throws Exception {
        loops.shutdownGracefully(0, PATIENCE, TimeUnit.SECONDS).sync();
        transport.close();
        verbs.assertClean();
        verbs.close();
    }

    /** A server whose connections {@link #accepted} gives; they have {@code handler}. */
    Channel listen(Supplier<ChannelHandler> handler) throws InterruptedException {
        return new ServerBootstrap()
                .group(loops)
                .channelFactory(() -> new RdmaServerSocketChannel(provider))
                .childHandler(new ChannelInitializer<RdmaSocketChannel>() {
                    @Override
                    protected void initChannel(RdmaSocketChannel channel) {
                        configure(channel);
                        channel.pipeline().addLast(handler.get());
                        accepted.add(channel);
                    }
                })
                .bind(new InetSocketAddress("127.0.0.1", 0))
                .sync()
                .channel();
    }

    RdmaSocketChannel accepted() throws InterruptedException {
        RdmaSocketChannel channel = accepted.poll(PATIENCE, TimeUnit.SECONDS);
        assertTrue(channel != null, "nothing was accepted");
        return channel;
    }

    /** For what each channel of a test is to have. */
    void configure(RdmaSocketChannel channel) {}

    RdmaSocketChannel connect(Channel server, ChannelHandler handler) throws InterruptedException {
        return (RdmaSocketChannel) new Bootstrap()
                .group(loops)
                .channelFactory(() -> {
                    RdmaSocketChannel channel = new RdmaSocketChannel(provider);
                    configure(channel);
                    return channel;
                })
                .handler(handler)
                .connect(server.localAddress())
                .sync()
                .channel();
    }

    Pair pair(ChannelHandler client, ChannelHandler server) throws InterruptedException {
        Channel listener = listen(() -> server);
        RdmaSocketChannel connected = connect(listener, client);
        Pair pair = new Pair(connected, accepted());
        listener.close().sync();
        assertTrue(pair.client.isRdma() && pair.server.isRdma(), "not over RDMA");
        return pair;
    }

    /** Drops what comes. */
    static ChannelHandler ignoring() {
        return new ChannelInboundHandlerAdapter() {
            @Override
            public void channelRead(ChannelHandlerContext context, Object message) {
                ((ByteBuf) message).release();
            }

            @Override
            public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
                context.close();
            }
        };
    }

    static void await(BooleanSupplier condition, Supplier<String> what) throws InterruptedException {
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(PATIENCE);
        while (!condition.getAsBoolean()) {
            assertTrue(System.nanoTime() - deadline < 0, what);
            Thread.sleep(1);
        }
    }

    /** Ends when a loop that has nothing to do uses next to no processor time; the time limit ends it otherwise. */
    static void awaitRest(EventLoop loop) throws Exception {
        long thread = loop.submit(() -> Thread.currentThread().getId()).get();
        long used;
        do {
            long before = THREADS.getThreadCpuTime(thread);
            Thread.sleep(200);
            used = THREADS.getThreadCpuTime(thread) - before;
        } while (used > TimeUnit.MILLISECONDS.toNanos(10));
    }
}
