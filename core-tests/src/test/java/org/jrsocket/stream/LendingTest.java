/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.stream;

import static java.util.concurrent.TimeUnit.MILLISECONDS;
import static java.util.concurrent.TimeUnit.SECONDS;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.lang.ref.WeakReference;
import java.net.SocketException;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.Collections;
import java.util.Deque;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.jrsocket.wire.Imm;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Memory that is sent from, and read, where it lies. */
class LendingTest extends RawPeerTests {

    private static final StreamConfig DEFAULT = StreamConfig.DEFAULT.withSpinNanos(0);
    private static final int SIZE = 1 << 20;

    private StreamPair pair() throws IOException {
        return later(StreamPair.connect(transport, HERE, DEFAULT));
    }

    private static ByteBuffer direct(byte[] content) {
        return ByteBuffer.allocateDirect(content.length).put(content).flip();
    }

    @Test
    void shouldSendLentMemoryInOrderWithWhatIsCopied() throws Exception {
        StreamPair p = pair();
        byte[] content = bytes(SIZE);
        Future<byte[]> reader = background(() -> read(p.server, SIZE));
        try (LentMemory memory = p.client.register(direct(content))) {
            int at = 0;
            for (int i = 1; at < SIZE; i++) {
                int n = Math.min(SIZE - at, 37 * i);
                if (i % 2 == 0) {
                    p.client.write(content, at, n, PATIENCE);
                } else {
                    assertEquals(at + n, p.client.writeLent(memory, at, n));
                }
                at += n;
            }
            assertArrayEquals(content, get(reader));
            RawPeer.await(() -> p.client.acknowledged() == SIZE, () -> p.client.acknowledged() + " acknowledged");
            assertTrue(memory.isFree());
        }
    }

    @Test
    void shouldSendAHeaderAndLentMemoryInOneMessageWhileCorked() throws Exception {
        Link l = link(Role.PASSIVE);
        LentMemory memory = l.stream().register(direct(bytes(8192)));
        l.stream().cork(true);
        for (int at = 0; at < 8192; at += 4096) {
            l.stream().write(new byte[9], 0, 9, PATIENCE);
            l.stream().writeLent(memory, at, 4096);
        }
        assertEquals(0, l.stream().acknowledged(), "nobody was told that it is all");
        l.stream().cork(false);
        assertEquals(List.of(9 + 4096, 9 + 4096), lengths(awaitData(l.peer(), 2 * (9 + 4096))));
        l.stream().write(new byte[9], 0, 9, PATIENCE);
        assertEquals(List.of(9), lengths(awaitData(l.peer(), 9)));
    }

    private static List<Integer> lengths(List<RawPeer.Message> messages) {
        return messages.stream()
                .map(RawPeer.Message::imm)
                .filter(imm -> Imm.op(imm) == Imm.OP_DATA)
                .map(Imm::value)
                .toList();
    }

    @Test
    void shouldHoldBackNoMoreThanAMessageWhileCorked() throws Exception {
        StreamPair p = pair();
        byte[] content = bytes(SIZE);
        p.client.cork(true);
        Future<?> writer = background(() -> {
            p.client.write(content, 0, SIZE, PATIENCE); // waits for room, so it has to be sent
            p.client.write(content, 0, 1, PATIENCE);
            p.client.cork(false);
            return null;
        });
        assertArrayEquals(content, read(p.server, SIZE));
        assertEquals(content[0], read(p.server, 1)[0]);
        get(writer);
        p.client.cork(true);
        p.client.write(content, 0, 1, PATIENCE);
        p.client.close();
        p.client.cork(false);
        assertEquals(content[0], read(p.server, 1)[0]);
        assertEquals(-1, p.server.read(new byte[1], 0, 1, PATIENCE));
    }

    @Test
    void shouldKeepLentMemoryUntilItIsAcknowledged() throws Exception {
        Link l = link(Role.PASSIVE, RawPeer.Spec.DEFAULT.half(8192));
        verbs.faults().holdAcks(true);
        LentMemory memory = l.stream().register(direct(bytes(4096)));
        assertEquals(4096, l.stream().writeLent(memory, 0, 4096));
        assertFalse(memory.isFree());
        memory.close();
        assertThrows(IllegalStateException.class, () -> l.stream().writeLent(memory, 0, 1));
        verbs.faults().holdAcks(false);
        RawPeer.await(() -> l.stream().acknowledged() == 4096, () -> "never acknowledged");
        assertTrue(memory.isFree());
        assertArrayEquals(bytes(4096), RawPeer.bytesOf(awaitData(l.peer(), 4096)));
    }

    @Test
    void shouldGiveLentMemoryBackWithTheStreamWhenItFails() throws Exception {
        Link l = link(Role.PASSIVE, RawPeer.Spec.DEFAULT.half(100));
        LentMemory memory = l.stream().register(direct(bytes(4096)));
        l.stream().writeLent(memory, 0, 4096); // for most of it there is no room
        assertFalse(memory.isFree());
        l.stream().abort();
        RawPeer.await(memory::isFree, () -> "still lent");
        memory.close();
    }

    @Test
    void shouldTellWhenAnOffsetIsAcknowledgedOrNeverWillBe() throws Exception {
        Link l = link(Role.PASSIVE, RawPeer.Spec.DEFAULT.half(8192));
        verbs.faults().holdAcks(true);
        LentMemory memory = l.stream().register(direct(bytes(4096)));
        long end = l.stream().writeLent(memory, 0, 4096);
        assertFalse(l.stream().isAcknowledged(), "nobody has asked");
        l.stream().awaitAcknowledged(end);
        assertFalse(l.stream().isAcknowledged());
        verbs.faults().holdAcks(false);
        RawPeer.await(
                () -> {
                    l.stream().poll();
                    return l.stream().isAcknowledged();
                },
                () -> "never acknowledged");
        l.stream().awaitAcknowledged(end + 1);
        assertFalse(l.stream().isAcknowledged());
        l.stream().abort();
        assertTrue(l.stream().isAcknowledged());
    }

    @Test
    void shouldHaveAThreadWaitUntilAnOffsetIsAcknowledged() throws Exception {
        Link l = link(Role.PASSIVE, RawPeer.Spec.DEFAULT.half(8192));
        verbs.faults().holdAcks(true);
        LentMemory memory = l.stream().register(direct(bytes(4096)));
        long end = l.stream().writeLent(memory, 0, 4096);
        assertFalse(l.stream().awaitAcknowledged(end, MILLISECONDS.toNanos(20)), "nobody has acknowledged it");
        Future<Boolean> waiting = background(() -> l.stream().awaitAcknowledged(end, PATIENCE));
        StreamBehaviour.awaitInside("awaitAcknowledged", 1);
        assertFalse(waiting.isDone());
        verbs.faults().holdAcks(false);
        assertTrue(get(waiting));
        assertTrue(memory.isFree());
        assertTrue(l.stream().awaitAcknowledged(end, 1), "it is already");
    }

    /** A reader looks for messages alone, as a rule; the last of them must not hide what came before it. */
    @Test
    void shouldKnowWhatWasAcknowledgedBeforeThePeerClosed() throws Exception {
        StreamPair p = pair();
        LentMemory memory = p.client.register(direct(bytes(4096)));
        long end = p.client.writeLent(memory, 0, 4096);
        assertArrayEquals(bytes(4096), read(p.server, 4096));
        p.server.close();
        RawPeer.await(
                () -> {
                    p.client.pollMessages();
                    return p.client.isReadable();
                },
                () -> "the end has not come");
        assertTrue(p.client.awaitAcknowledged(end, PATIENCE));
        assertTrue(memory.isFree());
    }

    /** For small writes the device is not asked to tell, as a rule. */
    @Test
    void shouldHaveAThreadWaitForTheAcknowledgementOfWhatWasCopied() throws Exception {
        StreamPair p = pair();
        for (int i = 1; i <= 20; i++) {
            p.client.write(new byte[10], 0, 10, PATIENCE);
            if (i % 3 == 0) {
                assertTrue(p.client.awaitAcknowledged(10L * i, PATIENCE));
                assertTrue(p.client.acknowledged() >= 10L * i);
            }
        }
    }

    @Test
    void shouldTellASelectorOfTheAcknowledgementOfWhatWasCopied() throws Exception {
        StreamPair p = pair();
        for (int i = 1; i <= 3; i++) {
            p.client.write(new byte[10], 0, 10, PATIENCE);
            p.client.awaitAcknowledged(10L * i);
            p.client.arm(true);
            RawPeer.await(
                    () -> {
                        p.client.poll();
                        return p.client.isAcknowledged();
                    },
                    () -> "never acknowledged");
        }
    }

    /** Only the writer could write more, and it is the one that would wait. */
    @Test
    void shouldRefuseToWaitForWhatIsNotWritten() throws Exception {
        StreamPair p = pair();
        p.client.write(new byte[10], 0, 10, PATIENCE);
        IllegalArgumentException e =
                assertThrows(IllegalArgumentException.class, () -> p.client.awaitAcknowledged(11, PATIENCE));
        assertEquals("offset 11 is beyond the 10 bytes written", e.getMessage());
    }

    /** Else it would wait for itself: nobody but the writer uncorks. */
    @Test
    void shouldSendWhatIsCorkedWhenItsAcknowledgementIsAwaited() throws Exception {
        StreamPair p = pair();
        LentMemory memory = p.client.register(direct(bytes(4096)));
        p.client.cork(true);
        long end = p.client.writeLent(memory, 0, 4096);
        assertTrue(p.client.awaitAcknowledged(end, PATIENCE));
        p.client.cork(false);
        assertArrayEquals(bytes(4096), read(p.server, 4096));
    }

    @Test
    void shouldEndTheWaitForAnAcknowledgementThatNeverComes() throws Exception {
        Link closed = link(Role.PASSIVE, RawPeer.Spec.DEFAULT.half(100));
        LentMemory memory = closed.stream().register(direct(bytes(4096)));
        long end = closed.stream().writeLent(memory, 0, 4096);
        Future<Boolean> waiting = background(() -> closed.stream().awaitAcknowledged(end, PATIENCE));
        StreamBehaviour.awaitInside("awaitAcknowledged", 1);
        assertFalse(waiting.isDone());
        closed.stream().abort();
        assertEquals("Socket closed", failure(waiting).getMessage());
        RawPeer.await(closed.stream()::isFreed, () -> "not freed");
        assertEquals(100, closed.stream().acknowledged(), "what was dropped has not arrived");

        Link left = link(Role.PASSIVE, RawPeer.Spec.DEFAULT.half(100));
        LentMemory other = left.stream().register(direct(bytes(4096)));
        long never = left.stream().writeLent(other, 0, 4096);
        Future<Boolean> inVain = background(() -> left.stream().awaitAcknowledged(never, PATIENCE));
        awaitData(left.peer(), 100);
        assertFalse(inVain.isDone());
        left.peer().ctrl(Imm.CTRL_DISCONNECT);
        assertEquals("Broken pipe", failure(inVain).getMessage());
    }

    private static SocketException failure(Future<?> of) {
        return assertInstanceOf(
                SocketException.class,
                assertThrows(ExecutionException.class, () -> of.get(30, SECONDS))
                        .getCause());
    }

    /** Else whoever waits for it would wait for ever: the peer's device is there, but takes nothing any more. */
    @Test
    void shouldTellThatNothingMoreWillBeAcknowledgedOnceThePeerIsGone() throws Exception {
        Link l = link(Role.PASSIVE, RawPeer.Spec.DEFAULT.half(100));
        LentMemory memory = l.stream().register(direct(bytes(4096)));
        l.stream().awaitAcknowledged(l.stream().writeLent(memory, 0, 4096));
        awaitData(l.peer(), 100);
        l.stream().poll();
        assertFalse(l.stream().isAcknowledged());
        l.peer().ctrl(Imm.CTRL_DISCONNECT);
        RawPeer.await(
                () -> {
                    l.stream().poll();
                    return l.stream().isReadable();
                },
                () -> "the end does not come");
        assertTrue(l.stream().isAcknowledged());
    }

    /** As of what is copied: a program learns of the peer's close from its second write, whatever their size. */
    @Test
    void shouldTakeTheFirstWriteAfterThePeersCloseInVain() throws Exception {
        Link l = link(Role.PASSIVE);
        LentMemory memory = l.stream().register(direct(bytes(4096)));
        l.peer().ctrl(Imm.CTRL_DISCONNECT);
        assertEquals(-1, l.stream().read(new byte[1], 0, 1, PATIENCE));
        long end = l.stream().writeLent(memory, 0, 4096);
        assertTrue(l.stream().acknowledged() >= end);
        assertTrue(memory.isFree());
        SocketException e = assertThrows(SocketException.class, () -> l.stream().writeLent(memory, 0, 1));
        assertEquals("Broken pipe", e.getMessage());
    }

    /** Offsets never go back: whoever waits for the last one would not wait for those before. */
    @Test
    void shouldNotTellOfAWriteInVainThatItIsAcknowledgedBeforeOthers() throws Exception {
        Link l = link(Role.PASSIVE, RawPeer.Spec.DEFAULT.half(100));
        LentMemory memory = l.stream().register(direct(bytes(4096)));
        long first = l.stream().writeLent(memory, 0, 4096);
        awaitData(l.peer(), 100);
        l.peer().ctrl(Imm.CTRL_DISCONNECT);
        assertEquals(-1, l.stream().read(new byte[1], 0, 1, PATIENCE));
        assertTrue(l.stream().writeLent(memory, 0, 100) >= first);
        assertTrue(l.stream().acknowledged() < first);
    }

    @Test
    void shouldSayWhenItSendsNoMore() throws Exception {
        StreamPair p = pair();
        AtomicInteger freed = new AtomicInteger();
        p.client.whenSendsAreOver(freed::incrementAndGet);
        assertEquals(0, freed.get());
        p.client.close();
        p.server.close();
        RawPeer.await(() -> freed.get() == 1, () -> freed + " times");
        p.client.whenSendsAreOver(freed::incrementAndGet);
        assertEquals(2, freed.get());
    }

    /** Else what is lent in one direction would wait for what is lent in the other, for ever. */
    @Test
    void shouldSendNoMoreThoughWhatIsBorrowedIsStillOut() throws Exception {
        StreamPair p = pair();
        p.client.write(bytes(4096), 0, 4096, PATIENCE);
        p.server.awaitReadable(PATIENCE);
        BorrowedBytes borrowed = p.server.borrow(4096);
        assertNotNull(borrowed);
        verbs.faults().holdAcks(true);
        long before = p.server.registeredBytes();
        LentMemory memory = p.server.register(direct(bytes(4096)));
        p.server.writeLent(memory, 0, 4096);
        AtomicInteger over = new AtomicInteger();
        p.server.whenSendsAreOver(() -> {
            over.incrementAndGet();
            borrowed.close();
        });
        assertFalse(memory.isFree());
        p.server.abort();
        p.client.abort();
        RawPeer.await(() -> over.get() == 1, () -> over + " times");
        assertTrue(memory.isFree());
        assertTrue(p.server.registeredBytes() <= before, "still registered");
        RawPeer.await(p.server::isFreed, () -> "not freed");
        verbs.faults().holdAcks(false);
        assertEquals(1, over.get());
    }

    @Test
    void shouldRefuseMemoryOfAnotherStreamAndMemoryOfTheHeap() throws Exception {
        StreamPair p = pair();
        try (LentMemory memory = p.server.register(direct(bytes(100)))) {
            assertThrows(IllegalArgumentException.class, () -> p.client.writeLent(memory, 0, 1));
            assertThrows(IndexOutOfBoundsException.class, () -> p.server.writeLent(memory, 1, 100));
        }
        assertThrows(IllegalArgumentException.class, () -> p.client.register(ByteBuffer.allocate(10)));
    }

    @Test
    void shouldCountLentMemoryAndKeepTheBound() throws Exception {
        StreamPair p = pair();
        long before = p.client.registeredBytes();
        LentMemory memory = p.client.register(ByteBuffer.allocateDirect(SIZE));
        assertEquals(before + SIZE, p.client.registeredBytes());
        memory.close();
        memory.close();
        assertEquals(before, p.client.registeredBytes());
        long registered = transport.registeredMemory();
        transport.limitMemory(registered + SIZE - 1024);
        IOException e = assertThrows(IOException.class, () -> p.client.register(ByteBuffer.allocateDirect(SIZE)));
        assertEquals(
                "memory.registered=" + (registered / 1024 + SIZE / 1024 - 1)
                        + " KiB allows lending only until three quarters are in use: " + registered / 1024
                        + " KiB registered, 1 MiB wanted on lo0",
                e.getMessage());
    }

    @Test
    void shouldLendWhatArrivedAndTakeItBackInAnyOrder() throws Exception {
        lendAndTakeBack(BorrowedBytes::close);
        lendAndTakeBack(BorrowedBytes::closeForReuse);
    }

    private void lendAndTakeBack(Consumer<BorrowedBytes> giveBack) throws Exception {
        StreamPair p = pair();
        byte[] content = bytes(SIZE);
        Future<?> writer = background(() -> {
            p.client.write(content, 0, SIZE, PATIENCE);
            return null;
        });
        ByteBuffer got = ByteBuffer.allocate(SIZE);
        Deque<BorrowedBytes> held = new ArrayDeque<>();
        int lent = 0;
        while (got.hasRemaining()) {
            assertTrue(p.server.awaitReadable(PATIENCE));
            BorrowedBytes borrowed = p.server.borrow(600 + lent % 5000);
            if (borrowed != null) {
                lent++;
                got.put(borrowed.bytes());
                held.addLast(borrowed);
                if (held.size() > 3) {
                    giveBack.accept(lent % 2 == 0 ? held.removeFirst() : held.removeLast());
                }
            } else {
                p.server.read(got);
            }
        }
        held.forEach(giveBack);
        get(writer);
        assertArrayEquals(content, got.array());
        assertTrue(lent > 0, "nothing was lent");
    }

    @Test
    void shouldUseAgainWhatWasClosedForThat() throws Exception {
        StreamPair p = pair();
        BorrowedBytes first = borrow(p, 1000);
        ByteBuffer memory = first.memory();
        first.attach("something");
        first.closeForReuse();
        BorrowedBytes again = borrow(p, 600);
        assertSame(first, again);
        assertSame(memory, again.memory());
        assertEquals("something", again.attachment());
        assertEquals(600, again.length());
        assertEquals(1000, again.offset());
        assertEquals(ByteBuffer.wrap(bytes(600)), again.bytes());
        BorrowedBytes other = borrow(p, 700);
        assertNotSame(again, other);
        assertNull(other.attachment());
        again.close();
        again.close();
        other.closeForReuse();
        assertSame(other, borrow(p, 512), "what was only closed is still the caller's");
        other.close();
    }

    private BorrowedBytes borrow(StreamPair p, int count) throws Exception {
        p.client.write(bytes(count), 0, count, PATIENCE);
        awaitAvailable(p.server, count);
        BorrowedBytes borrowed = p.server.borrow(count);
        assertNotNull(borrowed);
        return borrowed;
    }

    /** What it keeps for the next ones is little, though the application had much. */
    @Test
    void shouldKeepFewOfThoseThatMayBeUsedAgain() throws Exception {
        int slab = 64 * 1024;
        StreamPair p = later(StreamPair.connect(transport, HERE, DEFAULT.withReceiveSlab(slab)));
        Set<BorrowedBytes> before = borrowMany(p, 50);
        before.forEach(BorrowedBytes::closeForReuse);
        Set<BorrowedBytes> after = borrowMany(p, 50);
        assertEquals(16, after.stream().filter(before::contains).count());
        after.forEach(BorrowedBytes::close);
    }

    private Set<BorrowedBytes> borrowMany(StreamPair p, int count) throws Exception {
        Set<BorrowedBytes> borrowed = Collections.newSetFromMap(new IdentityHashMap<>());
        for (int i = 0; i < count; i++) {
            borrowed.add(borrow(p, 512));
        }
        return borrowed;
    }

    /** Else nobody would find out that the application has lost it. */
    @Test
    @Timeout(60)
    void shouldNotReferToWhatIsOutThoughItIsUsedAgain() throws Exception {
        StreamPair p = pair();
        borrow(p, 1000).closeForReuse();
        WeakReference<BorrowedBytes> lost = new WeakReference<>(borrow(p, 1000));
        while (lost.get() != null) {
            System.gc();
            Thread.sleep(10);
        }
        StreamCore core = p.server.core();
        core.enter();
        core.borrowed--; // so that the stream can be freed after all
        core.exit();
    }

    @Test
    void shouldKeepWhatIsBorrowedThoughTheStreamIsClosed() throws Exception {
        StreamPair p = pair();
        p.client.write(bytes(4096), 0, 4096, PATIENCE);
        p.server.awaitReadable(PATIENCE);
        BorrowedBytes borrowed = p.server.borrow(4096);
        assertNotNull(borrowed);
        p.server.close();
        p.client.close();
        RawPeer.await(() -> transport.liveStreams() == 1, () -> transport.liveStreams() + " streams");
        assertFalse(p.server.isFreed());
        byte[] seen = new byte[4096];
        borrowed.bytes().get(seen);
        assertArrayEquals(bytes(4096), seen);
        borrowed.close();
        borrowed.close();
        RawPeer.await(() -> p.server.isFreed(), () -> "not freed");
    }

    @Test
    void shouldCopyWhatIsLittle() throws Exception {
        StreamPair p = pair();
        assertNull(p.server.borrow(100));
        p.client.write(bytes(100), 0, 100, PATIENCE);
        p.server.awaitReadable(PATIENCE);
        assertNull(p.server.borrow(100));
        assertEquals(100, read(p.server, 100).length);
    }

    @Test
    void shouldLendALittleAtTheEndOfASlabWhenMoreComesBehindIt() throws Exception {
        int slab = 4096;
        StreamPair p = later(StreamPair.connect(transport, HERE, DEFAULT.withReceiveSlab(slab)));
        byte[] content = bytes(2 * slab);
        p.client.write(content, 0, slab - 100, PATIENCE);
        awaitAvailable(p.server, slab - 100);
        p.server.borrow(slab).close();
        p.client.write(content, slab - 100, 1000, PATIENCE);
        awaitAvailable(p.server, 1000);
        BorrowedBytes end = p.server.borrow(slab);
        assertNotNull(end);
        assertEquals(ByteBuffer.wrap(content, slab - 100, 100), end.bytes());
        BorrowedBytes beginning = p.server.borrow(slab);
        assertEquals(ByteBuffer.wrap(content, slab, 900), beginning.bytes());
        end.close();
        beginning.close();
    }

    private static void awaitAvailable(RdmaStream stream, int bytes) throws IOException {
        long start = System.nanoTime();
        while (stream.available() < bytes) {
            assertTrue(System.nanoTime() - start < PATIENCE, () -> stream + " has not all");
        }
    }

    @Test
    void shouldLendAllToAReaderThatKeepsTheSlabBefore() throws Exception {
        int slab = 4096;
        StreamPair p = later(StreamPair.connect(transport, HERE, DEFAULT.withReceiveSlab(slab)));
        byte[] content = bytes(64 * slab);
        Future<?> writer = background(() -> {
            p.client.write(content, 0, content.length, PATIENCE);
            return null;
        });
        ByteBuffer got = ByteBuffer.allocate(content.length);
        BorrowedBytes before = null;
        while (got.hasRemaining()) {
            assertTrue(p.server.awaitReadable(PATIENCE));
            boolean little = p.server.available() < 512;
            BorrowedBytes borrowed = p.server.borrow(SIZE);
            if (borrowed == null && little) {
                p.server.read(got);
                continue;
            }
            assertNotNull(borrowed, () -> "after " + got.position() + " bytes");
            if (before != null) {
                before.close();
            }
            before = borrowed;
            got.put(borrowed.bytes());
        }
        before.close();
        get(writer);
        assertArrayEquals(content, got.array());
    }
}
