/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.netty;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelOption;
import io.netty.channel.FixedRecvByteBufAllocator;
import io.netty.channel.RecvByteBufAllocator;
import io.netty.channel.socket.nio.NioChannelOption;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.util.AbstractList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import org.jrsocket.stream.RdmaStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** RDMA and TCP on one port and in one event loop; options; availability. */
@SuppressWarnings("FutureReturnValueIgnored") // what fails shows in what arrives
class ServingBothTest extends ChannelTests {

    private static ChannelInboundHandlerAdapter echo() {
        return new ChannelInboundHandlerAdapter() {
            @Override
            public void channelRead(ChannelHandlerContext context, Object message) {
                context.writeAndFlush(message);
            }
        };
    }

    @Test
    void shouldServeTcpAndRdmaOnOnePort() throws Exception {
        Channel server = listen(ServingBothTest::echo);
        Pattern.Checker checker = new Pattern.Checker(100_000);
        RdmaSocketChannel client = connect(server, checker);
        RdmaSocketChannel overRdma = accepted();
        try (Socket plain = new Socket()) {
            plain.connect(new InetSocketAddress("127.0.0.1", ((InetSocketAddress) server.localAddress()).getPort()));
            RdmaSocketChannel overTcp = accepted();
            assertTrue(client.isRdma());
            assertTrue(overRdma.isRdma());
            assertFalse(overTcp.isRdma());
            byte[] content = new byte[100_000];
            for (int i = 0; i < content.length; i++) {
                content[i] = Pattern.at(i);
            }
            client.writeAndFlush(Pattern.fill(client.alloc().directBuffer(100_000), 0, 100_000));
            plain.getOutputStream().write(content);
            assertEquals(
                    ByteBuffer.wrap(content),
                    ByteBuffer.wrap(plain.getInputStream().readNBytes(content.length)));
            checker.await();
        }
    }

    /** As there may be no memory for it. Netty closes a listening channel whose read throws. */
    @Test
    @Timeout(PATIENCE)
    void shouldGoOnListeningAfterAConnectionThatCannotHaveAChannel() throws Exception {
        RdmaServerSocketChannel server = (RdmaServerSocketChannel) listen(ServingBothTest::echo);
        server.config().setAutoRead(false);
        server.eventLoop().submit(() -> {}).sync(); // until then the loop may still accept
        AtomicInteger failed = new AtomicInteger();
        List<Object> full = new AbstractList<>() {
            @Override
            public boolean add(Object channel) {
                failed.incrementAndGet();
                throw new OutOfMemoryError("a test's");
            }

            @Override
            public Object get(int index) {
                throw new IndexOutOfBoundsException(index);
            }

            @Override
            public int size() {
                return 0;
            }
        };
        try (Socket plain = new Socket()) {
            plain.connect(
                    new InetSocketAddress("127.0.0.1", server.localAddress().getPort()));
            while (failed.get() == 0) {
                assertEquals(
                        0,
                        server.eventLoop()
                                .submit(() -> server.doReadMessages(full))
                                .get());
            }
            assertEquals(-1, plain.getInputStream().read());
        }
        server.config().setAutoRead(true);
        assertTrue(connect(server, ignoring()).isRdma());
        assertTrue(accepted().isRdma());
    }

    @Test
    void shouldKnowItsOptions() throws Exception {
        RdmaSocketChannel channel = pair(ignoring(), ignoring()).client();
        Map<ChannelOption<?>, Object> options = channel.config().getOptions();
        assertEquals(false, options.get(RdmaChannelOption.LEND_RECEIVES));
        assertEquals(4096, options.get(RdmaChannelOption.LEND_SENDS_FROM));
        assertEquals(true, options.get(ChannelOption.TCP_NODELAY));
        assertTrue(channel.config().setOption(RdmaChannelOption.LEND_RECEIVES, true));
        assertTrue(channel.config().setOption(RdmaChannelOption.LEND_SENDS_FROM, 10));
        assertTrue(channel.config().setOption(NioChannelOption.of(StandardSocketOptions.SO_KEEPALIVE), true));
        assertEquals(true, channel.config().getOption(RdmaChannelOption.LEND_RECEIVES));
        assertEquals(10, channel.config().getOption(RdmaChannelOption.LEND_SENDS_FROM));
        assertTrue(channel.config().isKeepAlive());
        assertEquals(true, channel.config().getOption(NioChannelOption.of(StandardSocketOptions.SO_KEEPALIVE)));
        assertEquals(
                true,
                channel.config().getOptions().entrySet().stream()
                        .filter(each -> each.getKey() instanceof NioChannelOption
                                && each.getKey().name().equals(StandardSocketOptions.SO_KEEPALIVE.name()))
                        .findAny()
                        .orElseThrow()
                        .getValue());
        assertSame(RdmaByteBufAllocator.DEFAULT, channel.alloc());
        RdmaSocketChannel unconnected = new RdmaSocketChannel(provider);
        unconnected.config().setSendBufferSize(100_000);
        assertEquals(100_000, unconnected.config().getSendBufferSize());
        unconnected.unsafe().closeForcibly();
        assertThrows(
                IllegalArgumentException.class, () -> channel.config().setOption(RdmaChannelOption.LEND_SENDS_FROM, 0));
    }

    /** What was asked for before is not read either, as with Netty's own. */
    @Test
    void shouldReadNothingOnceItIsToldNotTo() throws Exception {
        AtomicInteger read = new AtomicInteger();
        Pair pair = pair(ignoring(), new ChannelInboundHandlerAdapter() {
            @Override
            public void channelRead(ChannelHandlerContext context, Object message) {
                read.addAndGet(((ByteBuf) message).readableBytes());
                ((ByteBuf) message).release();
            }
        });
        pair.server().config().setAutoRead(false);
        pair.server().eventLoop().submit(() -> {}).sync(); // until then the loop may still read
        pair.client()
                .writeAndFlush(pair.client().alloc().directBuffer(8).writeZero(8))
                .sync();
        await(() -> transport.streams().stream().anyMatch(ServingBothTest::hasSomething), () -> "nothing has arrived");
        for (int i = 0; i < 10; i++) { // the loop looks what can be read before each
            pair.server().eventLoop().submit(() -> {}).sync();
        }
        assertEquals(0, read.get());
        pair.server().config().setAutoRead(true);
        await(() -> read.get() == 8, () -> "nothing is read");
    }

    /** Looks by itself: where nobody wants to read, nobody else need do so. */
    private static boolean hasSomething(RdmaStream stream) {
        stream.poll();
        return stream.isReadable();
    }

    /** As a program may that passes on a header and a content apart. */
    @Test
    void shouldReadIntoABufferOfSeveralParts() throws Exception {
        int total = 1000;
        Pattern.Checker checker = new Pattern.Checker(total);
        Pair pair = pair(ignoring(), checker);
        pair.server().config().setRecvByteBufAllocator(new FixedRecvByteBufAllocator(100) {
            @Override
            @SuppressWarnings("deprecation") // Netty's own name of a handle
            public Handle newHandle() {
                return new RecvByteBufAllocator.DelegatingHandle(super.newHandle()) {
                    @Override
                    public ByteBuf allocate(ByteBufAllocator allocator) {
                        return Unpooled.wrappedBuffer(
                                        Unpooled.directBuffer(7, 7).writeZero(7),
                                        Unpooled.directBuffer(93, 93).writeZero(93))
                                .clear();
                    }
                };
            }
        });
        long before = Rdma.metrics().receivedCopiedBytes();
        pair.client()
                .writeAndFlush(Pattern.fill(pair.client().alloc().directBuffer(total), 0, total))
                .sync();
        checker.await();
        assertEquals(total, Rdma.metrics().receivedCopiedBytes() - before);
    }

    @Test
    void shouldSayWhetherThereIsRdma() {
        if (Rdma.isAvailable()) {
            assertNull(Rdma.unavailabilityCause());
            Rdma.ensureAvailability();
        } else {
            UnsatisfiedLinkError e = assertThrows(UnsatisfiedLinkError.class, Rdma::ensureAvailability);
            assertEquals(Rdma.unavailabilityCause().getMessage(), e.getCause().getMessage());
        }
    }
}
