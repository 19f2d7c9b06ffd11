/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.protocol;

import java.util.ArrayDeque;

/**
 * The ledger of send memory: slabs that a writer copies into, one after the other. A slab is free again once all that
 * was written to it is acknowledged. The memory starts as one small slab, grows each time the writer runs out, and is
 * one small slab again after a quiet time. One thread at a time; but between {@link #reserve} and {@link #wrote} the
 * writer may copy while others use the connection.
 */
public final class SendMemory {

    /** Fewer bytes cut a stream into tiny messages. */
    private static final int SMALL = 256 * 1024;

    private final Slab first; // never given up while the connection lives
    private final int most;
    private final ArrayDeque<Slab> full = new ArrayDeque<>();
    private final ArrayDeque<Slab> free = new ArrayDeque<>();
    private Slab current;
    private boolean reserved;
    private long capacity;
    private long freeBytes;

    /** @param most bytes that it may grow to */
    public SendMemory(Slab first, int most) {
        this.first = first;
        this.most = Math.max(most, first.length());
        this.current = first;
        this.capacity = first.length();
        first.renew();
    }

    /**
     * Bytes that can be written in one piece, at {@link #reserve}; 0 if the writer has to wait, or if a slab is
     * {@link #wanted}.
     */
    public int room() {
        return current == null ? 0 : current.length() - current.filled;
    }

    /** Bytes that can be written before anything is acknowledged, including slabs that are still to be added. */
    public long totalRoom() {
        return room() + freeBytes + (most - capacity);
    }

    /** Where the next bytes go. The place belongs to the writer until {@link #wrote}. */
    public long reserve() {
        reserved = true;
        return next();
    }

    /** As {@link #reserve}, for a writer that copies before anybody else uses the connection. */
    public long next() {
        return current.address() + current.filled;
    }

    /** The slab in which {@link #reserve} lies. Only while there is {@link #room}. */
    public Slab slab() {
        return current;
    }

    /** Bytes of {@link #slab} before {@link #next}. */
    public int filled() {
        return current.filled;
    }

    int localKey() {
        return current.localKey();
    }

    /**
     * The writer has written {@code n} bytes there, perhaps none.
     *
     * @param offset of the stream behind them
     * @return whether they are the last of their slab, so that somebody waits for their acknowledgement
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

    /** All up to this offset of the stream is free. */
    void acknowledged(long offset) {
        for (Slab slab = full.peek(); slab != null && slab.endOffset <= offset; slab = full.peek()) {
            full.remove();
            add(slab, false);
        }
        if (full.isEmpty() && !reserved && current != null && current.endOffset <= offset) {
            current.renew(); // from its start again: that memory is in the cache
        }
    }

    /** Bytes of a slab that would let the writer go on; 0 if there is room, or if there may be no more. */
    public int wanted() {
        return current != null ? 0 : (int) Math.min(capacity, most - capacity);
    }

    /**
     * Whether a slab that is {@link #wanted} had better be added at once for a stream. Otherwise the driver looks first
     * whether something is acknowledged by now.
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
     * After a quiet time: a slab that is not needed any more, to be freed. Null if there is none, or while anything is
     * unacknowledged.
     */
    Slab takeSurplus() {
        if (reserved || !full.isEmpty() || current == null || current.filled > 0) {
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

    /** Bytes of all slabs. */
    public long capacity() {
        return capacity;
    }
}
