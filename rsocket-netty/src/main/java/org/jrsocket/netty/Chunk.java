/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.netty;

import io.netty.util.internal.CleanableDirectBuffer;
import io.netty.util.internal.PlatformDependent;
import java.nio.ByteBuffer;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.atomic.LongAdder;
import org.jrsocket.os.NativeMemory;

/**
 * Memory outside the heap from which buffers of one size are cut, and which a connection registers as a whole when it
 * first sends from it. It is freed when it is retired and its last registration has ended, so no device can find
 * another's bytes in it.
 */
final class Chunk {

    /** Those with pieces worth lending, by address. */
    private static final ConcurrentSkipListMap<Long, Chunk> BY_ADDRESS = new ConcurrentSkipListMap<>();

    private static final boolean NATIVE = isNativeMemoryThere();

    private final Arena.SizeClass owner; // null for one piece that is too large for any
    private final ByteBuffer memory;
    private final Runnable free;
    private final long address; // 0 if it cannot be lent
    private final int pieceSize;
    private final LongAdder held;

    // Guarded by registrants.
    private final Set<Registrations> registrants = new HashSet<>();
    private boolean retired;
    private boolean freed;

    // Guarded by the owner.
    private final int[] freePieces;
    private int freeCount;

    /** @param held counts its bytes until it is freed */
    Chunk(Arena.SizeClass owner, int pieceSize, int pieces, LongAdder held) {
        this.owner = owner;
        this.held = held;
        this.pieceSize = pieceSize;
        this.freePieces = new int[pieces];
        for (int i = pieces - 1; i >= 0; i--) {
            freePieces[freeCount++] = i;
        }
        int bytes = Math.multiplyExact(pieceSize, pieces);
        boolean lendable = NATIVE && pieceSize >= Arena.LEAST_LENDABLE;
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
            BY_ADDRESS.put(address, this);
        }
    }

    /** Where the native library is missing nothing can be lent. */
    private static boolean isNativeMemoryThere() {
        try {
            NativeMemory.allocate(NativeMemory.PAGE).free();
            return true;
        } catch (RuntimeException | LinkageError e) {
            return false;
        }
    }

    /** The chunk that a piece of memory in use belongs to; null if it is not of this allocator. */
    static Chunk at(long address) {
        Map.Entry<Long, Chunk> entry = BY_ADDRESS.floorEntry(address);
        if (entry == null || address - entry.getKey() >= entry.getValue().memory.capacity()) {
            return null;
        }
        return entry.getValue();
    }

    /** All of it; absolute access only. */
    ByteBuffer memory() {
        return memory;
    }

    int size() {
        return memory.capacity();
    }

    /** With the owner's monitor; there is a free one. */
    int take() {
        return freePieces[--freeCount];
    }

    /** With the owner's monitor. */
    void give(int piece) {
        freePieces[freeCount++] = piece;
    }

    boolean isFull() {
        return freeCount == 0;
    }

    boolean isUnused() {
        return freeCount == freePieces.length;
    }

    /** A view of the first bytes of a piece. */
    ByteBuffer piece(int index, int bytes) {
        return memory.slice(index * pieceSize, bytes);
    }

    /** The piece is used no more. */
    void release(int index) {
        if (owner == null) {
            retire();
        } else {
            owner.give(this, index);
        }
    }

    /** No piece will be cut from it again, and none is in use: connections end their registrations, and it is freed. */
    void retire() {
        if (address != 0) {
            BY_ADDRESS.remove(address, this); // before it is freed: the address may be another's then
        }
        List<Registrations> told;
        synchronized (registrants) {
            retired = true;
            told = List.copyOf(registrants);
        }
        told.forEach(each -> each.retired(this));
        freeIfOver();
    }

    /** For tests. */
    boolean isRetired() {
        synchronized (registrants) {
            return retired;
        }
    }

    /** For tests. */
    boolean isFreed() {
        synchronized (registrants) {
            return freed;
        }
    }

    /** For tests. */
    boolean isRegistered() {
        synchronized (registrants) {
            return !registrants.isEmpty();
        }
    }

    /** It is registered: to be told when it is retired; while a piece is in use. */
    void add(Registrations registrant) {
        synchronized (registrants) {
            registrants.add(registrant);
        }
    }

    /** The registration has ended. */
    void remove(Registrations registrant) {
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
}
