/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.netty;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.CompositeByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.buffer.UnpooledDirectByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.EventLoop;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Messages that are written more than once, or whose memory is somebody else's too: when it is sent, and how often. */
@Tag("once")
@SuppressWarnings("FutureReturnValueIgnored") // what fails shows in what arrives
class RetainedBuffersTest extends ChannelTests {

    private static final ByteBufAllocator OURS = RdmaByteBufAllocator.DEFAULT;

    private final RdmaMetrics metrics = Rdma.metrics();
    private int sendBuffer; // 0 for the usual

    @Override
    void configure(RdmaSocketChannel channel) {
        if (sendBuffer > 0) {
            channel.config().setSendBufferSize(sendBuffer);
        }
    }

    /** A program uses its memory again when it has heard that all is written. */
    @Test
    void shouldCopyWhatTheMessageDoesNotKeep() throws Exception {
        List<UnaryOperator<ByteBuf>> messages = List.of(
                Unpooled::unreleasableBuffer,
                each -> Unpooled.unreleasableBuffer(each).slice(),
                each -> Unpooled.wrappedBuffer(each.nioBuffer()),
                each -> Unpooled.wrappedBuffer(Unpooled.unreleasableBuffer(each), OURS.directBuffer(256)),
                each -> Unpooled.wrappedBuffer(OURS.directBuffer(256), Unpooled.wrappedBuffer(each.nioBuffer())),
                each -> Unpooled.wrappedUnmodifiableBuffer(Unpooled.unreleasableBuffer(each)));
        for (int i = 0; i < messages.size(); i++) {
            int n = i;
            Pattern.Checker checker = new Pattern.Checker(1 << 17);
            Pair pair = pair(ignoring(), checker);
            pair.server().config().setAutoRead(false);
            ByteBuf memory = Pattern.fill(OURS.directBuffer(1 << 17), 0, 1 << 17);
            pair.client().writeAndFlush(messages.get(i).apply(memory)).sync();
            memory.setZero(0, 1 << 17);
            pair.server().config().setAutoRead(true);
            checker.await();
            assertEquals(1, memory.refCnt(), () -> "message " + n);
            memory.release();
            pair.client().close().sync();
        }
    }

    @Test
    void shouldLendWhatTheMessageKeepsInWhateverItIsWrapped() throws Exception {
        List<UnaryOperator<ByteBuf>> messages = List.of(
                ByteBuf::asReadOnly,
                ByteBuf::slice,
                ByteBuf::duplicate,
                each -> Unpooled.wrappedBuffer(each, Unpooled.directBuffer(8192).writeZero(8192)),
                each -> Unpooled.wrappedBuffer(Unpooled.wrappedBuffer(OURS.directBuffer(1), each), OURS.heapBuffer(1))
                        .slice());
        for (UnaryOperator<ByteBuf> each : messages) {
            long before = metrics.sentLentBytes();
            ByteBuf memory = OURS.directBuffer(8192).writeZero(8192);
            Pair pair = pair(ignoring(), ignoring());
            pair.client().writeAndFlush(each.apply(memory)).sync();
            await(() -> memory.refCnt() == 0, () -> memory + " is retained");
            assertEquals(8192, metrics.sentLentBytes() - before);
        }
    }

    /** As a program does that sends one answer to many. */
    @Test
    void shouldSendARetainedBufferAsOftenAsItIsWritten() throws Exception {
        for (int size : new int[] {10, 1000, 8192, 100_000}) {
            for (int times : new int[] {1, 3, 100}) {
                sendOneBuffer(size, times);
            }
        }
    }

    /** Over two connections, so many times over each, in one flush, with something else after each. */
    private void sendOneBuffer(int size, int times) throws Exception {
        ByteBuf buffer = Pattern.fill(OURS.directBuffer(size), 0, size);
        ByteBuf other = OURS.directBuffer(1).writeByte(77);
        ByteBuf expected = Unpooled.buffer();
        for (int i = 0; i < times; i++) {
            expected.writeBytes(buffer, 0, size).writeByte(77);
        }
        for (int i = 0; i < 2; i++) {
            Gatherer got = new Gatherer();
            Pair pair = pair(ignoring(), got);
            pair.client().eventLoop().execute(() -> {
                for (int j = 0; j < times; j++) {
                    pair.client().write(buffer.retain());
                    pair.client().write(other.retain());
                }
                pair.client().flush();
            });
            await(() -> got.count >= expected.readableBytes(), () -> got.count + " bytes of " + expected);
            assertEquals(expected, got.all, () -> times + " times " + size + " bytes");
            assertEquals(size, buffer.readableBytes());
            pair.client().close().sync();
        }
        await(() -> buffer.refCnt() == 1 && other.refCnt() == 1, () -> buffer + " or " + other + " is retained");
        buffer.release();
        other.release();
    }

    /** Netty keeps their views, and skips what is written of them: a part here, and all of some in the next write. */
    @ParameterizedTest
    @CsvSource({"3, 10, 1024, false", "3, 700, 4000, true", "1, 500, 10, false"})
    void shouldSendRetainedBuffersOfSeveralParts(int parts, int size, int messages, boolean paused) throws Exception {
        Gatherer got = new Gatherer();
        Pair pair = pair(ignoring(), got);
        pair.server().config().setAutoRead(!paused);
        ByteBuf part = Pattern.fill(OURS.directBuffer(size), 0, size);
        ByteBuf expected = Unpooled.buffer();
        List<ByteBuf> kept = new ArrayList<>();
        for (int i = 0; i < messages; i++) {
            CompositeByteBuf message = Unpooled.compositeBuffer(parts + 1);
            for (int j = 0; j < parts; j++) {
                ByteBuf own = parts == 1 ? part.retain() : Pattern.fill(OURS.directBuffer(size), i * parts + j, size);
                message.addComponent(true, own);
            }
            expected.writeBytes(message, message.readerIndex(), message.readableBytes());
            kept.add(parts == 1 ? message : message.retain());
        }
        pair.client().eventLoop().execute(() -> {
            kept.forEach(message -> pair.client().write(message));
            pair.client().flush();
        });
        if (paused) {
            pair.client().eventLoop().submit(() -> {}).sync(); // the memory is full
            pair.server().config().setAutoRead(true);
        }
        await(() -> got.count >= expected.readableBytes(), () -> got.count + " bytes of " + expected);
        assertEquals(expected, got.all);
        pair.client().close().sync();
        int left = parts == 1 ? 0 : 1;
        await(() -> kept.stream().allMatch(each -> each.refCnt() == left), () -> "some are retained");
        kept.stream().filter(each -> each.refCnt() > 0).forEach(ByteBuf::release);
        part.release();
    }

    /** The memory that a buffer gives up is not another owner's before it is sent. */
    @Test
    void shouldSendWhatWasWrittenThoughItsBufferHasGivenItUp() throws Exception {
        int size = 1 << 17;
        List<UnaryOperator<ByteBuf>> logs = List.of(
                each -> each, each -> Unpooled.compositeBuffer(2).addComponents(true, OURS.directBuffer(1), each));
        for (UnaryOperator<ByteBuf> each : logs) {
            Pattern.Checker checker = new Pattern.Checker(size);
            Pair pair = pair(ignoring(), checker);
            pair.server().config().setAutoRead(false);
            ByteBuf log = each.apply(Pattern.fill(OURS.directBuffer(size), 0, size));
            pair.client().writeAndFlush(log.retainedSlice()).sync();
            log.writeLong(1); // more than there is room for
            if (log instanceof CompositeByteBuf composite) {
                composite.consolidate();
            }
            List<ByteBuf> others = new ArrayList<>();
            for (int i = 0; i < (4 << 20) / size; i++) {
                others.add(OURS.directBuffer(size).writeZero(size)); // one of them would have it now
            }
            pair.server().config().setAutoRead(true);
            checker.await();
            await(() -> log.refCnt() == 1, () -> log + " is retained");
            log.release();
            others.forEach(ByteBuf::release);
            pair.client().close().sync();
        }
    }

    /** Keeps all that comes. */
    private static final class Gatherer extends ChannelInboundHandlerAdapter {
        final ByteBuf all = Unpooled.buffer();
        volatile int count;

        @Override
        public void channelRead(ChannelHandlerContext context, Object message) {
            all.writeBytes((ByteBuf) message);
            ((ByteBuf) message).release();
            count = all.readableBytes();
        }
    }

    /** Else a flush would take time that grows with the square of their number. */
    @Test
    void shouldLookAtEachOfManyTinyMessagesAFewTimesOnly() throws Exception {
        int many = 50_000;
        AtomicInteger looks = new AtomicInteger();
        ByteBuf one = new UnpooledDirectByteBuf(OURS, 1, 1) {
            @Override
            public int readableBytes() {
                looks.incrementAndGet();
                return super.readableBytes();
            }
        };
        one.writeByte(77);
        Gatherer got = new Gatherer();
        Pair pair = pair(ignoring(), got);
        pair.client().eventLoop().execute(() -> {
            for (int i = 0; i < many; i++) {
                pair.client().write(one.retain(), pair.client().voidPromise());
            }
            pair.client().flush();
        });
        await(() -> got.count == many, () -> got.count + " of " + many);
        assertTrue(looks.get() < 20 * many, () -> "looked " + looks + " times at " + many);
        await(() -> one.refCnt() == 1, () -> one + " is retained");
        one.release();
    }

    /** Not all parts of a large message are looked at together. */
    @Test
    void shouldCopyALatePartThatTheMessageDoesNotKeep() throws Exception {
        int before = 3 << 20; // more than is looked at
        int size = 1 << 17;
        Pattern.Checker checker = new Pattern.Checker(before + size);
        Pair pair = pair(ignoring(), checker);
        ByteBuf memory = Pattern.fill(OURS.directBuffer(size), before, size);
        ByteBuf message = Unpooled.wrappedBuffer(
                Pattern.fill(OURS.directBuffer(before), 0, before), Unpooled.unreleasableBuffer(memory));
        long copied = metrics.sentCopiedBytes();
        long lent = metrics.sentLentBytes();
        pair.client().writeAndFlush(message).sync();
        checker.await();
        // with what is looked at together with it
        assertTrue(metrics.sentCopiedBytes() - copied >= size, metrics::toString);
        assertTrue(metrics.sentLentBytes() > lent, metrics::toString);
        memory.release();
        pair.client().close().sync();
    }

    /** Else each attempt to go on with a message would look at all of its rest. */
    @Test
    void shouldLookAtEachPartOfALargeMessageAFewTimesOnly() throws Exception {
        sendBuffer = 1 << 16; // so that there are many attempts
        int many = 1 << 17;
        int size = 1024;
        AtomicInteger looks = new AtomicInteger();
        ByteBuf part = new UnpooledDirectByteBuf(OURS, size, size) {
            @Override
            public ByteBuffer nioBuffer(int index, int length) {
                looks.incrementAndGet();
                return super.nioBuffer(index, length);
            }
        };
        part.writeZero(size);
        CompositeByteBuf message = OURS.compositeDirectBuffer(many);
        for (int i = 0; i < many; i++) {
            message.addComponent(true, part.retain());
        }
        long bytes = (long) many * size;
        StepReader got = new StepReader(bytes);
        Pair pair = pair(ignoring(), got);
        pair.server().config().setAutoRead(false);
        got.writer = pair.client().eventLoop();
        pair.client().writeAndFlush(message);
        pair.server().read();
        await(() -> got.count.get() == bytes, () -> got.count + " of " + bytes);
        pair.client().close().sync();
        pair.server().close().sync();
        assertTrue(looks.get() < 30 * many, () -> "looked " + looks + " times at " + many);
        await(() -> part.refCnt() == 1, () -> part + " is retained");
        part.release();
    }

    /** Reads one buffer at a time, and lets the writer go on before the next. */
    private static final class StepReader extends ChannelInboundHandlerAdapter {
        final AtomicLong count = new AtomicLong();
        private final long most;
        volatile EventLoop writer;

        StepReader(long most) {
            this.most = most;
        }

        @Override
        public void channelRead(ChannelHandlerContext context, Object message) {
            int n = ((ByteBuf) message).readableBytes();
            ((ByteBuf) message).release();
            count.addAndGet(n);
        }

        @Override
        public void channelReadComplete(ChannelHandlerContext context) {
            if (count.get() < most) {
                writer.execute(context::read);
            }
        }
    }
}
