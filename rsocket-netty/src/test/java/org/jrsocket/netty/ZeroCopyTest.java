/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.netty;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.CompositeByteBuf;
import io.netty.buffer.PooledByteBufAllocator;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelProgressiveFuture;
import io.netty.channel.ChannelProgressiveFutureListener;
import io.netty.channel.ChannelProgressivePromise;
import io.netty.channel.ChannelPromise;
import io.netty.channel.DefaultFileRegion;
import io.netty.channel.EventLoop;
import io.netty.util.concurrent.GlobalEventExecutor;
import java.io.File;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.channels.WritableByteChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.Random;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;
import org.jrsocket.nio.ChannelAccess;
import org.jrsocket.stream.RdmaStream;
import org.jrsocket.wire.Imm;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What is sent from where it lies, and read where it arrived, and when it comes back. */
@Tag("once")
@SuppressWarnings("FutureReturnValueIgnored") // what fails shows in what arrives
class ZeroCopyTest extends ChannelTests {

    private static final long MANY = 1L << 30;
    private static final ByteBufAllocator OURS = RdmaByteBufAllocator.DEFAULT;

    private final RdmaMetrics metrics = Rdma.metrics();
    private final long sentCopied = metrics.sentCopiedBytes();
    private final long sentLent = metrics.sentLentBytes();
    private final long receivedCopied = metrics.receivedCopiedBytes();
    private final long receivedLent = metrics.receivedLentBytes();
    private boolean lendReceives = true;
    private int sendBuffer; // 0 for the usual

    @Override
    void configure(RdmaSocketChannel channel) {
        channel.config().setLendReceives(lendReceives);
        if (sendBuffer > 0) {
            channel.config().setSendBufferSize(sendBuffer);
        }
    }

    /** {@code bytes} in all, in buffers of random multiples of 4 KiB, as fast as the channel takes them. */
    private void stream(RdmaSocketChannel to, long bytes, ByteBufAllocator allocator) throws InterruptedException {
        Random random = new Random(7);
        ChannelFuture last = null;
        for (long at = 0; at < bytes; ) {
            int n = (int) Math.min(bytes - at, 4096L * (1 + random.nextInt(64)));
            last = to.writeAndFlush(Pattern.fill(allocator.directBuffer(n), at, n));
            at += n;
            if (!to.isWritable()) {
                last.sync();
            }
        }
        last.sync();
    }

    /** Two messages would cost the device twice as much as the few bytes of a header are worth. */
    @Test
    void shouldSendASmallBufferAndTheLargeOneBehindItInOneMessage() throws Exception {
        Pattern.Checker checker = new Pattern.Checker(3 * (9 + 1024));
        Pair pair = pair(ignoring(), checker);
        Queue<Integer> lengths = new ConcurrentLinkedQueue<>();
        verbs.onMessage((from, to, opcode, imm, length, address, key) -> {
            if (Imm.op(imm) == Imm.OP_DATA) {
                lengths.add(length);
            }
        });
        RdmaSocketChannel client = pair.client();
        client.config().setLendSendsFrom(1024); // all of it fits into the peer's first grant
        client.eventLoop().submit(() -> {
            for (int at = 0; at < 2 * (9 + 1024); at += 9 + 1024) {
                client.write(Pattern.fill(OURS.directBuffer(9), at, 9));
                client.write(Pattern.fill(OURS.directBuffer(1024), at + 9, 1024));
            }
            client.flush();
        });
        int last = 2 * (9 + 1024);
        CompositeByteBuf composite = OURS.compositeDirectBuffer()
                .addComponent(true, Pattern.fill(OURS.directBuffer(9), last, 9))
                .addComponent(true, Pattern.fill(OURS.directBuffer(1024), last + 9, 1024));
        client.writeAndFlush(composite);
        checker.await();
        verbs.onMessage(null);
        assertEquals(List.of(9 + 1024, 9 + 1024, 9 + 1024), List.copyOf(lengths));
        assertEquals(3 * 9, metrics.sentCopiedBytes() - sentCopied, metrics::toString);
    }

    /** Whoever is told may have much to do, and the peer waits meanwhile: gRPC's calls took half as long again. */
    @Test
    void shouldSendAllThatIsFlushedBeforeAnybodyIsToldThatItIsWritten(@TempDir Path folder) throws Exception {
        int large = 2048; // all of it fits into the peer's first grant
        Path file = Files.write(folder.resolve("file"), Pattern.bytes(500 + large, large));
        Pattern.Checker checker = new Pattern.Checker(600 + 3 * large);
        Pair pair = pair(ignoring(), checker);
        Queue<Integer> lengths = new ConcurrentLinkedQueue<>();
        verbs.onMessage((from, to, opcode, imm, length, address, key) -> {
            if (Imm.op(imm) == Imm.OP_DATA) {
                lengths.add(length);
            }
        });
        AtomicReference<List<Integer>> small = new AtomicReference<>();
        AtomicReference<List<Integer>> mixed = new AtomicReference<>();
        AtomicReference<List<Integer>> region = new AtomicReference<>();
        AtomicReference<List<Integer>> trailer = new AtomicReference<>();
        RdmaSocketChannel client = pair.client();
        client.config().setLendSendsFrom(large);
        client.eventLoop().submit(() -> {
            client.write(Pattern.fill(OURS.directBuffer(100), 0, 100))
                    .addListener(first -> small.set(List.copyOf(lengths)));
            client.write(Pattern.fill(OURS.directBuffer(100), 100, 100));
            client.writeAndFlush(Pattern.fill(OURS.directBuffer(100), 200, 100));
            client.write(Pattern.fill(OURS.directBuffer(100), 300, 100));
            client.writeAndFlush(
                    Pattern.fill(OURS.directBuffer(large), 400, large),
                    told(client, () -> mixed.set(List.copyOf(lengths))));
            client.write(Pattern.fill(OURS.directBuffer(100), 400 + large, 100));
            client.writeAndFlush(
                    new DefaultFileRegion(file.toFile(), 0, large),
                    told(client, () -> region.set(List.copyOf(lengths))));
            int end = 500 + 2 * large;
            client.write(Pattern.fill(OURS.directBuffer(large), end, large));
            client.writeAndFlush(
                    Pattern.fill(OURS.directBuffer(100), end + large, 100),
                    told(client, () -> trailer.set(List.copyOf(lengths))));
        });
        checker.await();
        await(() -> trailer.get() != null, () -> "nobody was told");
        verbs.onMessage(null);
        assertEquals(List.of(300), small.get());
        assertEquals(List.of(300, 100 + large), mixed.get());
        assertEquals(List.of(300, 100 + large, 100 + large), region.get());
        assertEquals(
                300 + 3 * (100 + large), trailer.get().stream().mapToInt(n -> n).sum());
    }

    /** A promise that has its listener before the write, which may be over when it returns. */
    private static ChannelPromise told(RdmaSocketChannel channel, Runnable listener) {
        return channel.newPromise().addListener(done -> listener.run());
    }

    @Test
    void shouldCopyNothingOfAGigabyte() throws Exception {
        Pattern.Checker checker = new Pattern.Checker(MANY);
        Pair pair = pair(ignoring(), checker);
        stream(pair.client(), MANY, OURS);
        checker.await();
        assertEquals(0, metrics.sentCopiedBytes() - sentCopied, metrics::toString);
        assertEquals(MANY, metrics.sentLentBytes() - sentLent, metrics::toString);
        assertEquals(0, metrics.receivedCopiedBytes() - receivedCopied, metrics::toString);
        assertEquals(MANY, metrics.receivedLentBytes() - receivedLent, metrics::toString);
    }

    @Test
    void shouldCopyNothingForAReaderThatKeepsWhatItHasRead() throws Exception {
        int total = 32 << 20;
        Keeper keeper = new Keeper();
        Pattern.Checker checker = new Pattern.Checker(total);
        Pair pair = pair(ignoring(), keeper);
        pair.server().pipeline().addLast(checker);
        stream(pair.client(), total, OURS);
        pair.client().shutdownOutput().sync();
        checker.await();
        assertEquals(0, metrics.receivedCopiedBytes() - receivedCopied, metrics::toString);
    }

    /** Passes on what it reads later: when it has more, or when nothing more comes. */
    private static final class Keeper extends ChannelInboundHandlerAdapter {
        private static final int KEPT = 4;
        private final ArrayDeque<Object> kept = new ArrayDeque<>();

        @Override
        public void channelRead(ChannelHandlerContext context, Object message) {
            kept.add(message);
            if (kept.size() > KEPT) {
                context.fireChannelRead(kept.remove());
            }
        }

        @Override
        public void channelInactive(ChannelHandlerContext context) {
            while (!kept.isEmpty()) {
                context.fireChannelRead(kept.remove());
            }
            context.fireChannelInactive();
        }
    }

    @Test
    void shouldCopyWhereNobodyHasAskedForMore() throws Exception {
        lendReceives = false;
        Pattern.Checker checker = new Pattern.Checker(1 << 20);
        Pair pair = pair(ignoring(), checker);
        stream(pair.client(), 1 << 20, PooledByteBufAllocator.DEFAULT);
        checker.await();
        assertEquals(1 << 20, metrics.sentCopiedBytes() - sentCopied);
        assertEquals(0, metrics.sentLentBytes() - sentLent);
        assertEquals(1 << 20, metrics.receivedCopiedBytes() - receivedCopied);
        assertEquals(0, metrics.receivedLentBytes() - receivedLent);
    }

    @Test
    void shouldKeepTheOrderOfBuffersOfAllKinds() throws Exception {
        Random random = new Random(11);
        int total = 8 << 20;
        Pattern.Checker checker = new Pattern.Checker(total);
        Pair pair = pair(ignoring(), checker);
        List<ByteBuf> all = new ArrayList<>();
        ChannelFuture last = null;
        for (int at = 0; at < total; ) {
            int n = Math.min(total - at, 1 + random.nextInt(random.nextBoolean() ? 200 : 100_000));
            ByteBuf message = message(random, at, n);
            all.add(message);
            last = pair.client().write(message);
            if (random.nextInt(4) == 0) {
                pair.client().flush();
            }
            at += n;
        }
        pair.client().flush();
        last.sync();
        checker.await();
        await(() -> all.stream().allMatch(each -> each.refCnt() == 0), () -> "not all is released");
        assertTrue(metrics.sentLentBytes() - sentLent > total / 4, metrics::toString);
    }

    private static ByteBuf message(Random random, int at, int n) {
        switch (random.nextInt(5)) {
            case 0 -> {
                return Pattern.fill(PooledByteBufAllocator.DEFAULT.directBuffer(n), at, n);
            }
            case 1 -> {
                return Pattern.fill(Unpooled.buffer(n), at, n);
            }
            case 2 -> { // grows, and has something before
                return Pattern.fill(OURS.directBuffer(16).writeZero(5), at, n).skipBytes(5);
            }
            case 3 -> {
                CompositeByteBuf composite = OURS.compositeBuffer(64);
                for (int i = 0; i < n; ) {
                    int part = Math.min(n - i, 1 + random.nextInt(2 * n));
                    composite.addComponent(true, Pattern.fill(OURS.directBuffer(part), at + i, part));
                    i += part;
                }
                return composite;
            }
            default -> {
                ByteBuf whole = Pattern.fill(OURS.directBuffer(n + 100).writeZero(50), at, n);
                ByteBuf slice = whole.retainedSlice(50, n);
                whole.release();
                return slice;
            }
        }
    }

    @Test
    void shouldReportNoProgressWhileWritesStandStill() throws Exception {
        Pair pair = pair(ignoring(), ignoring());
        RdmaSocketChannel client = pair.client();
        pair.server().config().setAutoRead(false);
        Queue<Long> told = new ConcurrentLinkedQueue<>();
        ChannelProgressivePromise promise = client.newProgressivePromise();
        promise.addListener(new ChannelProgressiveFutureListener() {
            @Override
            public void operationProgressed(ChannelProgressiveFuture future, long bytes, long total) {
                told.add(bytes);
            }

            @Override
            public void operationComplete(ChannelProgressiveFuture future) {}
        });
        int size = 8 << 20;
        client.writeAndFlush(OURS.directBuffer(size).writeZero(size), promise);
        await(() -> !told.isEmpty(), () -> "no progress");
        for (int i = 0; i < 10; i++) {
            client.eventLoop().submit(client::flush).sync();
        }
        pair.server().config().setAutoRead(true);
        promise.sync();
        assertEquals(List.copyOf(new TreeSet<>(told)), List.copyOf(told));
    }

    @Test
    void shouldGiveBackWhatItHasSentThoughNothingElseHappens() throws Exception {
        Pattern.Checker checker = new Pattern.Checker(1 << 20);
        Pair pair = pair(ignoring(), checker);
        verbs.faults().holdAcks(true);
        ByteBuf buffer = Pattern.fill(OURS.directBuffer(1 << 20), 0, 1 << 20);
        buffer.retain();
        ChannelFuture written = pair.client().writeAndFlush(buffer);
        await(() -> metrics.sentLentBytes() > sentLent, () -> "nothing is sent");
        assertTrue(buffer.refCnt() > 1, "released before it is acknowledged");
        verbs.faults().holdAcks(false);
        written.sync();
        await(() -> buffer.refCnt() == 1, () -> "still retained " + buffer.refCnt() + " times");
        buffer.release();
        checker.await();
    }

    /** There are more than there is room for at first, and the oldest is not in the first place. */
    @Test
    void shouldGiveBackEachOfMoreBuffersThanEverBefore() throws Exception {
        int size = 8192;
        int before = 5;
        int more = 24;
        Pattern.Checker checker = new Pattern.Checker(1L * (before + more) * size);
        Pair pair = pair(ignoring(), checker);
        List<ByteBuf> all = new ArrayList<>();
        for (int i = 0; i < before + more; i++) {
            if (i == before) {
                await(() -> all.stream().allMatch(each -> each.refCnt() == 0), () -> "still retained");
                verbs.faults().holdAcks(true);
            }
            ByteBuf buffer = Pattern.fill(OURS.directBuffer(size), 1L * i * size, size);
            all.add(buffer);
            pair.client().writeAndFlush(buffer).sync();
        }
        assertTrue(all.subList(before, all.size()).stream().allMatch(each -> each.refCnt() == 1), "all are lent");
        verbs.faults().holdAcks(false);
        await(() -> all.stream().allMatch(each -> each.refCnt() == 0), () -> "still retained");
        checker.await();
    }

    @Test
    void shouldGiveBackWhatItHasSentWithReadingSwitchedOff() throws Exception {
        Pattern.Checker checker = new Pattern.Checker(1 << 20);
        Pair pair = pair(ignoring(), checker);
        pair.client().config().setAutoRead(false);
        ByteBuf buffer = Pattern.fill(OURS.directBuffer(1 << 20), 0, 1 << 20);
        pair.client().writeAndFlush(buffer).sync();
        await(() -> buffer.refCnt() == 0, () -> "still retained");
        checker.await();
    }

    @Test
    void shouldGiveBackWhatItHasSentFromAnotherEventLoop() throws Exception {
        Pattern.Checker checker = new Pattern.Checker(1 << 16);
        Pair pair = pair(ignoring(), checker);
        pair.client().config().setAutoRead(false);
        verbs.faults().holdAcks(true);
        ByteBuf buffer = Pattern.fill(OURS.directBuffer(1 << 16), 0, 1 << 16);
        pair.client().writeAndFlush(buffer).sync();
        EventLoop other = loops.next();
        if (other == pair.client().eventLoop()) {
            other = loops.next();
        }
        pair.client().deregister().sync();
        other.register(pair.client()).sync();
        assertEquals(1, buffer.refCnt());
        verbs.faults().holdAcks(false);
        await(() -> buffer.refCnt() == 0, () -> "still retained");
        checker.await();
    }

    @Test
    void shouldBoundWhatItLendsToAPeerThatDoesNotRead() throws Exception {
        int total = 32 << 20;
        Pattern.Checker checker = new Pattern.Checker(total);
        Pair pair = pair(ignoring(), checker);
        pair.server().config().setAutoRead(false);
        int most = pair.client().config().getSendBufferSize();
        List<ByteBuf> all = new ArrayList<>();
        for (int at = 0; at < total; at += 1 << 16) {
            ByteBuf buffer = Pattern.fill(OURS.directBuffer(1 << 16), at, 1 << 16);
            all.add(buffer);
            pair.client().writeAndFlush(buffer);
        }
        pair.client().eventLoop().submit(() -> {}).sync();
        int granted = pair.server().config().getReceiveBufferSize();
        assertFalse(pair.client().isWritable());
        assertTrue(
                metrics.sentLentBytes() - sentLent <= 2L * most + granted,
                () -> metrics + ", send buffer " + most + ", receive buffer " + granted);
        pair.server().config().setAutoRead(true);
        checker.await();
        await(() -> all.stream().allMatch(each -> each.refCnt() == 0), () -> "not all is released");
        await(pair.client()::isWritable, () -> "not writable");
    }

    @Test
    void shouldFailWritesThatWaitWhenThePeerResets() throws Exception {
        Pair pair = pair(ignoring(), ignoring());
        pair.client().config().setAutoRead(false);
        pair.server().config().setAutoRead(false);
        List<ByteBuf> all = new ArrayList<>();
        ChannelFuture last = null;
        for (int at = 0; at < 32 << 20; at += 1 << 18) {
            ByteBuf buffer = Pattern.fill(OURS.directBuffer(1 << 18), at, 1 << 18);
            all.add(buffer);
            last = pair.client().writeAndFlush(buffer);
        }
        pair.client().eventLoop().submit(() -> {}).sync();
        assertFalse(last.isDone());
        pair.server().config().setSoLinger(0);
        pair.server().close().sync();
        assertTrue(last.await(PATIENCE, TimeUnit.SECONDS), "the write waits for ever");
        assertFalse(last.isSuccess());
        await(() -> all.stream().allMatch(each -> each.refCnt() == 0), () -> "not all is released");
    }

    @Test
    void shouldSendOneBufferThatIsLargerThanEverything() throws Exception {
        int total = 24 << 20;
        Pattern.Checker checker = new Pattern.Checker(total);
        Pair pair = pair(ignoring(), checker);
        ByteBuf buffer = Pattern.fill(OURS.directBuffer(total), 0, total);
        pair.client().writeAndFlush(buffer).sync();
        checker.await();
        assertEquals(total, metrics.sentLentBytes() - sentLent);
        await(() -> buffer.refCnt() == 0, () -> "still retained");
    }

    /** Less than one piece that is lent: there is always one on its way alone. */
    @Test
    void shouldSendALargeBufferThroughASmallSendBuffer() throws Exception {
        sendBuffer = 8192;
        int total = 1 << 20;
        Pattern.Checker checker = new Pattern.Checker(total);
        Pair pair = pair(ignoring(), checker);
        ByteBuf buffer = Pattern.fill(OURS.directBuffer(total), 0, total);
        pair.client().writeAndFlush(buffer).sync();
        checker.await();
        assertEquals(total, metrics.sentLentBytes() - sentLent);
        await(() -> buffer.refCnt() == 0, () -> "still retained");
    }

    /** Else the path would be empty while the last acknowledgement is on its way. */
    @Test
    void shouldGoOnWithALargeBufferBeforeAllThatIsSentIsAcknowledged() throws Exception {
        sendBuffer = 16 << 20;
        int total = 2 * sendBuffer;
        CountDownLatch stopped = new CountDownLatch(1);
        int enough = sendBuffer / 2 + (1 << 18); // what arrives beyond it is less than the other half
        Pattern.Checker checker = new Pattern.Checker(total);
        Pair pair = pair(ignoring(), new ChannelInboundHandlerAdapter() {
            private long seen;

            @Override
            public void channelRead(ChannelHandlerContext context, Object message) {
                long before = seen;
                seen += ((ByteBuf) message).readableBytes();
                if (before < enough && seen >= enough) {
                    context.channel().config().setAutoRead(false);
                    stopped.countDown();
                }
                context.fireChannelRead(message);
            }
        });
        pair.server().pipeline().addLast(checker);
        ChannelFuture written = pair.client().writeAndFlush(Pattern.fill(OURS.directBuffer(total), 0, total));
        assertTrue(stopped.await(PATIENCE, TimeUnit.SECONDS), "too little comes");
        await(() -> metrics.sentLentBytes() - sentLent > sendBuffer, () -> "it waits for everything: " + metrics);
        assertFalse(written.isDone());
        pair.server().config().setAutoRead(true);
        checker.await();
        written.sync();
    }

    @Test
    void shouldReadFilesIntoMemoryThatItLends(@TempDir Path folder) throws Exception {
        int size = 3_000_000;
        File file = folder.resolve("file").toFile();
        ByteBuf content = Pattern.fill(Unpooled.buffer(size), 0, size);
        Files.write(file.toPath(), content.array());
        Pattern.Checker checker = new Pattern.Checker(size + 3);
        Pair pair = pair(ignoring(), checker);
        try (RandomAccessFile open = new RandomAccessFile(file, "r")) {
            pair.client().write(new DefaultFileRegion(open.getChannel(), 0, size));
            pair.client()
                    .writeAndFlush(Pattern.fill(Unpooled.buffer(3), size, 3))
                    .sync();
        }
        checker.await();
        assertTrue(metrics.sentLentBytes() - sentLent > size - 4096, metrics::toString);
    }

    /** Such as those that compress or encrypt. */
    @Test
    void shouldSendAFileRegionThatWritesUntilAllIsTaken(@TempDir Path folder) throws Exception {
        int size = 1 << 20;
        File file = folder.resolve("file").toFile();
        Files.write(file.toPath(), Pattern.bytes(0, size));
        Pattern.Checker checker = new Pattern.Checker(size);
        Pair pair = pair(ignoring(), checker);
        AtomicBoolean over = new AtomicBoolean();
        ChannelFuture written = pair.client().writeAndFlush(new DefaultFileRegion(file, 0, size) {
            @Override
            public long transferTo(WritableByteChannel target, long position) throws IOException {
                long sum = 0;
                while (position + sum < count() && !over.get()) {
                    sum += super.transferTo(target, position + sum);
                }
                return sum;
            }
        });
        try {
            assertTrue(written.await(PATIENCE, TimeUnit.SECONDS), "it writes for ever");
            assertTrue(written.isSuccess(), () -> String.valueOf(written.cause()));
        } finally {
            over.set(true);
        }
        checker.await();
    }

    @Test
    void shouldFailAFileRegionThatWritesMoreThanItHas(@TempDir Path folder) throws Exception {
        File file = folder.resolve("file").toFile();
        Files.write(file.toPath(), Pattern.bytes(0, 1000));
        Pair pair = pair(ignoring(), ignoring());
        AtomicBoolean over = new AtomicBoolean();
        ChannelFuture written = pair.client().writeAndFlush(new DefaultFileRegion(file, 0, 1000) {
            @Override
            public long transferTo(WritableByteChannel target, long position) throws IOException {
                while (!over.get()) {
                    super.transferTo(target, 0);
                }
                return count();
            }
        });
        try {
            assertTrue(written.await(PATIENCE, TimeUnit.SECONDS), "it writes for ever");
            assertTrue(written.cause() instanceof IOException, () -> String.valueOf(written.cause()));
        } finally {
            over.set(true);
        }
    }

    /** Else a connection whose event loop lacks memory for a moment would never be freed. */
    @Test
    void shouldGiveBackWhatItCannotHandOut() throws Exception {
        Pair pair = pair(ignoring(), ignoring());
        RdmaSocketChannel server = pair.server();
        server.config().setAutoRead(false);
        pair.client().writeAndFlush(OURS.directBuffer(8192).writeZero(8192)).sync();
        RdmaStream stream =
                ChannelAccess.streamOf((SocketChannel) server.unsafe().ch());
        await(
                () -> {
                    stream.poll();
                    return stream.isReadable();
                },
                () -> "nothing has come");
        server.eventLoop()
                .submit(() -> assertThrows(
                        NullPointerException.class,
                        () -> server.unsafe().recvBufAllocHandle().allocate(null)))
                .sync(); // fails as if no memory were left; afterwards everything has to be freed
    }

    @Test
    void shouldSayWhichFileRegionIsTooLargeToBeTakenAtOnce() throws Exception {
        long size = 3L << 30;
        Pair pair = pair(ignoring(), ignoring());
        ChannelFuture written = pair.client().writeAndFlush(new DefaultFileRegion(new File("any"), 0, size) {
            @Override
            public long transferTo(WritableByteChannel target, long position) throws IOException {
                ByteBuffer bytes = ByteBuffer.allocate(1 << 19);
                while (bytes.hasRemaining()) {
                    target.write(bytes);
                }
                return bytes.position();
            }
        });
        assertTrue(written.await(PATIENCE, TimeUnit.SECONDS), "it writes for ever");
        assertEquals(
                "a file region writes until all of it is taken, and has " + size + " bytes: no buffer can be as large",
                written.cause().getMessage());
    }

    /** Such a close is another thread's, which takes over what is lent. */
    @Test
    void shouldLendNothingAfterACloseThatLingers() throws Exception {
        Pair pair = pair(ignoring(), ignoring());
        pair.client().config().setSoLinger(1);
        CountDownLatch mayClose = new CountDownLatch(1);
        GlobalEventExecutor.INSTANCE.submit(() -> mayClose.await(PATIENCE, TimeUnit.SECONDS));
        List<ByteBuf> all = new ArrayList<>();
        for (int i = 0; i < 8; i++) {
            ByteBuf buffer = OURS.directBuffer(1 << 16).writeZero(1 << 16);
            all.add(buffer);
            ChannelFuture written = pair.client().write(buffer);
            if (i == 2) {
                written.addListener(done -> pair.client().close());
            }
        }
        pair.client().flush();
        pair.client().eventLoop().submit(() -> {}).sync();
        long before = metrics.sentLentBytes();
        mayClose.countDown();
        assertEquals(3 << 16, before - sentLent);
        pair.client().closeFuture().sync();
        await(() -> all.stream().allMatch(each -> each.refCnt() == 0), () -> "not all is released");
    }

    /** Answers with a message that holds what was read, and keeps the messages. */
    private static final class Enclosing extends ChannelInboundHandlerAdapter {
        final Queue<ByteBuf> answers = new ConcurrentLinkedQueue<>();
        private final Supplier<RdmaSocketChannel> to;
        private final boolean closes;

        /** @param to which channel answers */
        Enclosing(Supplier<RdmaSocketChannel> to, boolean closes) {
            this.to = to;
            this.closes = closes;
        }

        @Override
        public void channelRead(ChannelHandlerContext context, Object message) {
            ByteBuf answer = OURS.compositeBuffer()
                    .addComponent(true, OURS.directBuffer(8192).writeZero(8192))
                    .addComponent(true, (ByteBuf) message);
            answers.add(answer);
            ChannelFuture written = to.get().writeAndFlush(answer);
            if (closes) {
                written.addListener(ChannelFutureListener.CLOSE);
            }
        }

        void awaitReleased() throws InterruptedException {
            await(
                    () -> !answers.isEmpty() && answers.stream().allMatch(each -> each.refCnt() == 0),
                    () -> answers + " are not released");
        }
    }

    /** Else what was sent would wait for the end of the connection, and that for what was read, for ever. */
    @Test
    void shouldFreeAClosedConnectionWhoseMessagesHoldWhatItHasRead() throws Exception {
        AtomicReference<RdmaSocketChannel> server = new AtomicReference<>();
        Enclosing answering = new Enclosing(server::get, true);
        Pair pair = pair(ignoring(), answering);
        server.set(pair.server());
        pair.client().writeAndFlush(OURS.directBuffer(8192).writeZero(8192)).sync();
        answering.awaitReleased();
        assertTrue(metrics.receivedLentBytes() > receivedLent, "nothing was lent");
    }

    @Test
    void shouldFreeAResetConnectionWhoseMessagesHoldWhatItHasRead() throws Exception {
        AtomicReference<RdmaSocketChannel> server = new AtomicReference<>();
        Enclosing answering = new Enclosing(server::get, true);
        Pair pair = pair(ignoring(), answering);
        server.set(pair.server());
        pair.client().config().setAutoRead(false); // it would close itself at the end of what the server sends
        verbs.faults().holdAcks(true);
        pair.client().writeAndFlush(OURS.directBuffer(8192).writeZero(8192)).sync();
        pair.server().closeFuture().sync();
        assertTrue(answering.answers.element().refCnt() > 0, "released before it is acknowledged");
        pair.client().config().setSoLinger(0);
        pair.client().close().sync();
        answering.awaitReleased();
    }

    /** As of a proxy. */
    @Test
    void shouldFreeTwoConnectionsWhoseMessagesHoldWhatTheOtherHasRead() throws Exception {
        AtomicReference<RdmaSocketChannel> one = new AtomicReference<>();
        AtomicReference<RdmaSocketChannel> other = new AtomicReference<>();
        Enclosing toOther = new Enclosing(other::get, false);
        Enclosing toOne = new Enclosing(one::get, false);
        Pair first = pair(ignoring(), toOther);
        Pair second = pair(ignoring(), toOne);
        one.set(first.server());
        other.set(second.server());
        verbs.faults().holdAcks(true);
        for (Pair each : List.of(first, second)) {
            each.client().writeAndFlush(OURS.directBuffer(8192).writeZero(8192)).sync();
        }
        await(() -> metrics.sentLentBytes() - sentLent >= 4 * 8192, () -> "not all is sent: " + metrics);
        for (Pair each : List.of(first, second)) {
            each.client().config().setSoLinger(0);
            each.client().close().sync();
            each.server().close().sync();
        }
        toOther.awaitReleased();
        toOne.awaitReleased();
    }

    @Test
    void shouldGiveBackEverythingWhateverEndsTheConnection() throws Exception {
        Random random = new Random(3);
        for (int round = 0; round < 60; round++) {
            Pair pair = pair(ignoring(), ignoring());
            List<ByteBuf> all = new ArrayList<>();
            pair.server().config().setAutoRead(random.nextBoolean());
            for (RdmaSocketChannel end : List.of(pair.client(), pair.server())) {
                for (int i = random.nextInt(40); i > 0; i--) {
                    ByteBuf buffer = OURS.directBuffer(1 << 16).writeZero(1 << 16);
                    all.add(buffer);
                    end.write(buffer);
                }
                end.flush();
            }
            RdmaSocketChannel first = random.nextBoolean() ? pair.client() : pair.server();
            if (random.nextBoolean()) {
                first.config().setSoLinger(random.nextBoolean() ? 0 : 1);
            }
            first.close().sync();
            pair.client().close().sync();
            pair.server().close().sync();
            int n = round;
            await(() -> all.stream().allMatch(each -> each.refCnt() == 0), () -> "not all is released in round " + n);
        }
    }
}
