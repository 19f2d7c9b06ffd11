/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.netty;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.Unpooled;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.util.IllegalReferenceCountException;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Queue;
import java.util.Random;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.jrsocket.os.NativeMemory;
import org.jrsocket.stream.BorrowedBytes;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Received memory that is handed out is a buffer like Netty's own, which a later message uses again. */
@Tag("once")
@Timeout(2 * ChannelTests.PATIENCE)
class LentByteBufTest extends ChannelTests {

    private static final int SIZE = 2000;

    private final BlockingQueue<ByteBuf> received = new LinkedBlockingQueue<>();
    private final List<ByteBuf> made = new ArrayList<>(); // to be compared, then released
    private Pair pair;

    @Override
    void configure(RdmaSocketChannel channel) {
        channel.config().setLendReceives(true);
    }

    @BeforeEach
    void connect() throws Exception {
        pair = pair(ignoring(), new ChannelInboundHandlerAdapter() {
            @Override
            public void channelRead(ChannelHandlerContext context, Object message) {
                received.add((ByteBuf) message);
            }
        });
    }

    /** Returns what Netty hands out for a message of {@link #SIZE} bytes that is lent, behind another in its slab. */
    private ByteBuf lent() throws InterruptedException {
        while (true) {
            pair.client()
                    .writeAndFlush(Pattern.fill(Unpooled.buffer(SIZE), 0, SIZE))
                    .sync();
            for (int missing = SIZE; missing > 0; ) {
                ByteBuf buffer = received.poll(PATIENCE, TimeUnit.SECONDS);
                assertNotNull(buffer);
                missing -= buffer.readableBytes();
                if (buffer.readableBytes() == SIZE
                        && unwrapped(buffer) instanceof LentByteBuf
                        && buffer.internalNioBuffer(0, 1).position() > 0) {
                    return buffer;
                }
                buffer.release();
            }
        }
    }

    /** Without what looks for leaks. */
    private static ByteBuf unwrapped(ByteBuf buffer) {
        return buffer.unwrap() == null ? buffer : buffer.unwrap();
    }

    @Test
    void shouldBeWhatADirectBufferOfNettyIs() throws Exception {
        ByteBuf buffer = lent();
        ByteBuf own = unwrapped(buffer);
        ByteBuf netty = Unpooled.wrappedBuffer(ByteBuffer.allocateDirect(SIZE));
        assertEquals(SIZE, buffer.capacity());
        assertEquals(SIZE, buffer.maxCapacity());
        assertEquals(0, buffer.readerIndex());
        assertEquals(SIZE, buffer.writerIndex());
        assertEquals(1, buffer.refCnt());
        assertSame(pair.server().alloc(), buffer.alloc());
        assertTrue(buffer.isDirect() && buffer.isContiguous());
        assertFalse(buffer.isReadOnly() || buffer.hasArray());
        assertThrows(UnsupportedOperationException.class, buffer::array);
        assertThrows(UnsupportedOperationException.class, buffer::arrayOffset);
        assertThrows(IndexOutOfBoundsException.class, () -> buffer.writeByte(1));
        assertNull(own.unwrap());
        assertSame(own, own.touch("seen"));
        assertEquals(1, buffer.nioBufferCount());
        ByteBuffer view = buffer.internalNioBuffer(100, 50);
        assertEquals(50, view.remaining());
        assertEquals(ByteOrder.BIG_ENDIAN, view.order());
        assertEquals(netty.hasMemoryAddress(), buffer.hasMemoryAddress());
        if (buffer.hasMemoryAddress()) {
            assertEquals(NativeMemory.addressOf(view) + view.position(), buffer.memoryAddress() + 100);
        }
        ByteBuffer piece = buffer.nioBuffer(100, 50);
        assertEquals(50, piece.capacity());
        assertEquals(ByteOrder.BIG_ENDIAN, piece.order());
        assertFalse(piece.isReadOnly());
        assertEquals(ByteBuffer.wrap(Pattern.bytes(100, 50)), piece);
        assertEquals(view, piece);
        assertEquals(Unpooled.wrappedBuffer(Pattern.bytes(0, SIZE)), buffer);
        netty.release();
        buffer.release();
    }

    /** The channel's option may have changed since the message before. */
    @Test
    @SuppressWarnings("ReferenceEquality") // two buffers with the same content are not meant
    void shouldHaveTheAllocatorOfTheMessageThatUsesItAgain() throws Exception {
        ByteBuf first = lent();
        ByteBuf own = unwrapped(first);
        first.release();
        ByteBufAllocator other = new UnpooledByteBufAllocator(true);
        pair.server().config().setAllocator(other);
        boolean again;
        do {
            ByteBuf next = lent();
            assertSame(other, next.alloc());
            again = unwrapped(next) == own;
            next.release();
        } while (!again);
    }

    @Test
    void shouldRefuseAccessOnceItIsReleased() throws Exception {
        ByteBuf buffer = unwrapped(lent());
        assertTrue(buffer.release());
        assertEquals(0, buffer.refCnt());
        assertThrows(IllegalReferenceCountException.class, () -> buffer.getByte(0));
        assertThrows(IllegalReferenceCountException.class, () -> buffer.setInt(0, 1));
        assertThrows(IllegalReferenceCountException.class, () -> buffer.getBytes(0, new byte[4]));
        assertThrows(IllegalReferenceCountException.class, () -> buffer.internalNioBuffer(0, 1));
        assertThrows(IllegalReferenceCountException.class, () -> buffer.nioBuffer(0, 1));
        assertThrows(IllegalReferenceCountException.class, () -> buffer.copy(0, 1));
        assertThrows(IllegalReferenceCountException.class, () -> buffer.capacity(1));
        assertThrows(IllegalReferenceCountException.class, buffer::memoryAddress);
        assertThrows(IllegalReferenceCountException.class, buffer::release);
        assertThrows(IllegalReferenceCountException.class, buffer::retain);
        assertFalse(buffer.hasMemoryAddress());
    }

    /** Else it could reach the bytes of others. */
    @Test
    void shouldStayWithinItsBytes() throws Exception {
        ByteBuf buffer = lent();
        for (int index : new int[] {-1, SIZE - 7, SIZE}) {
            assertThrows(IndexOutOfBoundsException.class, () -> buffer.getLong(index));
            assertThrows(IndexOutOfBoundsException.class, () -> buffer.setLong(index, 1));
            assertThrows(IndexOutOfBoundsException.class, () -> buffer.nioBuffer(index, 8));
            assertThrows(IndexOutOfBoundsException.class, () -> buffer.internalNioBuffer(index, 8));
            assertThrows(IndexOutOfBoundsException.class, () -> buffer.copy(index, 8));
            assertThrows(IndexOutOfBoundsException.class, () -> buffer.getBytes(index, new byte[8]));
            assertThrows(IndexOutOfBoundsException.class, () -> buffer.setBytes(index, new byte[8]));
            assertThrows(IndexOutOfBoundsException.class, () -> buffer.getBytes(index, ByteBuffer.allocate(8)));
            assertThrows(IndexOutOfBoundsException.class, () -> buffer.setBytes(index, ByteBuffer.allocate(8)));
            assertThrows(IndexOutOfBoundsException.class, () -> buffer.getBytes(index, Unpooled.buffer(8), 8));
            assertThrows(IndexOutOfBoundsException.class, () -> buffer.setBytes(index, Unpooled.buffer(8), 0, 8));
        }
        assertThrows(IllegalArgumentException.class, () -> buffer.capacity(SIZE + 1));
        buffer.capacity(10);
        assertEquals(10, buffer.readableBytes());
        assertThrows(IndexOutOfBoundsException.class, () -> buffer.getByte(10));
        buffer.capacity(20).writeZero(10);
        assertEquals(0, buffer.getLong(12));
        buffer.release();
    }

    @Test
    void shouldDoAsABufferOfNettyDoes(@TempDir Path folder) throws Exception {
        ByteBuf lent = unwrapped(lent());
        // without Unsafe, a direct one cannot copy to composite buffers
        ByteBuf netty = Unpooled.buffer(SIZE, SIZE).writeBytes(lent, 0, SIZE);
        try (FileChannel file = FileChannel.open(
                folder.resolve("some"), StandardOpenOption.CREATE, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
            for (int seed = 0; seed < 20_000; seed++) {
                int n = seed;
                Object expected = outcome(netty, n, file);
                assertEquals(expected, outcome(lent, n, file), () -> "operation " + n);
                made.forEach(ByteBuf::release);
                made.clear();
                assertEquals(netty.readerIndex(), lent.readerIndex());
                assertEquals(netty.writerIndex(), lent.writerIndex());
                assertEquals(netty.setIndex(0, SIZE), lent.setIndex(0, SIZE), () -> "after operation " + n);
            }
        }
        netty.release();
        lent.release();
    }

    private ByteBuf made(ByteBuf buffer) {
        made.add(buffer);
        return buffer;
    }

    private Object outcome(ByteBuf buffer, int seed, FileChannel file) throws Exception {
        Object outcome = operate(buffer, new Random(seed), file);
        return outcome == buffer ? "itself" : outcome;
    }

    /** Does something to a buffer; the same for the same random numbers. */
    private Object operate(ByteBuf buffer, Random random, FileChannel file) throws Exception {
        int at = random.nextInt(SIZE - 8);
        int n = random.nextInt(Math.min(300, SIZE - at));
        long value = random.nextLong();
        byte[] some = new byte[n];
        random.nextBytes(some);
        return switch (random.nextInt(44)) {
            case 0 -> buffer.getByte(at);
            case 1 -> buffer.getShort(at);
            case 2 -> buffer.getShortLE(at);
            case 3 -> buffer.getMedium(at);
            case 4 -> buffer.getMediumLE(at);
            case 5 -> buffer.getUnsignedMedium(at);
            case 6 -> buffer.getUnsignedMediumLE(at);
            case 7 -> buffer.getInt(at);
            case 8 -> buffer.getIntLE(at);
            case 9 -> buffer.getLong(at);
            case 10 -> buffer.getLongLE(at);
            case 11 -> buffer.setByte(at, (int) value);
            case 12 -> buffer.setShort(at, (int) value);
            case 13 -> buffer.setShortLE(at, (int) value);
            case 14 -> buffer.setMedium(at, (int) value);
            case 15 -> buffer.setMediumLE(at, (int) value);
            case 16 -> buffer.setInt(at, (int) value);
            case 17 -> buffer.setIntLE(at, (int) value);
            case 18 -> buffer.setLong(at, value);
            case 19 -> buffer.setLongLE(at, value);
            case 20 -> buffer.setBytes(at, some);
            case 21 -> buffer.setBytes(at, ByteBuffer.wrap(some));
            case 22 ->
                buffer.setBytes(at, ByteBuffer.allocateDirect(n).put(some).flip());
            case 23 -> buffer.setBytes(at, Unpooled.wrappedBuffer(some));
            case 24 ->
                buffer.setBytes(
                        at, made(Unpooled.directBuffer(n + 1)).writeByte(1).writeBytes(some), 1, n);
            case 25 -> buffer.setBytes(at, Unpooled.wrappedBuffer(Unpooled.wrappedBuffer(some), Unpooled.buffer(9)), n);
            case 26 -> buffer.setBytes(at, buffer, random.nextInt(SIZE - n), n);
            case 27 -> buffer.setBytes(at, new ByteArrayInputStream(some), n);
            case 28 -> buffer.setZero(at, n);
            case 29 -> {
                byte[] target = new byte[n + 5];
                buffer.getBytes(at, target, 3, n);
                yield Arrays.hashCode(target);
            }
            case 30 -> {
                ByteBuffer target = random.nextBoolean() ? ByteBuffer.allocate(n) : ByteBuffer.allocateDirect(n);
                buffer.getBytes(at, target);
                yield target.flip();
            }
            case 31 -> {
                ByteBuf target = made(random.nextBoolean() ? Unpooled.buffer(n + 1) : Unpooled.directBuffer(n + 1));
                buffer.getBytes(at, target.writeByte(1), n);
                yield target;
            }
            case 32 -> {
                ByteBuf target =
                        made(Unpooled.wrappedBuffer(Unpooled.directBuffer(9).writeLong(value), Unpooled.buffer(n)));
                buffer.getBytes(at, target.setIndex(0, 0).capacity(n + 8), 2, n);
                yield target.setIndex(0, n + 8);
            }
            case 33 -> {
                ByteArrayOutputStream target = new ByteArrayOutputStream();
                buffer.getBytes(at, target, n);
                yield Arrays.hashCode(target.toByteArray());
            }
            case 34 -> {
                assertEquals(n, buffer.getBytes(at, file.position(0), n));
                assertEquals(n, buffer.getBytes(SIZE - at - n, file, n, n));
                ByteBuffer written = ByteBuffer.allocate(2 * n);
                assertEquals(2 * n, n == 0 ? 0 : file.read(written, 0));
                yield written.flip();
            }
            case 35 -> {
                file.write(ByteBuffer.wrap(some), 0);
                yield buffer.setBytes(at, file.position(0), n) + buffer.setBytes(at, file, 1, n / 2);
            }
            case 36 -> made(buffer.copy(at, n));
            case 37 -> buffer.nioBuffer(at, n);
            case 38 -> buffer.nioBuffers(at, n)[0];
            case 39 -> buffer.internalNioBuffer(at, n).duplicate();
            case 40 -> buffer.slice(at, n);
            case 41 ->
                buffer.setIndex(0, SIZE).skipBytes(at).readBytes(new byte[n]).discardReadBytes();
            case 42 -> buffer.setIndex(at, at).writeBytes(some).setIndex(0, at).writeLong(value);
            default -> buffer.indexOf(0, SIZE, (byte) value) + buffer.hashCode();
        };
    }

    @Test
    @SuppressWarnings("ReferenceEquality") // which buffer, not what is in it
    void shouldStartAfreshWhenItIsUsedAgain() throws Exception {
        ByteBuf before = unwrapped(lent());
        before.skipBytes(100).markReaderIndex().writerIndex(300).markWriterIndex();
        before.internalNioBuffer(0, 4).order(ByteOrder.LITTLE_ENDIAN);
        before.capacity(1000).retain(2).release(3);
        ByteBuf buffer;
        do {
            buffer = unwrapped(lent()); // that of another slab, perhaps
            if (buffer != before) {
                buffer.release();
            }
        } while (buffer != before);
        assertEquals(1, buffer.refCnt());
        assertEquals(SIZE, buffer.capacity());
        assertEquals(SIZE, buffer.maxCapacity());
        assertEquals(SIZE, buffer.readableBytes());
        assertEquals(Pattern.bytes(0, 8)[0], buffer.internalNioBuffer(0, 8).get());
        assertEquals(ByteOrder.BIG_ENDIAN, buffer.internalNioBuffer(0, 8).order());
        assertEquals(Unpooled.wrappedBuffer(Pattern.bytes(0, SIZE)), buffer);
        assertEquals(0, buffer.resetReaderIndex().readerIndex());
        assertEquals(0, buffer.resetWriterIndex().writerIndex());
        buffer.release();
    }

    @Test
    void shouldNotBeUsedAgainWhileSomebodyHasIt() throws Exception {
        Queue<ByteBuf> held = new ArrayDeque<>();
        for (int i = 0; i < 200; i++) {
            ByteBuf next = lent();
            held.forEach(each -> assertNotSame(unwrapped(each), unwrapped(next)));
            held.add(next.setInt(0, i).retainedSlice(0, 4));
            next.release();
            if (held.size() > 2) { // all of a slab's would leave the peer too little
                ByteBuf oldest = held.remove();
                assertEquals(i - 2, oldest.getInt(0));
                oldest.release();
            }
        }
        held.forEach(ByteBuf::release);
    }

    /** Also one that was used and released before. */
    @Test
    void shouldBeReportedIfItIsLost() throws Exception {
        Leaks leaks = new Leaks();
        for (int i = 0; i < 10; i++) {
            lent().release();
        }
        BorrowedBytes lost = lose(lent());
        leaks.await("it was lost here");
        lost.close(); // so that all is given back in the end
    }

    /** Returns what the buffer stands on, which does not know it any more. */
    private static BorrowedBytes lose(ByteBuf buffer) {
        BorrowedBytes bytes = ((LentByteBuf) unwrapped(buffer)).bytes;
        bytes.attach(null);
        buffer.touch("it was lost here");
        return bytes;
    }
}
