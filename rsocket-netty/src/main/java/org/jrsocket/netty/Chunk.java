/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.netty;

import java.nio.ByteBuffer;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentSkipListMap;
import org.jrsocket.os.NativeMemory;

/**
 * Memory outside the heap from which buffers of one size are cut, and which a connection registers as a whole when it
 * first sends from it. It is never freed explicitly: the garbage collector frees it when neither a buffer nor a
 * registration has it any more, so no device can find another's bytes in it.
 */
final class Chunk {

    /** Those with pieces worth lending, by address. */
    private static final ConcurrentSkipListMap<Long, Chunk> BY_ADDRESS = new ConcurrentSkipListMap<>();

    private static final boolean ADDRESSES = addressesAreKnown();

    private final Arena.SizeClass owner; // null for one piece that is too large for any
    private final ByteBuffer memory;
    private final long address;
    private final int pieceSize;
    private volatile boolean retired;
    private final Set<Registrations> registrants = new HashSet<>(); // guarded by itself

    // Guarded by the owner.
    private final int[] free;
    private int freeCount;

    Chunk(Arena.SizeClass owner, int pieceSize, int pieces) {
        this.owner = owner;
        this.pieceSize = pieceSize;
        this.memory = ByteBuffer.allocateDirect(Math.multiplyExact(pieceSize, pieces));
        this.free = new int[pieces];
        for (int i = pieces - 1; i >= 0; i--) {
            free[freeCount++] = i;
        }
        boolean lendable = ADDRESSES && pieceSize >= Arena.LEAST_LENDABLE;
        this.address = lendable ? NativeMemory.addressOf(memory) : 0;
        if (lendable) {
            BY_ADDRESS.put(address, this);
        }
    }

    /** Where the native library is missing nothing can be lent. */
    private static boolean addressesAreKnown() {
        try {
            return NativeMemory.addressOf(ByteBuffer.allocateDirect(1)) != 0;
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

    long address() {
        return address;
    }

    int size() {
        return memory.capacity();
    }

    /** With the owner's monitor; there is a free one. */
    int take() {
        return free[--freeCount];
    }

    /** With the owner's monitor. */
    void give(int piece) {
        free[freeCount++] = piece;
    }

    boolean isFull() {
        return freeCount == 0;
    }

    boolean isUnused() {
        return freeCount == free.length;
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

    /** No piece will be cut from it again, and none is in use: connections end their registrations. */
    void retire() {
        retired = true;
        if (address == 0) {
            return;
        }
        BY_ADDRESS.remove(address, this);
        List<Registrations> told;
        synchronized (registrants) {
            told = List.copyOf(registrants);
        }
        told.forEach(each -> each.retired(this));
    }

    /** For tests. */
    boolean isRetired() {
        return retired;
    }

    /** To be told when it is retired; while a piece is in use. */
    void add(Registrations registrant) {
        synchronized (registrants) {
            registrants.add(registrant);
        }
    }

    void remove(Registrations registrant) {
        synchronized (registrants) {
            registrants.remove(registrant);
        }
    }
}
