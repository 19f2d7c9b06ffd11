/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.verbs.loopback;

import java.nio.ByteBuffer;
import org.jrsocket.os.Errno;
import org.jrsocket.verbs.SendBatch;

/**
 * The send queue of a queue pair: a ring of work requests, copied from the caller's batch. Three counters run over it:
 * posted, arrived (at the peer) and completed. Guarded by the queue pair's lock, except where marked.
 */
final class SendQueue {

    private static final int SGES = SendBatch.MAX_SGE;

    final int capacity;
    private final int mask;
    private final int maxSge;
    private final int maxInline;

    long posted;
    long arrived;
    long completed;
    /**
     * Slots given back, each when a completion at or after the request was polled. Raised under the lock of the
     * completion queue.
     */
    final Counter freed = new Counter();
    /** The number of requests completed since the last completion that reported them. */
    int silent;

    private final long[] ids;
    private final int[] opcodes;
    private final int[] flags;
    private final int[] imms;
    private final long[] remoteAddresses;
    private final int[] rkeys;
    private final int[] lengths;
    private final int[] sgeCounts;
    private final long[] sgeAddresses;
    private final int[] sgeLengths;
    private final int[] sgeLkeys;
    private final long[] stamps;
    private final ByteBuffer inline;
    private final InlineWindows windows = new InlineWindows();

    SendQueue(int capacity, int maxSge, int maxInline) {
        this.capacity = capacity;
        this.maxSge = maxSge;
        this.maxInline = maxInline;
        int size = Rings.powerOfTwo(capacity);
        mask = size - 1;
        ids = new long[size];
        opcodes = new int[size];
        flags = new int[size];
        imms = new int[size];
        remoteAddresses = new long[size];
        rkeys = new int[size];
        lengths = new int[size];
        sgeCounts = new int[size];
        sgeAddresses = new long[size * SGES];
        sgeLengths = new int[size * SGES];
        sgeLkeys = new int[size * SGES];
        stamps = new long[size];
        inline = ByteBuffer.allocate(size * maxInline);
    }

    /** Adds request {@code index} of the batch. Returns its errno, or 0. */
    int add(SendBatch batch, int index, boolean iwarp, long stamp) {
        if (posted - freed.get() >= capacity) {
            return Errno.ENOMEM;
        }
        int opcode = batch.opcode(index);
        boolean withImm = opcode == SendBatch.RDMA_WRITE_WITH_IMM || opcode == SendBatch.SEND_WITH_IMM;
        int sges = batch.sgeCount(index);
        if (opcode < 0 || opcode > SendBatch.SEND_WITH_IMM || withImm && iwarp || sges > maxSge) {
            return Errno.EINVAL;
        }
        long length = 0;
        for (int i = 0; i < sges; i++) {
            if (batch.sgeLength(index, i) < 0) {
                return Errno.EINVAL;
            }
            length += batch.sgeLength(index, i);
        }
        boolean isInline = (batch.flags(index) & SendBatch.INLINE) != 0;
        if (length > Integer.MAX_VALUE || isInline && length > maxInline) {
            return Errno.EINVAL;
        }
        int at = slot(posted);
        ids[at] = batch.id(index);
        opcodes[at] = opcode;
        flags[at] = batch.flags(index);
        imms[at] = batch.imm(index);
        remoteAddresses[at] = batch.remoteAddress(index);
        rkeys[at] = batch.rkey(index);
        lengths[at] = (int) length;
        sgeCounts[at] = isInline ? 0 : sges;
        stamps[at] = stamp;
        int target = at * maxInline;
        for (int i = 0; i < sges; i++) {
            int bytes = batch.sgeLength(index, i);
            if (!isInline) {
                sgeAddresses[at * SGES + i] = batch.sgeAddress(index, i);
                sgeLengths[at * SGES + i] = bytes;
                sgeLkeys[at * SGES + i] = batch.sgeLkey(index, i);
            } else if (bytes > 0) {
                windows.copy(batch.sgeAddress(index, i), bytes, inline, target);
                target += bytes;
            }
        }
        posted++;
        return 0;
    }

    int slot(long counter) {
        return (int) counter & mask;
    }

    boolean hasWork() {
        return arrived < posted;
    }

    // Of one slot.

    long id(int slot) {
        return ids[slot];
    }

    int opcode(int slot) {
        return opcodes[slot];
    }

    boolean isSignaled(int slot) {
        return (flags[slot] & SendBatch.SIGNALED) != 0;
    }

    boolean isInline(int slot) {
        return (flags[slot] & SendBatch.INLINE) != 0;
    }

    int imm(int slot) {
        return imms[slot];
    }

    long remoteAddress(int slot) {
        return remoteAddresses[slot];
    }

    int rkey(int slot) {
        return rkeys[slot];
    }

    /** Returns the bytes of payload. */
    int length(int slot) {
        return lengths[slot];
    }

    /** Returns the wire's stamp from when the request was posted. */
    long stamp(int slot) {
        return stamps[slot];
    }

    /** Returns whether the queue pair's domain may read what the scatter entries name. */
    boolean isReadable(int slot, LoopbackPd pd, KeyTable keys) {
        for (int i = slot * SGES; i < slot * SGES + sgeCounts[slot]; i++) {
            LoopbackMr mr = keys.local(sgeLkeys[i]);
            if (sgeLengths[i] > 0 && (mr == null || !mr.allows(pd, sgeAddresses[i], sgeLengths[i], 0))) {
                return false;
            }
        }
        return true;
    }

    /** Copies the payload, which is readable. */
    void copyTo(int slot, KeyTable keys, ByteBuffer target, int index) {
        if (isInline(slot)) {
            target.put(index, inline, slot * maxInline, lengths[slot]);
            return;
        }
        int at = index;
        for (int i = slot * SGES; i < slot * SGES + sgeCounts[slot]; i++) {
            if (sgeLengths[i] > 0) {
                LoopbackMr mr = keys.local(sgeLkeys[i]);
                target.put(at, mr.bytes(), mr.offset(sgeAddresses[i]), sgeLengths[i]);
                at += sgeLengths[i];
            }
        }
    }
}
