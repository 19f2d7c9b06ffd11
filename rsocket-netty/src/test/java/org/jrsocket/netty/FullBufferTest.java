/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.netty;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.PooledByteBufAllocator;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoop;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.WriteBufferWaterMark;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.SocketChannel;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.channel.socket.nio.NioSocketChannel;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * What a program hears that does something in a callback while its writes wait for a peer that reads late: of Netty's
 * channels, and of ours.
 */
@Tag("once")
@Timeout(2 * ChannelTests.PATIENCE)
@SuppressWarnings("FutureReturnValueIgnored") // what fails shows in what is told
class FullBufferTest extends ChannelTests {

    /** So many that no socket takes all of them. */
    private static final int TOTAL = 32 << 20;

    /** What is done as soon as the channel is writable again, and the last that is heard then: else all is written. */
    private enum Action {
        NOTHING(null),
        CLOSE("inactive"),
        CLOSE_AND_LINGER("inactive"),
        RESET("inactive"),
        FORCIBLY("written java.nio.channels.ClosedChannelException"),
        SHUTDOWN_OUTPUT("ChannelInputShutdownReadComplete"),
        SHUTDOWN("ChannelInputShutdownReadComplete"),
        DEREGISTER(null),
        WRITE_MORE("WRITE_MORE null"),
        DISCONNECT("inactive");

        final String last;

        Action(String last) {
            this.last = last;
        }
    }

    /** What is heard; the same several times in a row counts once. */
    private static final class Told {
        private final List<String> all = new ArrayList<>();

        synchronized void add(String event) {
            if (all.isEmpty() || !all.get(all.size() - 1).equals(event)) {
                all.add(event);
            }
        }

        synchronized boolean has(String event) {
            return all.contains(event);
        }

        @Override
        public synchronized String toString() {
            return all.toString();
        }
    }

    @ParameterizedTest
    @EnumSource
    void shouldTellWhatNettysOwnTellsOfLentBuffers(Action action) throws Exception {
        compare(action, RdmaByteBufAllocator.DEFAULT, 1 << 16);
    }

    @ParameterizedTest
    @EnumSource
    void shouldTellWhatNettysOwnTellsOfSmallBuffers(Action action) throws Exception {
        compare(action, PooledByteBufAllocator.DEFAULT, 3000);
    }

    private void compare(Action action, ByteBufAllocator allocator, int size) throws Exception {
        assertEquals(told(false, action, allocator, size), told(true, action, allocator, size));
    }

    private static final class Client extends ChannelInboundHandlerAdapter {
        private final Told told;
        private final Action action;
        private final EventLoopGroup group;
        private boolean done;

        Client(Told told, Action action, EventLoopGroup group) {
            this.told = told;
            this.action = action;
            this.group = group;
        }

        @Override
        public void channelWritabilityChanged(ChannelHandlerContext context) {
            boolean writable = context.channel().isWritable();
            if (done) {
                return; // how often depends on how much the socket takes
            }
            told.add("writable " + writable);
            if (writable) {
                done = true;
                act(context.channel());
            }
        }

        private void act(Channel channel) {
            switch (action) {
                case CLOSE -> told(channel.close());
                case CLOSE_AND_LINGER -> {
                    channel.config().setOption(ChannelOption.SO_LINGER, 10);
                    told(channel.close());
                }
                case RESET -> {
                    channel.config().setOption(ChannelOption.SO_LINGER, 0);
                    told(channel.close());
                }
                case FORCIBLY -> channel.unsafe().closeForcibly();
                case SHUTDOWN_OUTPUT -> told(((SocketChannel) channel).shutdownOutput());
                case SHUTDOWN -> told(((SocketChannel) channel).shutdown());
                case DEREGISTER -> moveAfterWhatIsQueued(channel);
                case WRITE_MORE ->
                    told(channel.writeAndFlush(channel.alloc().directBuffer(1).writeByte(1)));
                case DISCONNECT -> told(channel.disconnect());
                default -> {}
            }
        }

        /** Netty's own may have queued a flush, which must not run beside the loop that has the channel then. */
        private void moveAfterWhatIsQueued(Channel channel) {
            EventLoop old = channel.eventLoop();
            channel.deregister()
                    .addListener(over ->
                            old.execute(() -> group.next().register(channel).addListener(again -> channel.flush())));
        }

        private void told(ChannelFuture future) {
            future.addListener(over -> told.add(action + " " + over.cause()));
        }

        @Override
        public void userEventTriggered(ChannelHandlerContext context, Object event) {
            told.add(event.getClass().getSimpleName());
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
            told.add(cause.toString());
        }

        @Override
        public void channelInactive(ChannelHandlerContext context) {
            told.add("inactive");
        }
    }

    private String told(boolean ours, Action action, ByteBufAllocator allocator, int size) throws Exception {
        EventLoopGroup group = ours ? loops : new MultiThreadIoEventLoopGroup(2, NioIoHandler.newFactory());
        BlockingQueue<Channel> accepted = new LinkedBlockingQueue<>();
        AtomicLong received = new AtomicLong();
        Channel server = new ServerBootstrap()
                .group(group)
                .channelFactory(() -> ours ? new RdmaServerSocketChannel(provider) : new NioServerSocketChannel())
                .childOption(ChannelOption.AUTO_READ, false)
                .childHandler(new ChannelInitializer<>() {
                    @Override
                    protected void initChannel(Channel channel) {
                        channel.pipeline().addLast(new ChannelInboundHandlerAdapter() {
                            @Override
                            public void channelRead(ChannelHandlerContext context, Object message) {
                                received.addAndGet(((ByteBuf) message).readableBytes());
                                ((ByteBuf) message).release();
                            }

                            @Override
                            public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
                                context.close();
                            }
                        });
                        accepted.add(channel);
                    }
                })
                .bind(new InetSocketAddress("127.0.0.1", 0))
                .sync()
                .channel();
        Told told = new Told();
        Channel client = new Bootstrap()
                .group(group)
                .channelFactory(() -> ours ? new RdmaSocketChannel(provider) : new NioSocketChannel())
                .option(ChannelOption.ALLOW_HALF_CLOSURE, true)
                .option(ChannelOption.WRITE_BUFFER_WATER_MARK, new WriteBufferWaterMark(TOTAL / 2, TOTAL / 2))
                .handler(new Client(told, action, group))
                .connect(server.localAddress())
                .sync()
                .channel();
        List<ByteBuf> all = new ArrayList<>();
        for (int i = 0; i < TOTAL / size; i++) {
            all.add(allocator.directBuffer(size).writeZero(size));
        }
        client.eventLoop().execute(() -> {
            for (ByteBuf each : all) {
                client.write(each).addListener(done -> {
                    // How many are written when depends on how much the socket takes, and whether the rest is, while
                    // another thread closes it, on that thread.
                    if (done.cause() != null && action != Action.CLOSE_AND_LINGER) {
                        told.add("written " + done.cause());
                    }
                });
            }
            client.flush();
        });
        client.eventLoop().submit(() -> {}).sync();
        Channel peer = accepted.poll(PATIENCE, TimeUnit.SECONDS);
        peer.config().setAutoRead(true);
        await(
                () -> action.last == null ? received.get() == (long) all.size() * size : told.has(action.last),
                () -> received + " bytes, " + told);
        await(() -> all.stream().allMatch(each -> each.refCnt() == 0), () -> "some are retained: " + told);
        client.eventLoop().submit(() -> {}).sync();
        String heard = told.toString();
        client.close().sync();
        server.close().sync();
        if (!ours) {
            group.shutdownGracefully(0, PATIENCE, TimeUnit.SECONDS).sync();
        }
        return heard;
    }

    /** A loop that tried again and again would use up a processor. */
    @ParameterizedTest
    @CsvSource({"3000, true", "65536, true", "65536, false"})
    void shouldRestUntilThePeerReads(int size, boolean lendable) throws Exception {
        ByteBufAllocator allocator = lendable ? RdmaByteBufAllocator.DEFAULT : PooledByteBufAllocator.DEFAULT;
        int total = TOTAL / size * size;
        Pattern.Checker checker = new Pattern.Checker(total);
        Pair pair = pair(ignoring(), checker);
        pair.server().config().setAutoRead(false);
        ChannelFuture last = null;
        for (int at = 0; at < total; at += size) {
            last = pair.client().write(Pattern.fill(allocator.directBuffer(size), at, size));
        }
        pair.client().flush();
        pair.client().eventLoop().submit(() -> {}).sync();
        awaitRest(pair.client().eventLoop());
        assertFalse(last.isDone());
        pair.server().config().setAutoRead(true);
        last.sync();
        checker.await();
    }
}
