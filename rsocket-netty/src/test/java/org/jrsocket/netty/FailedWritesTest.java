/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.netty;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.ChannelProgressiveFuture;
import io.netty.channel.ChannelProgressiveFutureListener;
import io.netty.channel.ChannelProgressivePromise;
import io.netty.channel.DefaultFileRegion;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.FileRegion;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.ChannelOutputShutdownEvent;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.channel.socket.nio.NioSocketChannel;
import java.io.File;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.channels.WritableByteChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.jrsocket.nio.ChannelAccess;
import org.jrsocket.stream.RdmaStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** What a program is told of a write that fails: by Netty's channels on the JDK's own, and by ours. */
@Tag("once")
@Timeout(2 * ChannelTests.PATIENCE)
@SuppressWarnings("FutureReturnValueIgnored") // what fails shows in what arrives
class FailedWritesTest extends ChannelTests {

    private static final int SMALL = 100;
    private static final int LARGE = 8192;
    private static final int THERE = 100_000;
    private static final int NAMED = 150_000;

    @TempDir
    private Path folder;

    private EventLoopGroup group(boolean ours) {
        return ours ? loops : new MultiThreadIoEventLoopGroup(1, NioIoHandler.newFactory());
    }

    private Channel server(boolean ours, EventLoopGroup group, ChannelInitializer<Channel> children) throws Exception {
        return new ServerBootstrap()
                .group(group)
                .channelFactory(() -> ours ? new RdmaServerSocketChannel(provider) : new NioServerSocketChannel())
                .childHandler(children)
                .bind(new InetSocketAddress("127.0.0.1", 0))
                .sync()
                .channel();
    }

    private Channel client(boolean ours, EventLoopGroup group, Channel server, boolean reading) throws Exception {
        return new Bootstrap()
                .group(group)
                .channelFactory(() -> ours ? new RdmaSocketChannel(provider) : new NioSocketChannel())
                .option(ChannelOption.AUTO_READ, reading)
                .option(ChannelOption.ALLOW_HALF_CLOSURE, true)
                .handler(new ChannelInboundHandlerAdapter() {
                    @Override
                    public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
                        // a read of a connection that is reset
                    }
                })
                .connect(server.localAddress())
                .sync()
                .channel();
    }

    private static void end(boolean ours, EventLoopGroup group) throws Exception {
        if (!ours) {
            group.shutdownGracefully(0, PATIENCE, TimeUnit.SECONDS).sync();
        }
    }

    // ---- a connection that has ended ----

    @Test
    void shouldTellOfAResetAsNettysOwnChannelDoes() throws Exception {
        for (int size : new int[] {SMALL, LARGE}) {
            for (boolean file : new boolean[] {false, true}) {
                assertEquals(writes(false, size, file), writes(true, size, file), size + " bytes, file: " + file);
            }
        }
    }

    private List<String> writes(boolean ours, int size, boolean file) throws Exception {
        List<String> told = new ArrayList<>();
        EventLoopGroup group = group(ours);
        BlockingQueue<Channel> accepted = new LinkedBlockingQueue<>();
        Channel server = server(ours, group, new ChannelInitializer<>() {
            @Override
            protected void initChannel(Channel channel) {
                accepted.add(channel);
            }
        });
        for (boolean reset : new boolean[] {true, false}) {
            Channel client = client(ours, group, server, false);
            CompletableFuture<Void> ended = new CompletableFuture<>();
            client.pipeline().addFirst(new ChannelInboundHandlerAdapter() {
                @Override
                public void userEventTriggered(ChannelHandlerContext context, Object event) {
                    ended.complete(null);
                }
            });
            Channel peer = accepted.poll(PATIENCE, TimeUnit.SECONDS);
            if (reset) {
                peer.config().setOption(ChannelOption.SO_LINGER, 0);
            }
            peer.close().sync();
            if (!reset) {
                client.config().setAutoRead(true);
                ended.get(PATIENCE, TimeUnit.SECONDS);
            }
            Throwable failure = null;
            while (failure == null) { // a write may still be taken
                failure = write(client, size, file).await().cause();
                Thread.sleep(10);
            }
            told.add((reset ? "reset: " : "closed: ") + failure);
            client.close().sync();
        }
        server.close().sync();
        end(ours, group);
        return told;
    }

    @Test
    void shouldGiveBackTheMemoryOfAWriteThatFails() throws Exception {
        RdmaByteBufAllocator own = new RdmaByteBufAllocator();
        Pair pair = pair(ignoring(), ignoring());
        pair.client().config().setAutoRead(false);
        pair.client().config().setAutoClose(false);
        ByteBuf first = own.directBuffer(LARGE).writeZero(LARGE);
        pair.client().writeAndFlush(first).sync();
        await(() -> first.refCnt() == 0, () -> "still retained");
        pair.server().config().setSoLinger(0);
        pair.server().close().sync();
        Throwable failure = null;
        while (failure == null) { // a write may still be taken; their memory is registered already
            failure = pair.client()
                    .writeAndFlush(own.directBuffer(LARGE).writeZero(LARGE))
                    .await()
                    .cause();
        }
        pair.client().close().sync();
        own.keepNothing();
        await(() -> own.metric().usedDirectMemory() == 0, () -> own.metric().usedDirectMemory() + " bytes are in use");
    }

    /** A loop that was told of the failure again and again would use up a processor. */
    @Test
    void shouldRestWithWhatItHasLentWhenTheConnectionFails() throws Exception {
        Pair pair = pair(ignoring(), ignoring());
        RdmaSocketChannel client = pair.client();
        client.config().setAutoRead(false);
        pair.server().config().setAutoRead(false);
        verbs.faults().holdAcks(true);
        ByteBuf buffer = RdmaByteBufAllocator.DEFAULT.directBuffer(LARGE).writeZero(LARGE);
        client.writeAndFlush(buffer).sync();
        pair.server().config().setSoLinger(0);
        pair.server().close().sync();
        RdmaStream stream =
                ChannelAccess.streamOf((SocketChannel) client.unsafe().ch());
        await(stream::isAcknowledged, () -> "nothing has failed");
        awaitRest(client.eventLoop());
        client.close().sync();
        await(() -> buffer.refCnt() == 0, () -> "still retained");
    }

    /** Which has heard of the reset: a reader finds the end. */
    @Test
    void shouldGiveAReaderTheEndAfterAWriteThatWasReset() throws Exception {
        assertEquals(readsAfterAWrite(false), readsAfterAWrite(true));
    }

    private List<String> readsAfterAWrite(boolean ours) throws Exception {
        List<String> told = Collections.synchronizedList(new ArrayList<>());
        EventLoopGroup group = group(ours);
        BlockingQueue<Channel> accepted = new LinkedBlockingQueue<>();
        Channel server = server(ours, group, new ChannelInitializer<>() {
            @Override
            protected void initChannel(Channel channel) {
                accepted.add(channel);
            }
        });
        CompletableFuture<Void> over = new CompletableFuture<>();
        Channel client = client(ours, group, server, false);
        client.config().setAutoClose(false);
        client.pipeline().addFirst(new ChannelInboundHandlerAdapter() {
            @Override
            public void userEventTriggered(ChannelHandlerContext context, Object event) {
                if (event != ChannelOutputShutdownEvent.INSTANCE) { // which is Netty's answer to the write
                    told.add(event.toString().replaceAll("@.*", ""));
                    over.complete(null);
                }
            }

            @Override
            public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
                told.add(cause.toString());
                over.complete(null);
            }
        });
        Channel peer = accepted.poll(PATIENCE, TimeUnit.SECONDS);
        peer.config().setOption(ChannelOption.SO_LINGER, 0);
        peer.close().sync();
        Throwable failure = null;
        while (failure == null) {
            failure = write(client, SMALL, false).await().cause();
            Thread.sleep(10);
        }
        told.add(failure.toString());
        client.config().setAutoRead(true);
        over.get(PATIENCE, TimeUnit.SECONDS);
        client.close().sync();
        server.close().sync();
        end(ours, group);
        return told.subList(0, 2);
    }

    private ChannelFuture write(Channel channel, int size, boolean file) throws IOException {
        if (file) {
            Path path = Files.write(folder.resolve("file"), new byte[size]);
            return channel.writeAndFlush(new DefaultFileRegion(path.toFile(), 0, size));
        }
        return channel.writeAndFlush(
                RdmaByteBufAllocator.DEFAULT.directBuffer(size).writeZero(size));
    }

    /** Who has read of it has heard of it, as with the JDK's. */
    @Test
    void shouldTellOfAResetOnlyOnce() throws Exception {
        assertEquals(writesAfterARead(false), writesAfterARead(true));
    }

    private String writesAfterARead(boolean ours) throws Exception {
        EventLoopGroup group = group(ours);
        BlockingQueue<Channel> accepted = new LinkedBlockingQueue<>();
        Channel server = server(ours, group, new ChannelInitializer<>() {
            @Override
            protected void initChannel(Channel channel) {
                accepted.add(channel);
            }
        });
        CompletableFuture<String> told = new CompletableFuture<>();
        Channel client = client(ours, group, server, false);
        client.pipeline().addFirst(new ChannelInboundHandlerAdapter() {
            @Override
            public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
                // before the channel closes itself
                ByteBuf one = context.alloc().directBuffer(SMALL).writeZero(SMALL);
                context.writeAndFlush(one).addListener(written -> told.complete(cause + ", then " + written.cause()));
            }
        });
        Channel peer = accepted.poll(PATIENCE, TimeUnit.SECONDS);
        peer.config().setOption(ChannelOption.SO_LINGER, 0);
        peer.close().sync();
        client.config().setAutoRead(true);
        String all = told.get(PATIENCE, TimeUnit.SECONDS);
        client.close().sync();
        server.close().sync();
        end(ours, group);
        return all;
    }

    // ---- a file that is shorter than somebody said ----

    @Test
    void shouldSendWhatThereIsOfAFileThatEndsEarly() throws Exception {
        Path file = Files.write(folder.resolve("short"), new byte[THERE]);
        assertEquals(
                written(false, new DefaultFileRegion(file.toFile(), 0, NAMED)),
                written(true, new DefaultFileRegion(file.toFile(), 0, NAMED)));
    }

    private String written(boolean ours, FileRegion region) throws Exception {
        EventLoopGroup group = group(ours);
        AtomicLong got = new AtomicLong();
        CompletableFuture<Void> over = new CompletableFuture<>();
        Channel server = server(ours, group, new ChannelInitializer<>() {
            @Override
            protected void initChannel(Channel channel) {
                channel.pipeline().addLast(new ChannelInboundHandlerAdapter() {
                    @Override
                    public void channelRead(ChannelHandlerContext context, Object message) {
                        got.addAndGet(((ByteBuf) message).readableBytes());
                        ((ByteBuf) message).release();
                    }

                    @Override
                    public void channelInactive(ChannelHandlerContext context) {
                        over.complete(null);
                    }
                });
            }
        });
        Channel client = client(ours, group, server, true);
        AtomicLong progress = new AtomicLong();
        ChannelProgressivePromise promise = client.newProgressivePromise();
        promise.addListener(new ChannelProgressiveFutureListener() {
            @Override
            public void operationProgressed(ChannelProgressiveFuture future, long bytes, long total) {
                progress.set(bytes);
            }

            @Override
            public void operationComplete(ChannelProgressiveFuture future) {}
        });
        client.writeAndFlush(region, promise);
        Throwable failure = promise.await().cause();
        client.close().sync();
        over.get(PATIENCE, TimeUnit.SECONDS);
        server.close().sync();
        end(ours, group);
        return failure + "; progress " + progress + ", received " + got;
    }

    /** Gives some bytes at each call. */
    private static class Piecemeal extends DefaultFileRegion {
        static final int PIECE = 700;
        private long given;

        Piecemeal(int bytes) {
            super(new File("none"), 0, bytes);
        }

        @Override
        public long transferred() {
            return given;
        }

        @Override
        public long transferTo(WritableByteChannel target, long position) throws IOException {
            int n = target.write(ByteBuffer.allocate((int) Math.min(PIECE, count() - given)));
            given += n;
            return n;
        }
    }

    private static final class Closing extends Piecemeal {
        Closing(int bytes) {
            super(bytes);
        }

        @Override
        public long transferTo(WritableByteChannel target, long position) throws IOException {
            long n = super.transferTo(target, position);
            if (transferred() == 2 * PIECE) {
                target.close();
            }
            return n;
        }
    }

    private static final class Overflowing extends Piecemeal {
        Overflowing() {
            super(THERE);
        }

        @Override
        public long transferTo(WritableByteChannel target, long position) throws IOException {
            if (transferred() == 2 * PIECE) {
                throw new StackOverflowError("a file's own");
            }
            return super.transferTo(target, position);
        }
    }

    @Test
    void shouldSendWhatAFileGaveBeforeItClosedTheChannel() throws Exception {
        for (int size : new int[] {THERE, 2 * Piecemeal.PIECE}) {
            assertEquals(written(false, new Closing(size)), written(true, new Closing(size)), size + " bytes");
        }
    }

    @Test
    void shouldSendWhatAFileGaveBeforeItFailedWithAnError() throws Exception {
        assertEquals(written(false, new Overflowing()), written(true, new Overflowing()));
    }

    /** As one may that checks what it has given. */
    private static final class FailsAtItsEnd extends DefaultFileRegion {
        FailsAtItsEnd(Path file, int bytes) {
            super(file.toFile(), 0, bytes);
        }

        @Override
        public long transferTo(WritableByteChannel target, long position) throws IOException {
            long n = super.transferTo(target, position);
            if (transferred() == count()) {
                throw new IOException("the checksum is wrong");
            }
            return n;
        }
    }

    @Test
    void shouldFailAFileThatFailsAtItsEndAndNoOther() throws Exception {
        for (int size : new int[] {1000, THERE}) {
            assertEquals(failingFile(false, size), failingFile(true, size), size + " bytes");
        }
    }

    private List<String> failingFile(boolean ours, int size) throws Exception {
        EventLoopGroup group = group(ours);
        Channel server = server(ours, group, new ChannelInitializer<>() {
            @Override
            protected void initChannel(Channel channel) {
                channel.pipeline().addLast(ignoring());
            }
        });
        Channel client = client(ours, group, server, true);
        Path file = Files.write(folder.resolve("whole"), new byte[size]);
        List<String> told = new ArrayList<>();
        told.add(String.valueOf(
                client.writeAndFlush(new FailsAtItsEnd(file, size)).await().cause()));
        Throwable second = client.writeAndFlush(new DefaultFileRegion(file.toFile(), 0, size))
                .await()
                .cause();
        told.add(second == null ? "written" : second.getClass().getSimpleName());
        client.close().sync();
        server.close().sync();
        end(ours, group);
        return told;
    }

    // ---- an event loop of another kind ----

    @Test
    void shouldSayWhichEventLoopAChannelNeeds() throws Exception {
        EventLoopGroup nio = new MultiThreadIoEventLoopGroup(1, NioIoHandler.newFactory());
        String expected =
                "this event loop has the JDK's selectors, which cannot serve RDMA channels: create its group with "
                        + "RdmaIoHandler.newFactory(), or start with -javaagent:rsocket.jar";
        Throwable client = new Bootstrap()
                .group(nio)
                .channelFactory(() -> new RdmaSocketChannel(provider))
                .handler(ignoring())
                .connect("127.0.0.1", 1)
                .await()
                .cause();
        assertEquals("java.lang.IllegalStateException: " + expected, client.toString());
        Throwable server = new ServerBootstrap()
                .group(nio)
                .channelFactory(() -> new RdmaServerSocketChannel(provider))
                .childHandler(ignoring())
                .bind(0)
                .await()
                .cause();
        assertEquals("java.lang.IllegalStateException: " + expected, server.toString());
        end(false, nio);
    }
}
