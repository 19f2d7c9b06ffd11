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

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocatorMetric;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.PooledByteBufAllocator;
import io.netty.util.IllegalReferenceCountException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import org.jrsocket.os.NativeMemory;
import org.junit.jupiter.api.Test;

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
        for (int size = Arena.LEAST_LENDABLE; size <= 2 << 20; size *= 2) {
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
}
