/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.netty;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.buffer.ByteBuf;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jrsocket.stream.Sweeps;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** How long memory that was sent from stays registered while the connection is open. */
@Tag("once")
@SuppressWarnings("FutureReturnValueIgnored") // what fails shows in what arrives
class RegistrationsTest extends ChannelTests {

    private static final int LARGE = 8 << 20; // more than a chunk
    private static final int CHUNK = 2 << 20;

    /** What other tests have left would count towards the spare chunks that the allocator keeps. */
    @BeforeEach
    void beginWithoutSpareChunks() {
        RdmaByteBufAllocator.DEFAULT.retireSpares();
    }

    private static void awaitRegistered(RdmaSocketChannel channel, long most) throws InterruptedException {
        await(() -> channel.registeredBytes() <= most, () -> channel.registeredBytes() + " bytes are still registered");
    }

    private static ByteBuf buffer(int bytes) {
        return Pattern.fill(RdmaByteBufAllocator.DEFAULT.directBuffer(bytes), 0, bytes);
    }

    @Test
    void shouldEndWithALargeBufferThatIsSent() throws Exception {
        Pattern.Checker checker = new Pattern.Checker(LARGE);
        Pair pair = pair(ignoring(), checker);
        long before = pair.client().registeredBytes();
        pair.client().writeAndFlush(buffer(LARGE)).sync();
        checker.await();
        awaitRegistered(pair.client(), before);
        assertTrue(pair.client().isActive());
    }

    @Test
    void shouldEndWithALargeBufferThatItsOwnerReleasesLater() throws Exception {
        Pattern.Checker checker = new Pattern.Checker(LARGE);
        Pair pair = pair(ignoring(), checker);
        long before = pair.client().registeredBytes();
        ByteBuf buffer = buffer(LARGE);
        pair.client().writeAndFlush(buffer.retain()).sync();
        checker.await();
        await(() -> buffer.refCnt() == 1, () -> "still retained");
        assertTrue(pair.client().registeredBytes() >= before + LARGE);
        Chunk chunk = RdmaByteBufAllocatorTest.chunkOf(buffer);
        buffer.release();
        awaitRegistered(pair.client(), before);
        assertTrue(pair.client().isActive());
        await(chunk::isFreed, () -> "its memory is kept");
    }

    /** The registration ends within the release then: it need not wait until the connection is quiet. */
    @Test
    void shouldFreeALargeBufferAtOnceThatTheEventLoopReleases() throws Exception {
        Pattern.Checker checker = new Pattern.Checker(LARGE);
        Pair pair = pair(ignoring(), checker);
        ByteBuf buffer = buffer(LARGE);
        pair.client().writeAndFlush(buffer.retain()).sync();
        checker.await();
        await(() -> buffer.refCnt() == 1, () -> "still retained");
        Chunk chunk = RdmaByteBufAllocatorTest.chunkOf(buffer);
        pair.client().eventLoop().submit(() -> buffer.release()).sync();
        assertTrue(chunk.isFreed());
    }

    /** The connection is closed then, but its device may still send. */
    @Test
    void shouldFreeALargeBufferThatIsReleasedAfterTheEventLoopHasEnded() throws Exception {
        Pattern.Checker checker = new Pattern.Checker(LARGE);
        Pair pair = pair(ignoring(), checker);
        ByteBuf buffer = buffer(LARGE);
        pair.client().writeAndFlush(buffer.retain()).sync();
        checker.await();
        await(() -> buffer.refCnt() == 1, () -> "still retained");
        verbs.faults().holdAcks(true);
        pair.client().writeAndFlush(buffer(4096)).sync();
        loops.shutdownGracefully(0, PATIENCE, TimeUnit.SECONDS).sync();
        Chunk chunk = RdmaByteBufAllocatorTest.chunkOf(buffer);
        buffer.release();
        verbs.faults().holdAcks(false);
        await(chunk::isFreed, () -> "its memory is kept");
    }

    /** Else the chunk, which serves the next ones, would keep each connection that there ever was. */
    @Test
    void shouldForgetAConnectionThatIsClosed() throws Exception {
        Pattern.Checker checker = new Pattern.Checker(65536);
        Pair pair = pair(ignoring(), checker);
        ByteBuf buffer = buffer(65536);
        Chunk chunk = RdmaByteBufAllocatorTest.chunkOf(buffer);
        pair.client().writeAndFlush(buffer).sync();
        checker.await();
        await(() -> buffer.refCnt() == 0, () -> "still retained");
        assertTrue(chunk.isRegistered());
        pair.client().close().sync();
        await(() -> !chunk.isRegistered(), () -> "the connection is kept");
    }

    @Test
    void shouldEndOnEachConnectionThatHasSentIt() throws Exception {
        List<RdmaSocketChannel> clients = new ArrayList<>();
        List<Long> before = new ArrayList<>();
        ByteBuf buffer = buffer(LARGE);
        for (int i = 0; i < 3; i++) {
            Pattern.Checker checker = new Pattern.Checker(LARGE);
            RdmaSocketChannel client = pair(ignoring(), checker).client();
            clients.add(client);
            before.add(client.registeredBytes());
            client.writeAndFlush(buffer.retainedDuplicate()).sync();
            checker.await();
        }
        await(() -> buffer.refCnt() == 1, () -> "still retained");
        clients.get(0).close().sync();
        buffer.release();
        for (int i = 1; i < clients.size(); i++) {
            awaitRegistered(clients.get(i), before.get(i));
        }
    }

    /** All that each of them has sent from, once, would be all that there is. */
    @Test
    void shouldLeaveRoomForNewConnectionsAndEndWhenQuiet() throws Exception {
        List<Pair> pairs = new ArrayList<>();
        List<Pattern.Checker> checkers = new ArrayList<>();
        List<Long> before = new ArrayList<>();
        for (int i = 0; i < 2; i++) {
            checkers.add(new Pattern.Checker(4096 + 65536));
            pairs.add(pair(ignoring(), checkers.get(i)));
            pairs.get(i).server().config().setAutoRead(false); // a reader would need memory, too
            before.add(pairs.get(i).client().registeredBytes());
        }
        transport.freeIdle();
        transport.limitMemory(transport.registeredMemory() + 2 * 2 * CHUNK + 48 * 1024);
        for (Pair each : pairs) {
            each.client().writeAndFlush(buffer(4096)).sync();
            each.client()
                    .writeAndFlush(Pattern.fill(RdmaByteBufAllocator.DEFAULT.directBuffer(65536), 4096, 65536))
                    .sync();
        }
        assertTrue(transport.registeredMemory() > 3 * CHUNK, "nothing was lent");
        pair(ignoring(), ignoring());
        for (int i = 0; i < pairs.size(); i++) {
            pairs.get(i).server().config().setAutoRead(true);
            checkers.get(i).await();
            long left = before.get(i);
            RdmaSocketChannel client = pairs.get(i).client();
            await(
                    () -> {
                        Sweeps.quiet(transport);
                        return client.registeredBytes() <= left;
                    },
                    () -> client.registeredBytes() + " bytes are still registered");
            assertTrue(client.isActive());
        }
    }

    @Test
    void shouldEndWhatIsLeftWhenQuietThoughALargeBufferHasEndedBefore() throws Exception {
        Pattern.Checker checker = new Pattern.Checker(4096 + LARGE);
        Pair pair = pair(ignoring(), checker);
        long before = pair.client().registeredBytes();
        pair.client().writeAndFlush(buffer(4096)).sync();
        pair.client()
                .writeAndFlush(Pattern.fill(RdmaByteBufAllocator.DEFAULT.directBuffer(LARGE), 4096, LARGE))
                .sync();
        checker.await();
        await(() -> pair.client().registeredBytes() < before + LARGE, () -> "the large one has not ended");
        await(
                () -> {
                    Sweeps.quiet(transport);
                    return pair.client().registeredBytes() <= before;
                },
                () -> pair.client().registeredBytes() + " bytes are still registered");
    }

    @Test
    void shouldEndForAnotherOneWhenMemoryIsShort() throws Exception {
        Pattern.Checker checker = new Pattern.Checker(4096 + 65536);
        Pair pair = pair(ignoring(), checker);
        long before = pair.client().registeredBytes();
        transport.limitMemory((transport.registeredMemory() + CHUNK + CHUNK / 2) / 3 * 4);
        long lent = Rdma.metrics().sentLentBytes();
        ByteBuf first = buffer(4096);
        pair.client().writeAndFlush(first);
        await(() -> first.refCnt() == 0, () -> "still retained");
        pair.client()
                .writeAndFlush(Pattern.fill(RdmaByteBufAllocator.DEFAULT.directBuffer(65536), 4096, 65536))
                .sync();
        checker.await();
        assertEquals(4096 + 65536, Rdma.metrics().sentLentBytes() - lent);
        assertEquals(before + CHUNK, pair.client().registeredBytes());
    }

    /** Which is the one that was not sent from for the longest time. */
    @Test
    void shouldEndForAnotherOneWhenAConnectionHasAsManyAsItMayHave() throws Exception {
        int most = 64 << 20;
        int chunks = most / CHUNK + 3;
        Pattern.Checker checker = new Pattern.Checker(1L * chunks * CHUNK);
        Pair pair = pair(ignoring(), checker);
        long before = pair.client().registeredBytes();
        long lent = Rdma.metrics().sentLentBytes();
        List<ByteBuf> all = new ArrayList<>();
        for (int i = 0; i < chunks; i++) {
            boolean again = i == most / CHUNK; // the pattern has begun anew there
            ByteBuf buffer = again
                    ? all.get(0)
                    : Pattern.fill(RdmaByteBufAllocator.DEFAULT.directBuffer(CHUNK), 1L * i * CHUNK, CHUNK);
            all.add(buffer);
            pair.client().writeAndFlush(buffer.retainedDuplicate()).sync();
            await(() -> buffer.refCnt() == 1, () -> "still retained");
        }
        checker.await();
        assertEquals(1L * chunks * CHUNK, Rdma.metrics().sentLentBytes() - lent);
        assertEquals(before + most, pair.client().registeredBytes());
        assertTrue(RdmaByteBufAllocatorTest.chunkOf(all.get(0)).isRegistered());
        assertFalse(RdmaByteBufAllocatorTest.chunkOf(all.get(1)).isRegistered());
        all.remove(most / CHUNK);
        all.forEach(ByteBuf::release);
    }

    /** Else a connection that sends from more memory would register some for each message: longer than a copy takes. */
    @Test
    void shouldNotEndForAnotherOneWhatWasSentFromJustNow() throws Exception {
        int chunks = (64 << 20) / CHUNK + 8;
        int pieces = 4;
        List<ByteBuf> all = new ArrayList<>();
        for (int i = 0; i < chunks * pieces; i++) {
            all.add(RdmaByteBufAllocator.DEFAULT.directBuffer(CHUNK / pieces));
        }
        List<ByteBuf> ofEach = new ArrayList<>();
        for (int i = 0; i < chunks; i++) { // the same content: each is sent anew
            ofEach.add(Pattern.fill(all.get(i * pieces), 0, CHUNK / pieces));
        }
        RdmaSocketChannel client = pair(ignoring(), ignoring()).client();
        long[] sent = new long[chunks];
        for (int i = 0; i < 3 * chunks; i++) {
            boolean[] before = registered(ofEach);
            sent[i % chunks] = System.nanoTime();
            send(client, ofEach.get(i % chunks));
            boolean[] after = registered(ofEach);
            for (int k = 0; k < chunks; k++) {
                long ago = System.nanoTime() - sent[k];
                assertFalse(before[k] && !after[k] && ago < 1_000_000_000L, "ended " + ago + " ns after it was used");
            }
        }
        TimeUnit.MILLISECONDS.sleep(1001);
        for (ByteBuf each : ofEach.subList(0, chunks - 8)) {
            send(client, each);
            assertTrue(RdmaByteBufAllocatorTest.chunkOf(each).isRegistered());
        }
        all.forEach(ByteBuf::release);
    }

    private static void send(RdmaSocketChannel client, ByteBuf buffer) throws Exception {
        client.writeAndFlush(buffer.retainedDuplicate()).sync();
        await(() -> buffer.refCnt() == 1, () -> "still retained");
    }

    private static boolean[] registered(List<ByteBuf> buffers) {
        boolean[] registered = new boolean[buffers.size()];
        for (int i = 0; i < registered.length; i++) {
            registered[i] = RdmaByteBufAllocatorTest.chunkOf(buffers.get(i)).isRegistered();
        }
        return registered;
    }

    @Test
    void shouldLendOneThatIsLargerThanAConnectionMayHaveOtherwise() throws Exception {
        int larger = (64 << 20) + CHUNK;
        Pattern.Checker checker = new Pattern.Checker(4096 + larger);
        Pair pair = pair(ignoring(), checker);
        long before = pair.client().registeredBytes();
        long lent = Rdma.metrics().sentLentBytes();
        ByteBuf first = buffer(4096);
        pair.client().writeAndFlush(first).sync();
        await(() -> first.refCnt() == 0, () -> "still retained");
        pair.client()
                .writeAndFlush(Pattern.fill(RdmaByteBufAllocator.DEFAULT.directBuffer(larger), 4096, larger))
                .sync();
        checker.await();
        assertEquals(4096 + larger, Rdma.metrics().sentLentBytes() - lent);
        awaitRegistered(pair.client(), before);
    }

    @Test
    void shouldCopyWhereThereIsNoMemoryLeftToRegister() throws Exception {
        Pattern.Checker checker = new Pattern.Checker(65536);
        Pair pair = pair(ignoring(), checker);
        transport.limitMemory(transport.registeredMemory());
        long copied = Rdma.metrics().sentCopiedBytes();
        pair.client().writeAndFlush(buffer(65536)).sync();
        checker.await();
        assertEquals(65536, Rdma.metrics().sentCopiedBytes() - copied);
    }

    /** A few chunks are kept, registered, for what is sent next. */
    @Test
    void shouldEndWithChunksThatAreNotNeededAnyMore() throws Exception {
        int chunks = 20;
        Pattern.Checker checker = new Pattern.Checker(1L * chunks * CHUNK);
        Pair pair = pair(ignoring(), checker);
        long before = pair.client().registeredBytes();
        List<ByteBuf> all = new ArrayList<>();
        for (int i = 0; i < chunks; i++) {
            ByteBuf buffer = Pattern.fill(RdmaByteBufAllocator.DEFAULT.directBuffer(CHUNK), 1L * i * CHUNK, CHUNK);
            all.add(buffer);
            pair.client().writeAndFlush(buffer.retain());
        }
        checker.await();
        await(() -> all.stream().allMatch(each -> each.refCnt() == 1), () -> "still retained");
        assertTrue(pair.client().registeredBytes() >= before + 1L * chunks * CHUNK);
        all.forEach(ByteBuf::release);
        awaitRegistered(pair.client(), before + 12L * CHUNK);
        assertTrue(pair.client().isActive());
    }
}
