/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.netty;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.UnpooledDirectByteBuf;
import io.netty.util.IllegalReferenceCountException;
import io.netty.util.internal.CleanableDirectBuffer;
import io.netty.util.internal.PlatformDependent;
import java.nio.ByteBuffer;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.IntFunction;
import org.jrsocket.os.NativeMemory;

/**
 * Memory outside the heap from which buffers of one size are cut, and which a connection registers as a whole when it
 * first sends from it. A piece gets its next owner once its buffer and all sends have let go of it, and the chunk is
 * freed once it is retired and its last registration has ended, so no device can find another owner's bytes in it.
 */
final class Chunk {

    /** Takes pieces back that nobody holds any more. */
    interface Owner {
        void give(Chunk chunk, int piece);
    }

    /** A connection that has registered the chunk. */
    interface Registrant {

        /** Ends the registration, soon: the chunk is retired. */
        void retired(Chunk chunk);
    }

    /** The least size of a piece that can be lent: smaller ones lie in chunks that are not registered. */
    static final int LEAST_LENDABLE = 1024;

    /** The chunks whose pieces are worth lending, by address. */
    private static final ChunkTable<Chunk> BY_ADDRESS = new ChunkTable<>();

    private static final boolean NATIVE = isNativeMemoryThere();

    /** The most released buffers that are kept, each with its views of the memory: small pieces are many. */
    private static final int MOST_BUFFERS = 64;
    /** The most at which a look for one of the right size is taken. */
    private static final int MOST_LOOKS = 8;

    private final Owner owner; // null for a single piece, too large for any size class
    private final ByteBuffer memory;
    private final Runnable free;
    private final long address; // 0 if it cannot be lent
    private final int pieceSize;
    private final LongAdder held;
    private final AtomicIntegerArray holders; // of each piece in use: its buffer, and what is sent from it

    /** Of each piece, the released buffer. Written by the buffer that has the piece, and with the owner's monitor. */
    private final Buffer[] buffers;

    // Guarded by registrants.
    private final Set<Registrant> registrants = new HashSet<>();
    private boolean retired;
    private boolean freed;

    // Guarded by the owner.
    private final int[] freePieces; // without a buffer
    private int freeCount;
    private final int[] readyPieces; // with one, the last used at the end
    private int readyCount;
    Chunk next; // among those with room, as the other
    Chunk previous;

    /** @param held counts its bytes until it is freed */
    Chunk(Owner owner, int pieceSize, int pieces, LongAdder held) {
        this.owner = owner;
        this.held = held;
        this.pieceSize = pieceSize;
        this.holders = new AtomicIntegerArray(pieces);
        this.buffers = new Buffer[pieces];
        this.readyPieces = new int[Math.min(pieces, MOST_BUFFERS)];
        this.freePieces = new int[pieces];
        for (int i = pieces - 1; i >= 0; i--) {
            freePieces[freeCount++] = i;
        }
        int bytes = Math.multiplyExact(pieceSize, pieces);
        boolean lendable = NATIVE && pieceSize >= LEAST_LENDABLE;
        if (NATIVE) {
            NativeMemory mapped = NativeMemory.allocate(bytes);
            memory = mapped.buffer();
            free = mapped::free;
            address = lendable ? mapped.address() : 0;
        } else {
            CleanableDirectBuffer direct = PlatformDependent.allocateDirect(bytes);
            memory = direct.buffer();
            free = direct::clean;
            address = 0;
        }
        held.add(bytes);
        if (lendable) {
            BY_ADDRESS.add(address, this);
        }
    }

    /** Returns whether there is native memory: without the native library, nothing can be lent. */
    private static boolean isNativeMemoryThere() {
        try {
            NativeMemory.allocate(NativeMemory.PAGE).free();
            return true;
        } catch (RuntimeException | LinkageError e) {
            return false;
        }
    }

    /** Returns the chunk to which a piece of memory in use belongs; null if it is not from this allocator. */
    static Chunk at(long address) {
        Chunk chunk = BY_ADDRESS.floor(address);
        return chunk != null && address - chunk.address < chunk.size() ? chunk : null;
    }

    /** Returns all of the memory, for absolute access only. */
    ByteBuffer memory() {
        return memory;
    }

    int size() {
        return memory.capacity();
    }

    /** Returns whether it has a single piece. */
    boolean isWhole() {
        return holders.length() == 1;
    }

    /**
     * Takes a free piece with its released buffer of so many bytes; returns null if there is none among the last used.
     * Called with the owner's monitor held.
     */
    Buffer takeBuffer(int bytes) {
        for (int i = readyCount - 1; i >= Math.max(0, readyCount - MOST_LOOKS); i--) {
            int index = readyPieces[i];
            Buffer buffer = buffers[index];
            if (buffer.capacity() == bytes) {
                readyPieces[i] = readyPieces[--readyCount];
                buffers[index] = null; // nobody would notice the leak of a buffer that the chunk still has
                holders.set(index, 1);
                return buffer;
            }
        }
        return null;
    }

    /** Takes a free piece; there must be one. Called with the owner's monitor held. */
    int take() {
        if (freeCount == 0) {
            forgetOldest();
        }
        int index = freePieces[--freeCount];
        holders.set(index, 1);
        return index;
    }

    private void forgetOldest() {
        int oldest = readyPieces[0];
        System.arraycopy(readyPieces, 1, readyPieces, 0, --readyCount);
        buffers[oldest].forget();
        buffers[oldest] = null;
        freePieces[freeCount++] = oldest;
    }

    /** Takes a piece back. Called with the owner's monitor held. */
    void give(int piece) {
        if (buffers[piece] == null) {
            freePieces[freeCount++] = piece;
            return;
        }
        if (readyCount == readyPieces.length) {
            forgetOldest();
        }
        readyPieces[readyCount++] = piece;
    }

    boolean isFull() {
        return freeCount + readyCount == 0;
    }

    boolean isUnused() {
        return freeCount + readyCount == freePieces.length;
    }

    /** Returns a view of the first bytes of a piece. */
    ByteBuffer piece(int index, int bytes) {
        return memory.slice(index * pieceSize, bytes);
    }

    /**
     * Holds the piece that is in use at an address, for a send. A buffer may let go of its memory before that: it may
     * grow, or be removed from a composite one, though the program retains what it has written.
     *
     * @return its index, for {@link #release}
     * @throws IllegalReferenceCountException if nobody has it any more: the program has released it meanwhile
     */
    int hold(long at) {
        int index = (int) ((at - address) / pieceSize);
        int count;
        do {
            count = holders.get(index);
            if (count == 0) {
                throw new IllegalReferenceCountException(0);
            }
        } while (!holders.compareAndSet(index, count, count + 1));
        return index;
    }

    /** The same for the buffer that has the piece. */
    void release(int index, Buffer buffer) {
        buffers[index] = buffer;
        release(index);
    }

    /** Lets go of a piece, which is given back by the last one that does. */
    void release(int index) {
        if (holders.decrementAndGet(index) > 0) {
            return;
        }
        if (owner == null) {
            retire();
        } else {
            owner.give(this, index);
        }
    }

    /** Retires the chunk, which has no piece in use and gets none again: its registrations end, and it is freed. */
    void retire() {
        if (address != 0) {
            BY_ADDRESS.remove(address); // before it is freed: then the address may be reused
        }
        List<Registrant> told;
        synchronized (registrants) {
            retired = true;
            told = registrants();
        }
        for (int i = 0; i < told.size(); i++) {
            told.get(i).retired(this);
        }
        for (Buffer each : buffers) {
            if (each != null) {
                each.forget();
            }
        }
        freeIfOver();
    }

    /** Called with their lock held. Without memory, each registration ends later, with its connection at the latest. */
    private List<Registrant> registrants() {
        try {
            return List.copyOf(registrants);
        } catch (OutOfMemoryError e) {
            return List.of();
        }
    }

    /** Returns whether the chunk is retired. For tests. */
    boolean isRetired() {
        synchronized (registrants) {
            return retired;
        }
    }

    /** Returns whether the chunk is freed. For tests. */
    boolean isFreed() {
        synchronized (registrants) {
            return freed;
        }
    }

    /** Returns whether the chunk is registered. For tests. */
    boolean isRegistered() {
        synchronized (registrants) {
            return !registrants.isEmpty();
        }
    }

    /** Adds a registration, to be told when the chunk is retired. Called while a piece is in use. */
    void add(Registrant registrant) {
        synchronized (registrants) {
            registrants.add(registrant);
        }
    }

    /** Removes a registration that has ended. */
    void remove(Registrant registrant) {
        synchronized (registrants) {
            registrants.remove(registrant);
        }
        freeIfOver();
    }

    private void freeIfOver() {
        synchronized (registrants) {
            if (freed || !retired || !registrants.isEmpty()) {
                return;
            }
            freed = true;
        }
        free.run();
        held.add(-size());
    }

    /**
     * A buffer whose memory is a piece of a chunk. Unless it has got other memory in the meantime, it stays
     * with the piece when it is released, for the next one who wants as many bytes.
     */
    static final class Buffer extends UnpooledDirectByteBuf {

        private final IntFunction<CleanableDirectBuffer> later;
        private final int piece;
        private Chunk chunk; // of the piece, which the base class does not free; null once it has other memory

        /** @param later allocates memory for each capacity after the first */
        Buffer(
                ByteBufAllocator allocator,
                IntFunction<CleanableDirectBuffer> later,
                Chunk chunk,
                int piece,
                int bytes,
                int maxCapacity) {
            super(allocator, chunk.piece(piece, bytes), maxCapacity);
            this.later = later;
            this.piece = piece;
            this.chunk = chunk;
            setIndex(0, 0);
        }

        /** Begins anew, after a release. */
        Buffer begin(int maxCapacity) {
            maxCapacity(maxCapacity);
            setIndex(0, 0);
            markReaderIndex();
            markWriterIndex();
            resetRefCnt();
            return this;
        }

        @Override
        protected CleanableDirectBuffer allocateDirectBuffer(int capacity) {
            return later.apply(capacity);
        }

        @Override
        public ByteBuf capacity(int newCapacity) {
            int before = capacity();
            super.capacity(newCapacity);
            Chunk first = chunk;
            if (newCapacity != before && first != null) {
                chunk = null;
                first.release(piece);
            }
            return this;
        }

        @Override
        protected void deallocate() {
            if (chunk == null) {
                super.deallocate();
            } else {
                chunk.release(piece, this);
            }
        }

        /** Lets go of the piece for good, after a release. */
        void forget() {
            super.deallocate();
        }
    }
}
