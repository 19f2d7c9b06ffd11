/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.protocol;

/**
 * The ledger of send memory: slabs that a writer copies into, one after the other. A slab is free again once all that
 * was written to it is acknowledged. The memory starts as one small slab, grows each time the writer runs out, and is
 * one small slab again after a quiet time. Used by one thread at a time; but between {@link #reserve} and
 * {@link #wrote} the writer may copy while other threads use the connection.
 */
public final class SendMemory {

    /** With fewer bytes than this, a stream is cut into tiny messages. */
    private static final int SMALL = 256 * 1024;

    private final Slab first; // never given up while the connection lives
    private final int most;
    private final SlabQueue full = new SlabQueue();
    private final SlabQueue free = new SlabQueue();
    private Slab current; // null while all are full
    private boolean reserved;
    private long capacity;
    private long freeBytes;

    /** @param most bytes that the memory may grow to */
    public SendMemory(Slab first, int most) {
        this.first = first;
        this.most = Math.max(most, first.length());
        this.current = first;
        this.capacity = first.length();
        first.renew();
    }

    /**
     * Returns the bytes that can be written in one piece, at {@link #reserve}; 0 if the writer has to wait, or if a
     * slab is {@link #wanted}.
     */
    public int room() {
        return current == null ? 0 : current.length() - current.filled;
    }

    /** Returns the bytes that can be written before anything is acknowledged, including slabs still to be added. */
    public long totalRoom() {
        return room() + freeBytes + (most - capacity);
    }

    /** Returns where the next bytes go. The place belongs to the writer until {@link #wrote}. */
    public long reserve() {
        reserved = true;
        return next();
    }

    /** Returns the same place, for a writer that copies before any other thread uses the connection. */
    public long next() {
        return current.address() + current.filled;
    }

    /** Returns the slab in which {@link #reserve} lies. Only valid while there is {@link #room}. */
    public Slab slab() {
        return current;
    }

    /** Returns the bytes of {@link #slab} before {@link #next}. */
    public int filled() {
        return current.filled;
    }

    int localKey() {
        return current.localKey();
    }

    /**
     * Records that the writer has written {@code n} bytes there, perhaps none.
     *
     * @param offset the stream offset behind them
     * @return whether they are the last of their slab, so that their acknowledgement is waited for
     */
    boolean wrote(int n, long offset) {
        reserved = false;
        if (n == 0) {
            return false;
        }
        current.filled += n;
        current.endOffset = offset;
        boolean last = current.filled == current.length();
        if (last) {
            full.add(current);
            current = free.poll();
            if (current != null) {
                freeBytes -= current.length();
            }
        }
        return last;
    }

    /** Frees all that was written up to this offset of the stream. */
    void acknowledged(long offset) {
        for (Slab slab = full.peek(); slab != null && slab.endOffset <= offset; slab = full.peek()) {
            full.poll();
            add(slab, false);
        }
        if (!reserved && current != null && current.endOffset <= offset) {
            current.renew(); // from its start again, because that memory is in the cache
        }
    }

    /** Returns the bytes of a slab that would let the writer continue; 0 if there is room, or if no more is allowed. */
    public int wanted() {
        return current != null ? 0 : (int) Math.min(capacity, most - capacity);
    }

    /**
     * Returns whether, for a stream, a slab that is {@link #wanted} should be added at once. Otherwise the driver first
     * checks whether something has been acknowledged by now.
     */
    public boolean isSmallForAStream() {
        return capacity < SMALL;
    }

    /** Adds a slab that was wanted. */
    void add(Slab slab) {
        add(slab, true);
    }

    private void add(Slab slab, boolean isNew) {
        slab.renew();
        if (isNew) {
            capacity += slab.length();
        }
        if (current == null) {
            current = slab;
        } else {
            free.add(slab);
            freeBytes += slab.length();
        }
    }

    /**
     * Takes a slab that is not needed any more after a quiet time, to be freed. Returns null if there is none, or while
     * anything is unacknowledged.
     */
    Slab takeSurplus() {
        if (reserved || !full.isEmpty() || current.filled > 0) {
            return null;
        }
        Slab slab = free.poll();
        if (slab == null) {
            return null;
        }
        freeBytes -= slab.length();
        if (slab == first) {
            slab = current;
            current = first;
        }
        capacity -= slab.length();
        return slab;
    }

    /** Returns the bytes of all slabs. */
    public long capacity() {
        return capacity;
    }
}
