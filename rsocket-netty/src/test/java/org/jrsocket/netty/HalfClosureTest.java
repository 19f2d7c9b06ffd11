/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.netty;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.PooledByteBufAllocator;
import io.netty.channel.ChannelFuture;
import io.netty.channel.DefaultFileRegion;
import java.io.File;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.ByteBuffer;
import java.nio.channels.WritableByteChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A channel whose output is shut: it costs nothing while it only reads, and keeps nothing of what it has sent. */
@Tag("once")
@Timeout(2 * ChannelTests.PATIENCE)
@SuppressWarnings("FutureReturnValueIgnored") // what fails shows in what arrives
class HalfClosureTest extends ChannelTests {

    private static final ByteBufAllocator OURS = RdmaByteBufAllocator.DEFAULT;
    private static final int SMALL = 1000;
    private static final int LARGE = 1 << 16;

    @Override
    void configure(RdmaSocketChannel channel) {
        channel.config().setAllowHalfClosure(true);
    }

    /** A pair whose server does not read yet. */
    private Pair silentPair() throws InterruptedException {
        Pair pair = pair(ignoring(), ignoring());
        pair.server().config().setAutoRead(false);
        pair.server().eventLoop().submit(() -> {}).sync();
        return pair;
    }

    /** Which of them are complete in a write that waited for room depends on how many there are. */
    @ParameterizedTest
    @ValueSource(ints = {1500, 3000, 5000, 20_000})
    void shouldRestAfterAHalfCloseByAWriteListener(int messages) throws Exception {
        Pattern.Checker checker = new Pattern.Checker((long) messages * SMALL);
        Pair pair = pair(ignoring(), checker);
        pair.server().config().setAutoRead(false);
        ChannelFuture last = null;
        for (long at = 0; at < (long) messages * SMALL; at += SMALL) {
            last = pair.client().write(Pattern.fill(PooledByteBufAllocator.DEFAULT.directBuffer(SMALL), at, SMALL));
        }
        last.addListener(written -> pair.client().shutdownOutput());
        pair.client().flush();
        pair.client().eventLoop().submit(() -> {}).sync();
        pair.server().config().setAutoRead(true);
        last.sync();
        checker.await();
        awaitRest(pair.client().eventLoop());
        assertTrue(pair.client().isOutputShutdown());
        assertTrue(pair.client().isActive());
    }

    @Test
    void shouldRestAfterAHalfCloseThatFailsWritesWhichWaitForRoom() throws Exception {
        Pair pair = silentPair();
        ChannelFuture last = null;
        for (int i = 0; i < 20_000; i++) {
            last = pair.client()
                    .write(PooledByteBufAllocator.DEFAULT.directBuffer(SMALL).writeZero(SMALL));
        }
        pair.client().flush();
        pair.client().eventLoop().submit(() -> {}).sync();
        assertFalse(last.isDone());
        pair.client().shutdownOutput().sync();
        assertFalse(last.await().isSuccess());
        awaitRest(pair.client().eventLoop());
        pair.server().config().setAutoRead(true);
        awaitRest(pair.client().eventLoop());
        assertTrue(pair.client().isActive());
    }

    @Test
    void shouldGiveBackWhatItHasSentAfterAHalfCloseByAWriteListener() throws Exception {
        Pattern.Checker checker = new Pattern.Checker(LARGE);
        Pair pair = pair(ignoring(), checker);
        verbs.faults().holdAcks(true);
        ByteBuf buffer = Pattern.fill(OURS.directBuffer(LARGE), 0, LARGE);
        ChannelFuture written = pair.client().write(buffer);
        written.addListener(done -> pair.client().shutdownOutput());
        pair.client().flush();
        written.sync();
        assertEquals(1, buffer.refCnt());
        verbs.faults().holdAcks(false);
        await(() -> buffer.refCnt() == 0, () -> "still retained");
        checker.await();
        assertTrue(pair.client().isActive());
    }

    /** As much as may be lent: what the channel waits for is then not the end, but that there is room again. */
    @Test
    void shouldGiveBackAllThatItMayLendAfterAHalfClose() throws Exception {
        int total = 16 * LARGE;
        Pattern.Checker checker = new Pattern.Checker(total);
        Pair pair = pair(ignoring(), checker);
        pair.server().config().setAutoRead(false);
        assertEquals(total, pair.client().config().getSendBufferSize());
        List<ByteBuf> all = new ArrayList<>();
        ChannelFuture last = null;
        for (int at = 0; at < total; at += LARGE) {
            ByteBuf buffer = Pattern.fill(OURS.directBuffer(LARGE), at, LARGE);
            all.add(buffer);
            last = pair.client().write(buffer);
        }
        pair.client().flush();
        last.sync();
        pair.client().shutdownOutput().sync();
        while (all.get(0).refCnt() > 0) { // a little at a time, so that the first half comes back alone
            pair.server().read();
            pair.server().eventLoop().submit(() -> {}).sync();
            Thread.sleep(1);
        }
        pair.server().config().setAutoRead(true);
        await(() -> all.stream().allMatch(each -> each.refCnt() == 0), () -> "still retained");
        checker.await();
        assertTrue(pair.client().isActive());
    }

    /** Netty shuts the output then, unless it was the connection that has failed. */
    @Test
    void shouldGiveBackWhatItHasSentBeforeAWriteThatFails() throws Exception {
        Pattern.Checker checker = new Pattern.Checker(LARGE + SMALL);
        Pair pair = pair(ignoring(), checker);
        verbs.faults().holdAcks(true);
        ByteBuf buffer = Pattern.fill(OURS.directBuffer(LARGE), 0, LARGE);
        pair.client().write(buffer);
        ChannelFuture failed = pair.client().writeAndFlush(new DefaultFileRegion(new File("none"), 0, LARGE) {
            @Override
            public long transferTo(WritableByteChannel target, long position) throws IOException {
                target.write(ByteBuffer.wrap(Pattern.bytes(LARGE, SMALL)));
                throw new IllegalStateException();
            }
        });
        assertFalse(failed.await().isSuccess());
        assertTrue(pair.client().isOutputShutdown());
        verbs.faults().holdAcks(false);
        await(() -> buffer.refCnt() == 0, () -> "still retained");
        await(pair.client()::holdsNothing, () -> "something is retained");
        checker.await();
        assertTrue(pair.client().isActive());
    }

    /** The piece of the file that it was about to send. */
    @Test
    void shouldKeepNothingOfAFileWhoseRestIsNotSentAnyMore(@TempDir Path folder) throws Exception {
        int size = 32 << 20;
        File file = folder.resolve("file").toFile();
        Files.write(file.toPath(), new byte[size]);
        Pair pair = silentPair();
        try (RandomAccessFile open = new RandomAccessFile(file, "r")) {
            ChannelFuture written = pair.client().writeAndFlush(new DefaultFileRegion(open.getChannel(), 0, size));
            pair.client().eventLoop().submit(() -> {}).sync();
            assertFalse(written.isDone());
            pair.client().shutdownOutput().sync();
            assertFalse(written.await().isSuccess());
        }
        pair.server().config().setAutoRead(true);
        await(pair.client()::holdsNothing, () -> "something is retained");
    }
}
