/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.netty;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.management.ThreadMXBean;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocatorMetric;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.PooledByteBufAllocator;
import io.netty.util.IllegalReferenceCountException;
import io.netty.util.ResourceLeakDetector;
import java.lang.management.ManagementFactory;
import java.lang.ref.WeakReference;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Random;
import java.util.Set;
import org.jrsocket.os.NativeMemory;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class RdmaByteBufAllocatorTest {

    private final RdmaByteBufAllocator allocator = new RdmaByteBufAllocator();

    static Chunk chunkOf(ByteBuf buffer) {
        ByteBuffer nio = buffer.internalNioBuffer(0, buffer.capacity());
        return Chunk.at(NativeMemory.addressOf(nio));
    }

    @Test
    void shouldHandOutBuffersThatDoNotOverlap() {
        Random random = new Random(5);
        List<ByteBuf> held = new ArrayList<>();
        for (int i = 0; i < 20_000; i++) {
            if (held.size() > 200 || random.nextInt(3) == 0 && !held.isEmpty()) {
                ByteBuf buffer = held.remove(random.nextInt(held.size()));
                byte[] content = new byte[buffer.capacity()];
                buffer.getBytes(0, content);
                assertArrayEquals(marked(content.length, content[0]), content);
                buffer.release();
            } else {
                int bytes = 1 + random.nextInt(random.nextBoolean() ? 400 : 20_000);
                ByteBuf buffer = allocator.directBuffer(bytes, bytes);
                assertEquals(bytes, buffer.capacity());
                buffer.setBytes(0, marked(bytes, (byte) i));
                held.add(buffer);
            }
        }
        held.forEach(ByteBuf::release);
    }

    private static byte[] marked(int length, byte mark) {
        byte[] content = new byte[length];
        Arrays.fill(content, mark);
        return content;
    }

    @Test
    void shouldGrowAndShrinkAndKeepTheContent() {
        ByteBuf buffer = allocator.buffer(10);
        assertTrue(buffer.isDirect());
        for (int i = 0; i < 3_000_000; i += 1000) {
            buffer.writeBytes(Pattern.bytes(i, 1000));
        }
        buffer.capacity(1_000_000);
        assertEquals(1_000_000, buffer.capacity());
        byte[] content = new byte[1_000_000];
        buffer.readBytes(content);
        assertArrayEquals(Pattern.bytes(0, content.length), content);
        buffer.release();
        assertThrows(IllegalReferenceCountException.class, () -> buffer.getByte(0));
    }

    /** Below the least size of its memory, too. */
    @Test
    void shouldShrinkToAnySizeAndGrowAgain() {
        ByteBuf buffer = Pattern.fill(allocator.directBuffer(1000), 0, 1000);
        for (int bytes : new int[] {257, 256, 255, 1}) {
            buffer.capacity(bytes);
            assertArrayEquals(Pattern.bytes(0, bytes), ByteBufUtil.getBytes(buffer));
        }
        buffer.capacity(0);
        assertFalse(buffer.isReadable());
        Pattern.fill(buffer, 0, 1000);
        assertArrayEquals(Pattern.bytes(0, 1000), ByteBufUtil.getBytes(buffer));
        buffer.release();
    }

    /** Native code may have been told that buffers of this allocator have one. */
    @Test
    void shouldHaveAnAddressAfterItsGrowthIfItHadOneBefore() {
        ByteBuf buffer = allocator.directBuffer(1000);
        boolean had = buffer.hasMemoryAddress(); // where Netty can read the address of a direct buffer
        buffer.capacity(100_000);
        assertEquals(had, buffer.hasMemoryAddress());
        if (had) {
            ByteBuffer memory = buffer.internalNioBuffer(0, buffer.capacity());
            assertEquals(NativeMemory.addressOf(memory), buffer.memoryAddress());
        }
        buffer.release();
    }

    @Test
    void shouldKnowItsMemoryWhileItIsUsed() {
        ByteBuf large = allocator.directBuffer(5 << 20);
        ByteBuf buffer = allocator.directBuffer(10_000);
        assertNotNull(chunkOf(large));
        assertNotNull(chunkOf(buffer));
        assertEquals(5 << 20, chunkOf(large).size());
        assertNull(Chunk.at(NativeMemory.addressOf(ByteBuffer.allocateDirect(10_000))));
        Chunk chunk = chunkOf(large);
        long address = NativeMemory.addressOf(chunk.memory());
        assertSame(chunk, Chunk.at(address + (5 << 20) - 1));
        assertNotSame(chunk, Chunk.at(address + (5 << 20)), "what lies behind it is not its own");
        large.release();
        assertTrue(chunk.isRetired());
        assertNotSame(chunk, Chunk.at(address));
        buffer.release();
    }

    @Test
    void shouldGiveUpMemoryThatIsUnusedForMostOfIt() {
        List<ByteBuf> held = new ArrayList<>();
        List<Chunk> chunks = new ArrayList<>();
        for (int i = 0; i < 20; i++) {
            held.add(allocator.directBuffer(2 << 20));
            chunks.add(chunkOf(held.get(i)));
        }
        held.forEach(ByteBuf::release);
        assertEquals(8, chunks.stream().filter(Chunk::isRetired).count());
    }

    @Test
    void shouldKeepNoMoreAfterAPeakOfBuffersOfAllSizes() {
        List<ByteBuf> held = new ArrayList<>();
        Set<Chunk> chunks = new HashSet<>();
        for (int size = Chunk.LEAST_LENDABLE; size <= 2 << 20; size *= 2) {
            for (int bytes = 0; bytes < 12 << 20; bytes += size) {
                held.add(allocator.directBuffer(size));
                chunks.add(chunkOf(held.get(held.size() - 1)));
            }
        }
        assertEquals(12 * 6, chunks.size());
        held.forEach(ByteBuf::release);
        assertEquals(12, chunks.stream().filter(each -> !each.isFreed()).count());
        allocator.retireSpares();
        assertTrue(chunks.stream().allMatch(Chunk::isFreed));
        ByteBuf next = allocator.directBuffer(1024);
        assertFalse(chunkOf(next).isFreed());
        next.release();
    }

    /** Else there would be new memory, and new registrations, for each message some day. */
    @Test
    void shouldKeepAsMuchAfterEachPeak() {
        for (int peak = 0; peak < 4; peak++) {
            List<ByteBuf> held = new ArrayList<>();
            for (int i = 0; i < 20; i++) {
                held.add(allocator.directBuffer(2 << 20));
            }
            held.forEach(ByteBuf::release);
            assertEquals(24 << 20, allocator.metric().usedDirectMemory(), "after peak " + peak);
            if (peak == 1) {
                allocator.retireSpares();
            }
        }
    }

    /** Else each message of a size that was not in use during the peak would have new memory, and a registration. */
    @ParameterizedTest
    @ValueSource(ints = {256, 1024, 2048, 65536, 1 << 20, 2 << 20})
    void shouldKeepAChunkOfASizeThatWasUnusedDuringAPeakOfAnother(int size) {
        List<ByteBuf> held = new ArrayList<>();
        for (int i = 0; i < 1000; i++) {
            held.add(allocator.directBuffer(size == 65536 ? 32768 : 65536));
        }
        held.forEach(ByteBuf::release);
        allocator.directBuffer(size).release();
        long kept = allocator.metric().usedDirectMemory();
        ByteBuf again = allocator.directBuffer(size);
        assertEquals(kept, allocator.metric().usedDirectMemory(), "it has the memory of the one before");
        again.release();
        assertEquals(kept, allocator.metric().usedDirectMemory());
    }

    @Test
    void shouldTellHowMuchMemoryItHas() {
        ByteBufAllocatorMetric metric = allocator.metric();
        assertEquals(0, metric.usedDirectMemory());
        ByteBuf large = allocator.directBuffer(5 << 20);
        assertEquals(5 << 20, metric.usedDirectMemory());
        large.release();
        assertEquals(0, metric.usedDirectMemory());
        ByteBuf usual = allocator.directBuffer(4096);
        ByteBuf notOurs = allocator.heapBuffer(4096);
        assertEquals(2 << 20, metric.usedDirectMemory());
        assertEquals(0, metric.usedHeapMemory());
        notOurs.release();
        usual.release();
        assertEquals(2 << 20, metric.usedDirectMemory(), "it is kept");
        allocator.retireSpares();
        assertEquals(0, metric.usedDirectMemory());
    }

    /** Memory for direct buffers is the application's, and the garbage collector may be told not to be asked for it. */
    @Test
    void shouldFreeLargeBuffersWithoutTheGarbageCollector() throws Exception {
        Process process = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-XX:MaxDirectMemorySize=64m",
                        "-XX:+DisableExplicitGC",
                        "-cp",
                        System.getProperty("java.class.path"),
                        LargeBuffers.class.getName())
                .redirectErrorStream(true)
                .start();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertEquals(0, process.waitFor(), output);
    }

    /** Run in a JVM of its own. */
    static final class LargeBuffers {
        private LargeBuffers() {}

        public static void main(String[] arguments) {
            for (int i = 0; i < 100; i++) {
                RdmaByteBufAllocator.DEFAULT.directBuffer(8 << 20).release();
            }
        }
    }

    /** As without memory: otherwise the chunk would stay for ever. */
    @ParameterizedTest
    @ValueSource(ints = {1024, 4 * 1024 * 1024})
    void shouldKeepNoPieceOfABufferThatCannotBeMade(int bytes) {
        Arena arena = new Arena(later -> {
            throw new AssertionError();
        });
        assertThrows(IllegalArgumentException.class, () -> arena.buffer(allocator, bytes, bytes - 1));
        arena.keepNothing();
        assertEquals(0, arena.held());
    }

    @Test
    void shouldFreeABufferThatIsReleased() {
        ByteBuf buffer = allocator.directBuffer(5 << 20);
        Chunk chunk = chunkOf(buffer);
        assertFalse(chunk.isFreed());
        buffer.release();
        assertTrue(chunk.isFreed());
    }

    @Test
    void shouldLeaveBuffersThatAreTooSmallToLendToNettysPool() {
        ByteBuf small = allocator.directBuffer(64);
        ByteBuf usual = allocator.directBuffer();
        assertSame(PooledByteBufAllocator.DEFAULT, small.alloc());
        assertSame(allocator, usual.alloc());
        small.release();
        usual.release();
    }

    // ---- buffers that are used again ----

    /** Runs something again and again; returns the bytes on the heap that each run takes. */
    private static double garbageOf(Runnable operation) {
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        long self = Thread.currentThread().getId();
        ResourceLeakDetector.Level level = ResourceLeakDetector.getLevel();
        ResourceLeakDetector.setLevel(ResourceLeakDetector.Level.DISABLED); // which keeps a record of some buffers
        double best = Double.MAX_VALUE;
        try {
            for (int round = 0; round < 4; round++) { // the first one loads classes
                long before = threads.getThreadAllocatedBytes(self);
                for (int i = 0; i < 1000; i++) {
                    operation.run();
                }
                best = Math.min(best, (threads.getThreadAllocatedBytes(self) - before) / 1000.0);
            }
        } finally {
            ResourceLeakDetector.setLevel(level);
        }
        return best;
    }

    @ParameterizedTest
    @ValueSource(ints = {300, 1000, 4096, 65536})
    void shouldMakeNoGarbageWithBuffersThatAreUsedAgain(int largest) {
        int[] smaller = {0};
        double bytes = garbageOf(() -> {
            ByteBuf buffer = allocator.directBuffer(largest - largest / 20 * (smaller[0]++ % 3));
            buffer.internalNioBuffer(0, 1);
            buffer.release();
        });
        assertTrue(bytes < 1, () -> bytes + " bytes");
    }

    /** There is a look for each send. */
    @Test
    void shouldMakeNoGarbageToFindTheMemoryOfABuffer() {
        ByteBuf buffer = allocator.directBuffer(4096);
        Chunk chunk = chunkOf(buffer);
        long address = NativeMemory.addressOf(chunk.memory()) + 4096;
        double bytes = garbageOf(() -> assertSame(chunk, Chunk.at(address)));
        assertTrue(bytes < 1, () -> bytes + " bytes");
        buffer.release();
    }

    /** What a peak leaves behind is bounded, and makes way. */
    @ParameterizedTest
    @ValueSource(ints = {200, 512})
    void shouldMakeNoGarbageAfterAPeakOfOtherSizes(int many) {
        List<ByteBuf> held = new ArrayList<>();
        for (int i = 0; i < many; i++) { // at most all that one chunk has
            held.add(allocator.directBuffer(257 + i % 200));
        }
        held.forEach(ByteBuf::release);
        double bytes = garbageOf(() -> allocator.directBuffer(512).release());
        assertTrue(bytes < 1, () -> bytes + " bytes");
    }

    @Test
    void shouldKeepFewOfManySmallBuffers() {
        Set<ByteBuf> before = Collections.newSetFromMap(new IdentityHashMap<>());
        before.addAll(peak(500));
        before.forEach(ByteBuf::release);
        List<ByteBuf> after = peak(500);
        assertEquals(64, after.stream().filter(before::contains).count());
        after.forEach(ByteBuf::release);
    }

    private List<ByteBuf> peak(int count) {
        List<ByteBuf> held = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            held.add(unwrapped(allocator.directBuffer(256)));
        }
        return held;
    }

    /** Without what looks for leaks. */
    private static ByteBuf unwrapped(ByteBuf buffer) {
        return buffer.unwrap() == null ? buffer : buffer.unwrap();
    }

    @Test
    void shouldStartAfreshWithABufferThatIsUsedAgain() {
        ByteBuf before = unwrapped(allocator.directBuffer(300, 1000));
        before.writeZero(200).skipBytes(100).markReaderIndex().markWriterIndex();
        before.retain(2).release(3);
        assertThrows(IllegalReferenceCountException.class, () -> before.getByte(0));
        ByteBuf buffer = unwrapped(allocator.directBuffer(300, 2000));
        assertSame(before, buffer);
        assertEquals(1, buffer.refCnt());
        assertEquals(2000, buffer.maxCapacity());
        assertEquals(0, buffer.readerIndex());
        assertEquals(0, buffer.resetReaderIndex().readerIndex());
        assertEquals(0, buffer.writerIndex());
        assertEquals(0, buffer.resetWriterIndex().writerIndex());
        buffer.release();
        ByteBuf larger = unwrapped(allocator.directBuffer(310));
        assertThrows(IndexOutOfBoundsException.class, () -> larger.getByte(310));
        larger.release();
    }

    @Test
    void shouldNotUseABufferAgainWhileItsMemoryIsSent() {
        ByteBuf before = unwrapped(allocator.directBuffer(4096));
        Chunk chunk = chunkOf(before);
        int piece = chunk.hold(NativeMemory.addressOf(before.internalNioBuffer(0, 1)));
        before.release();
        ByteBuf other = unwrapped(allocator.directBuffer(4096));
        assertNotSame(before, other);
        chunk.release(piece);
        ByteBuf buffer = unwrapped(allocator.directBuffer(4096));
        assertSame(before, buffer);
        buffer.release();
        other.release();
    }

    @Test
    void shouldNotUseABufferAgainThatHasGotOtherMemory() {
        ByteBuf before = unwrapped(allocator.directBuffer(1000));
        before.capacity(100_000).release();
        ByteBuf buffer = unwrapped(allocator.directBuffer(1000));
        assertNotSame(before, buffer);
        buffer.release();
    }

    /** Only then can Netty tell of the leak. */
    @Test
    @Timeout(60)
    void shouldLeaveALeakedBufferToTheGarbageCollector() throws InterruptedException {
        allocator.directBuffer(4096).release();
        WeakReference<ByteBuf> leaked = new WeakReference<>(unwrapped(allocator.directBuffer(4096)));
        while (leaked.get() != null) {
            System.gc();
            Thread.sleep(10);
        }
        ByteBuf next = allocator.directBuffer(4096);
        next.release();
    }

    /** A program that releases a buffer too early gets an exception, even if it has switched Netty's checks off. */
    @Test
    void shouldNotReachMemoryThatIsFreed() throws Exception {
        Process process = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-Dio.netty.buffer.checkAccessible=false",
                        "-cp",
                        System.getProperty("java.class.path"),
                        ReleasedBuffers.class.getName())
                .redirectErrorStream(true)
                .start();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertEquals(0, process.waitFor(), output);
    }

    /** Run in a JVM of its own. */
    static final class ReleasedBuffers {
        private ReleasedBuffers() {}

        public static void main(String[] arguments) {
            RdmaByteBufAllocator allocator = new RdmaByteBufAllocator();
            List<ByteBuf> released = new ArrayList<>();
            released.add(allocator.directBuffer(5 << 20)); // is not kept
            for (int i = 0; i < 100; i++) { // of which some are kept
                released.add(allocator.directBuffer(256));
            }
            released.forEach(ByteBuf::release);
            allocator.retireSpares();
            for (ByteBuf each : released) {
                assertThrows(NullPointerException.class, () -> each.getByte(0));
            }
        }
    }
}
