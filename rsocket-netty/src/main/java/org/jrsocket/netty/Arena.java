/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.netty;

import io.netty.buffer.ByteBufAllocator;
import io.netty.util.internal.CleanableDirectBuffer;
import io.netty.util.internal.PlatformDependent;
import java.nio.ByteBuffer;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.IntFunction;
import org.jrsocket.netty.Chunk.Buffer;

/** Allocates pieces of memory in sizes that are powers of two, out of {@link Chunk}s. Safe for use by many threads. */
final class Arena {

    static final int SMALLEST = 256;
    private static final int SMALLEST_SHIFT = Integer.numberOfTrailingZeros(SMALLEST);
    /** The size of chunks of lendable pieces: a registration costs much, whatever its size. */
    private static final int CHUNK = 2 * 1024 * 1024;

    private static final int SMALL_CHUNK = 128 * 1024;
    /** The bytes of unused chunks that an arena keeps: enough for one chunk of each size. */
    private static final int SPARE = 12 * CHUNK + 2 * SMALL_CHUNK;

    private final IntFunction<CleanableDirectBuffer> later;
    private final LongAdder held = new LongAdder();
    private final AtomicInteger spare = new AtomicInteger();
    private volatile int mostSpare = SPARE;
    private final SizeClass[] classes = new SizeClass[Integer.numberOfTrailingZeros(CHUNK) - SMALLEST_SHIFT + 1];

    /** @param later allocates the later memory of buffers */
    Arena(IntFunction<CleanableDirectBuffer> later) {
        this.later = later;
        for (int i = 0; i < classes.length; i++) {
            classes[i] = new SizeClass(SMALLEST << i);
        }
    }

    /** Returns a buffer, which may have been used and released before. */
    Buffer buffer(ByteBufAllocator allocator, int bytes, int maxCapacity) {
        if (bytes > CHUNK) {
            Chunk single = single(bytes);
            return bufferOf(single, single.take(), allocator, bytes, maxCapacity);
        }
        return classOf(bytes).buffer(allocator, bytes, maxCapacity);
    }

    /** Returns memory for a buffer that has another size than before. */
    CleanableDirectBuffer memory(int bytes) {
        if (bytes > CHUNK) {
            Chunk single = single(bytes);
            return pieceOf(single, single.take(), bytes);
        }
        return classOf(bytes).memory(bytes);
    }

    /** Returns a buffer around a piece that was taken, or gives that back. */
    private Buffer bufferOf(Chunk chunk, int index, ByteBufAllocator allocator, int bytes, int maxCapacity) {
        try {
            return new Buffer(allocator, later, chunk, index, bytes, maxCapacity);
        } catch (RuntimeException | Error e) { // lack of memory
            chunk.release(index);
            throw e;
        }
    }

    /** Does the same without a buffer. */
    private static Piece pieceOf(Chunk chunk, int index, int bytes) {
        try {
            return new Piece(chunk, index, bytes);
        } catch (RuntimeException | Error e) { // lack of memory
            chunk.release(index);
            throw e;
        }
    }

    private Chunk single(int bytes) {
        return new Chunk(null, bytes, 1, held);
    }

    private SizeClass classOf(int bytes) {
        int shift = Integer.SIZE - Integer.numberOfLeadingZeros(Math.max(bytes, SMALLEST) - 1);
        return classes[shift - SMALLEST_SHIFT];
    }

    /** Returns the bytes that the arena has from the system: in use, spare, or still registered. */
    long held() {
        return held.sum();
    }

    /** Gives up all chunks without a piece in use. */
    void retireSpares() {
        for (SizeClass each : classes) {
            each.retireSpares();
        }
    }

    /** Does the same, and keeps no unused chunk from now on. */
    void keepNothing() {
        mostSpare = 0; // first: one of the two sees a chunk that becomes unused in the meantime
        retireSpares();
    }

    /**
     * Gives up unused chunks of sizes that have others, if possible of this size. After a peak of one size, each
     * message of another would have a new chunk otherwise, which is registered for it alone.
     */
    private void giveUpSpares(SizeClass first) {
        while (spare.get() > mostSpare) {
            Chunk chunk = first.removeUnused(mostSpare == 0 ? 1 : 2);
            for (int i = classes.length - 1; chunk == null && i >= 0; i--) {
                chunk = classes[i].removeUnused(2);
            }
            if (chunk == null) {
                return; // another thread has taken or given up some
            }
            chunk.retire(); // outside the monitor, because it may end registrations
        }
    }

    /** A piece in use, as the later memory of a buffer. */
    private static final class Piece implements CleanableDirectBuffer {
        private final Chunk chunk;
        private final int index;
        private final ByteBuffer buffer;

        Piece(Chunk chunk, int index, int bytes) {
            this.chunk = chunk;
            this.index = index;
            this.buffer = chunk.piece(index, bytes);
        }

        @Override
        public ByteBuffer buffer() {
            return buffer;
        }

        @Override
        public void clean() {
            chunk.release(index);
        }

        @Override
        public boolean hasMemoryAddress() { // as with the first memory of a buffer, of which it asks the same
            return PlatformDependent.hasDirectByteBufferAddress(buffer);
        }

        @Override
        public long memoryAddress() {
            return PlatformDependent.directBufferAddress(buffer);
        }
    }

    /** The pieces of one size. */
    private final class SizeClass implements Chunk.Owner {
        private final int pieceSize;

        /** The first of those with room, which are linked to each other: it takes no memory to add one. */
        private Chunk withRoom; // guarded by this

        SizeClass(int pieceSize) {
            this.pieceSize = pieceSize;
        }

        Buffer buffer(ByteBufAllocator allocator, int bytes, int maxCapacity) {
            Chunk chunk;
            int index;
            synchronized (this) {
                chunk = chunkWithRoom();
                Buffer again = chunk.takeBuffer(bytes);
                index = again == null ? chunk.take() : -1;
                taken(chunk);
                if (again != null) {
                    return again.begin(maxCapacity);
                }
            }
            return bufferOf(chunk, index, allocator, bytes, maxCapacity);
        }

        Piece memory(int bytes) {
            Chunk chunk;
            int index;
            synchronized (this) {
                chunk = chunkWithRoom();
                index = chunk.take();
                taken(chunk);
            }
            return pieceOf(chunk, index, bytes);
        }

        private Chunk chunkWithRoom() {
            Chunk chunk = withRoom;
            if (chunk == null) {
                int size = pieceSize < Chunk.LEAST_LENDABLE ? SMALL_CHUNK : CHUNK;
                chunk = new Chunk(this, pieceSize, size / pieceSize, held);
                add(chunk);
            } else if (chunk.isUnused()) {
                spare.addAndGet(-chunk.size());
            }
            return chunk;
        }

        private void taken(Chunk first) {
            if (first.isFull()) {
                remove(first);
            }
        }

        /** Called with the monitor held, as the next. */
        private void add(Chunk chunk) {
            chunk.next = withRoom;
            if (withRoom != null) {
                withRoom.previous = chunk;
            }
            withRoom = chunk;
        }

        private void remove(Chunk chunk) {
            if (chunk.previous == null) {
                withRoom = chunk.next;
            } else {
                chunk.previous.next = chunk.next;
            }
            if (chunk.next != null) {
                chunk.next.previous = chunk.previous;
            }
            chunk.previous = null;
            chunk.next = null;
        }

        @Override
        public void give(Chunk chunk, int index) {
            if (isTooMuch(chunk, index)) {
                giveUpSpares(this);
            }
        }

        /** Takes a piece back. Returns whether more is unused now than is to be kept. */
        private synchronized boolean isTooMuch(Chunk chunk, int index) {
            if (chunk.isFull()) {
                add(chunk);
            }
            chunk.give(index);
            return chunk.isUnused() && spare.addAndGet(chunk.size()) > mostSpare;
        }

        /** Removes an unused chunk, if there are at least so many, and returns it. */
        private synchronized Chunk removeUnused(int least) {
            Chunk unused = null;
            int count = 0;
            for (Chunk each = withRoom; each != null; each = each.next) {
                if (each.isUnused()) {
                    unused = each;
                    count++;
                }
            }
            if (count < least) {
                return null;
            }
            remove(unused);
            spare.addAndGet(-unused.size());
            return unused;
        }

        private void retireSpares() {
            for (Chunk unused = removeUnused(1); unused != null; unused = removeUnused(1)) {
                unused.retire(); // outside the monitor, as above
            }
        }
    }
}
