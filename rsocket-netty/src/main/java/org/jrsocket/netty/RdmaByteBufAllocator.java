/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.netty;

import io.netty.buffer.AbstractByteBufAllocator;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocatorMetric;
import io.netty.buffer.ByteBufAllocatorMetricProvider;
import io.netty.buffer.PooledByteBufAllocator;
import io.netty.util.internal.CleanableDirectBuffer;
import java.util.function.IntFunction;

/**
 * An allocator of direct buffers that an {@link RdmaSocketChannel} can send from without a copy, whichever channel they
 * were allocated for. Heap buffers, and direct ones that begin with fewer than {@value #LEAST} bytes, are those of
 * Netty's pooled allocator, which makes no garbage; their {@code alloc()} returns that allocator. Safe for use by many
 * threads.
 */
public final class RdmaByteBufAllocator extends AbstractByteBufAllocator implements ByteBufAllocatorMetricProvider {

    /** The allocator that {@link RdmaSocketChannel}s have unless {@code ChannelOption.ALLOCATOR} says otherwise. */
    public static final RdmaByteBufAllocator DEFAULT = new RdmaByteBufAllocator();

    /** The least initial size: smaller buffers hardly ever grow to a size that is worth lending. */
    private static final int LEAST = Arena.SMALLEST;

    private final Arena[] arenas;
    private final ByteBufAllocatorMetric metric = new Metric();

    /** Creates an allocator whose buffers are direct by default. One is enough: what it keeps, it keeps for ever. */
    RdmaByteBufAllocator() {
        super(true);
        int processors = Runtime.getRuntime().availableProcessors();
        arenas = new Arena[Math.min(16, Integer.highestOneBit(processors))];
        IntFunction<CleanableDirectBuffer> later = this::memory;
        for (int i = 0; i < arenas.length; i++) {
            arenas[i] = new Arena(later);
        }
    }

    @Override
    protected ByteBuf newHeapBuffer(int initialCapacity, int maxCapacity) {
        return PooledByteBufAllocator.DEFAULT.heapBuffer(initialCapacity, maxCapacity);
    }

    @Override
    protected ByteBuf newDirectBuffer(int initialCapacity, int maxCapacity) {
        if (initialCapacity < LEAST) {
            return PooledByteBufAllocator.DEFAULT.directBuffer(initialCapacity, maxCapacity);
        }
        return leakAware(newBuffer(initialCapacity, maxCapacity));
    }

    @Override
    public boolean isDirectBufferPooled() {
        return true;
    }

    /**
     * Returns the direct memory that this allocator has from the system, in use or kept for later buffers. What Netty's
     * pooled allocator supplies in its place is counted there.
     */
    @Override
    public ByteBufAllocatorMetric metric() {
        return metric;
    }

    /** Makes a buffer aware of leaks, as Netty's allocators do with what they hand out. */
    static ByteBuf leakAware(ByteBuf buffer) {
        return toLeakAwareBuffer(buffer);
    }

    private ByteBuf newBuffer(int bytes, int maxCapacity) {
        Arena arena = arena();
        try {
            return arena.buffer(this, bytes, maxCapacity);
        } catch (OutOfMemoryError e) {
            retireSpares();
            return arena.buffer(this, bytes, maxCapacity);
        }
    }

    private CleanableDirectBuffer memory(int bytes) {
        Arena arena = arena();
        try {
            return arena.memory(bytes);
        } catch (OutOfMemoryError e) {
            retireSpares();
            return arena.memory(bytes);
        }
    }

    /** Returns an arena of the thread's, so that threads that allocate at the same time mostly do not meet. */
    private Arena arena() {
        return arenas[(int) Thread.currentThread().getId() & arenas.length - 1];
    }

    /** Gives up what is kept for later buffers. */
    void retireSpares() {
        for (Arena each : arenas) {
            each.retireSpares();
        }
    }

    /** Does the same, and from now on also for each chunk that becomes unused. */
    void keepNothing() {
        for (Arena each : arenas) {
            each.keepNothing();
        }
    }

    private final class Metric implements ByteBufAllocatorMetric {

        @Override
        public long usedHeapMemory() {
            return 0; // Netty's pooled allocator has it
        }

        @Override
        public long usedDirectMemory() {
            long sum = 0;
            for (Arena each : arenas) {
                sum += each.held();
            }
            return sum;
        }
    }
}
