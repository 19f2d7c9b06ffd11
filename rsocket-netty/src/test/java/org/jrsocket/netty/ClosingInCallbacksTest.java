/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.netty;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.netty.buffer.UnpooledDirectByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.DefaultFileRegion;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.FixedRecvByteBufAllocator;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.RecvByteBufAllocator;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.channel.socket.nio.NioSocketChannel;
import io.netty.util.concurrent.GlobalEventExecutor;
import java.io.File;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ScatteringByteChannel;
import java.nio.channels.WritableByteChannel;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What a program hears that closes a channel in the middle of something: of Netty's channels, and of ours. */
@Tag("once")
@Timeout(2 * ChannelTests.PATIENCE)
@SuppressWarnings("FutureReturnValueIgnored") // what fails shows in what is told
class ClosingInCallbacksTest extends ChannelTests {

    private final List<String> told = Collections.synchronizedList(new ArrayList<>());

    /** Tells of all that it hears. */
    private class Teller extends ChannelInboundHandlerAdapter {
        @Override
        public void channelRead(ChannelHandlerContext context, Object message) {
            told.add("read " + ((ByteBuf) message).readableBytes());
            ((ByteBuf) message).release();
        }

        @Override
        public void channelReadComplete(ChannelHandlerContext context) {
            told.add("read complete");
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

        @Override
        public void channelUnregistered(ChannelHandlerContext context) {
            told.add("unregistered");
        }
    }

    /** Does something with a client and its peer. Returns what was told until the client was unregistered. */
    private List<String> told(boolean ours, ChannelHandler handler, Script script) throws Exception {
        told.clear();
        EventLoopGroup group = ours ? loops : new MultiThreadIoEventLoopGroup(1, NioIoHandler.newFactory());
        BlockingQueue<Channel> accepted = new LinkedBlockingQueue<>();
        Channel server = new ServerBootstrap()
                .group(group)
                .channelFactory(() -> ours ? new RdmaServerSocketChannel(provider) : new NioServerSocketChannel())
                .childHandler(new ChannelInitializer<>() {
                    @Override
                    protected void initChannel(Channel channel) {
                        channel.pipeline().addLast(ignoring());
                        accepted.add(channel);
                    }
                })
                .bind(new InetSocketAddress("127.0.0.1", 0))
                .sync()
                .channel();
        Channel client = new Bootstrap()
                .group(group)
                .channelFactory(() -> ours ? new RdmaSocketChannel(provider) : new NioSocketChannel())
                .handler(handler)
                .connect(server.localAddress())
                .sync()
                .channel();
        Channel peer = accepted.poll(PATIENCE, TimeUnit.SECONDS);
        script.run(client, peer);
        await(() -> told.contains("unregistered"), told::toString);
        client.closeFuture().sync();
        peer.close().sync();
        server.close().sync();
        if (!ours) {
            group.shutdownGracefully(0, PATIENCE, TimeUnit.SECONDS).sync();
        }
        return List.copyOf(told);
    }

    private interface Script {
        void run(Channel client, Channel peer) throws Exception;
    }

    // ---- a close that lingers ----

    private CountDownLatch mayClose;

    /** Netty closes in another thread then: here in the middle of the read that follows. */
    private final class SlowBuffer extends UnpooledDirectByteBuf {
        private final Channel closed;

        SlowBuffer(Channel closed) {
            super(UnpooledByteBufAllocator.DEFAULT, 100, 100);
            this.closed = closed;
        }

        /** Netty's reads. */
        @Override
        public int setBytes(int index, ScatteringByteChannel in, int length) throws IOException {
            awaitClose();
            return super.setBytes(index, in, length);
        }

        /** Ours. */
        @Override
        public ByteBuffer internalNioBuffer(int index, int length) {
            awaitClose();
            return super.internalNioBuffer(index, length);
        }

        private void awaitClose() {
            mayClose.countDown();
            long start = System.nanoTime();
            while (!closed.closeFuture().isDone() && System.nanoTime() - start < TimeUnit.SECONDS.toNanos(PATIENCE)) {
                Thread.onSpinWait();
            }
        }
    }

    /** Reads once more when the handler has closed the channel. */
    private final class OnceMore extends FixedRecvByteBufAllocator {
        private final Channel channel;

        OnceMore(Channel channel) {
            super(100);
            this.channel = channel;
        }

        @Override
        @SuppressWarnings("deprecation") // Netty's own name of a handle
        public Handle newHandle() {
            return new RecvByteBufAllocator.DelegatingHandle(super.newHandle()) {
                private boolean read;

                @Override
                public ByteBuf allocate(ByteBufAllocator allocator) {
                    boolean first = !read;
                    read = true;
                    return first ? super.allocate(allocator) : new SlowBuffer(channel);
                }

                @Override
                public boolean continueReading() {
                    return true;
                }
            };
        }
    }

    @Test
    void shouldTellOfNoFailureWhenACloseThatLingersMeetsARead() throws Exception {
        assertEquals(readsDuringAClose(false), readsDuringAClose(true));
    }

    private List<String> readsDuringAClose(boolean ours) throws Exception {
        mayClose = new CountDownLatch(1);
        GlobalEventExecutor.INSTANCE.execute(() -> {
            try {
                mayClose.await(PATIENCE, TimeUnit.SECONDS); // others in this JVM need that thread
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        });
        ChannelHandler closing = new Teller() {
            @Override
            public void handlerAdded(ChannelHandlerContext context) {
                context.channel().config().setRecvByteBufAllocator(new OnceMore(context.channel()));
            }

            @Override
            public void channelRead(ChannelHandlerContext context, Object message) {
                super.channelRead(context, message);
                context.close();
            }
        };
        return told(ours, closing, (client, peer) -> {
            client.config().setOption(ChannelOption.SO_LINGER, 10);
            peer.writeAndFlush(peer.alloc().directBuffer(100).writeZero(100)).sync();
        });
    }

    /** Nobody wants what comes meanwhile, and a loop that looked would be told of it all the time. */
    @Test
    void shouldReadNothingMoreDuringACloseThatLingers() throws Exception {
        AtomicInteger read = new AtomicInteger();
        ChannelHandler counting = new ChannelInboundHandlerAdapter() {
            @Override
            public void channelRead(ChannelHandlerContext context, Object message) {
                read.addAndGet(((ByteBuf) message).readableBytes());
                ((ByteBuf) message).release();
            }
        };
        Pair pair = pair(counting, ignoring());
        CountDownLatch goesOn = new CountDownLatch(1);
        GlobalEventExecutor.INSTANCE.submit(() -> goesOn.await(PATIENCE, TimeUnit.SECONDS));
        pair.client().config().setSoLinger(10);
        pair.client().close();
        pair.client().eventLoop().submit(() -> {}).sync();
        pair.server()
                .writeAndFlush(pair.server().alloc().directBuffer(1).writeByte(1))
                .sync();
        awaitRest(pair.client().eventLoop());
        goesOn.countDown();
        pair.client().closeFuture().sync();
        assertEquals(0, read.get());
    }

    // ---- a close that asks nobody ----

    /** No file: it is never written together with a buffer. */
    private static final class Zeros extends DefaultFileRegion {
        private long written;

        Zeros(int bytes) {
            super(new File("none"), 0, bytes);
        }

        @Override
        public long transferTo(WritableByteChannel target, long position) throws IOException {
            int n = target.write(ByteBuffer.allocate((int) (count() - position)));
            written += n;
            return n;
        }

        @Override
        public long transferred() {
            return written;
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {10, 5000, 100_000})
    void shouldFailTheRestOfAFlushWhenAListenerClosesForcibly(int size) throws Exception {
        assertEquals(writesAfterAForcibleClose(false, size), writesAfterAForcibleClose(true, size));
    }

    private List<String> writesAfterAForcibleClose(boolean ours, int size) throws Exception {
        return told(ours, new Teller(), (client, peer) -> {
            client.eventLoop().execute(() -> {
                client.write(client.alloc().directBuffer(size).writeZero(size)).addListener(done -> {
                    told.add("first " + done.cause());
                    client.unsafe().closeForcibly();
                });
                client.writeAndFlush(new Zeros(size)).addListener(done -> told.add("second " + done.cause()));
            });
        });
    }

    /** The rest of the flush is left to a task of the loop, which nobody else would do. */
    @Test
    void shouldFailTheRestOfAFlushThatIsToBeContinued() throws Exception {
        assertEquals(closesForciblyInTheMiddle(false), closesForciblyInTheMiddle(true));
    }

    private List<String> closesForciblyInTheMiddle(boolean ours) throws Exception {
        return told(ours, new Teller(), (client, peer) -> {
            client.config().setOption(ChannelOption.WRITE_SPIN_COUNT, 1);
            client.eventLoop().execute(() -> {
                client.write(new Zeros(10)).addListener(done -> told.add("first " + done.cause()));
                client.write(new Zeros(10)).addListener(done -> told.add("second " + done.cause()));
                client.flush();
                client.unsafe().closeForcibly();
            });
            await(() -> told.size() == 2, told::toString);
            client.close();
        });
    }
}
