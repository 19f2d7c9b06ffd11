/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.verbs.loopback;

import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import org.jrsocket.os.NativeMemory;
import org.jrsocket.verbs.SendBatch;
import org.jrsocket.verbs.WcBatch;
import org.jrsocket.wire.ConnData;
import org.jrsocket.wire.Credits;
import org.jrsocket.wire.Grant;
import org.jrsocket.wire.Imm;

/**
 * The other end of an {@link IdleQp}: it takes what is written without looking, grants memory and credits in time, like
 * a peer that always reads, and has messages ready as long as this end has granted memory and credits for them. No byte
 * moves: a message brings what the memory held before.
 *
 * <p>One thread at a time posts, and one polls, as with a stream of ours.
 */
final class IdlePeer {

    /** The bytes of a grant, and the least that is granted and unused. */
    private static final int GRANT = 64 * 1024;
    /** An address to which nothing is written. */
    private static final long NOWHERE = 1L << 32;

    private static final int KEY = 1;
    /** The most grants of this end that are unused at once: more than any engine of ours makes. */
    private static final int GRANTS = 64;

    private static final int WINDOW_SHIFT = 20;

    private final int qpNumber;
    private final int messageBytes;
    private final int ready;

    // Written by the poster; the poller reads them behind a fence.
    private long writtenMessages;
    private long writtenBytes;
    private int limit;
    private final int[] grants = new int[GRANTS];
    private int grantsMade;
    private int releases;
    private ByteBuffer window;
    private long windowStart = -1;

    // Used only by the poller.
    private final ByteBuffer table;
    private final int tableEntries;
    private int tableIndex = 1;
    private final int credits;
    private int announced;
    private long granted;
    private int releasesSeen;
    private int sequence;
    private int left;
    private int grantsTaken;

    /**
     * @param mine what this end said of itself
     * @param peers what the other end said
     * @param messageBytes bytes of the messages that this end receives; 0 for none
     * @param ready how many messages one poll finds at most
     */
    IdlePeer(int qpNumber, ConnData mine, ConnData peers, int messageBytes, int ready) {
        this.qpNumber = qpNumber;
        this.messageBytes = messageBytes;
        this.ready = ready;
        this.tableEntries = mine.targetLength();
        this.table = NativeMemory.view(mine.targetAddr(), tableEntries * Grant.SIZE);
        this.limit = mine.credits();
        this.left = mine.dataLength();
        this.credits = peers.credits();
        this.announced = credits;
        this.granted = peers.dataLength();
    }

    /** Takes note that this end has posted request {@code index} of the batch. */
    void posted(SendBatch batch, int index) {
        if (batch.opcode(index) != SendBatch.RDMA_WRITE_WITH_IMM) {
            return;
        }
        int imm = batch.imm(index);
        switch (Imm.op(imm)) {
            case Imm.OP_DATA -> {
                writtenMessages++;
                writtenBytes += Imm.value(imm);
            }
            case Imm.OP_SGL -> {
                limit = Imm.limit(imm);
                if (batch.sgeCount(index) > 0 && batch.sgeLength(index, 0) == Grant.SIZE) {
                    grants[grantsMade % GRANTS] = grantLength(batch.sgeAddress(index, 0));
                    grantsMade++;
                }
            }
            default -> {
                if (Imm.op(imm) == Imm.OP_CTRL && Imm.code(imm) == Imm.CTRL_RELEASE) {
                    releases++;
                }
            }
        }
        VarHandle.releaseFence();
    }

    private int grantLength(long address) {
        long start = address >>> WINDOW_SHIFT;
        if (start != windowStart) {
            window = NativeMemory.view(start << WINDOW_SHIFT, 2 << WINDOW_SHIFT);
            windowStart = start;
        }
        return Grant.length(window, (int) (address - (start << WINDOW_SHIFT)), Grant.BIG_ENDIAN_HOST);
    }

    /** Adds completions for what has arrived at this end to the {@code n} in the batch, and returns the new number. */
    int receive(WcBatch batch, int n) {
        VarHandle.acquireFence();
        int count = n;
        if (count < batch.capacity()) {
            count = answer(batch, count);
        }
        int most = messageBytes == 0 ? 0 : Math.min(batch.capacity(), count + ready);
        while (count < most && Credits.window(limit, sequence) > 0 && hasRoom()) {
            int bytes = Math.min(messageBytes, left);
            left -= bytes;
            sequence = Credits.next(sequence);
            complete(batch, count++, Imm.data(bytes), bytes);
        }
        return count;
    }

    private boolean hasRoom() {
        while (left == 0) {
            if (grantsTaken == grantsMade) {
                return false;
            }
            left = grants[grantsTaken % GRANTS];
            grantsTaken++;
        }
        return true;
    }

    private int answer(WcBatch batch, int count) {
        if (releases != releasesSeen) {
            releasesSeen = releases;
            granted = writtenBytes;
        }
        int written = (int) writtenMessages;
        if (granted - writtenBytes < GRANT) {
            Grant.put(table, tableIndex * Grant.SIZE, Grant.BIG_ENDIAN_HOST, NOWHERE, KEY, GRANT);
            tableIndex = (tableIndex + 1) % tableEntries;
            granted += GRANT;
            announced = written + credits & Credits.MASK;
            complete(batch, count, Imm.sgl(announced), Grant.SIZE);
            return count + 1;
        }
        if ((announced - written & Credits.MASK) <= credits / 2) {
            announced = written + credits & Credits.MASK;
            complete(batch, count, Imm.sgl(announced), 0);
            return count + 1;
        }
        return count;
    }

    private void complete(WcBatch batch, int index, int imm, int length) {
        batch.set(index, 0, WcBatch.SUCCESS, WcBatch.OP_RECV_RDMA_WITH_IMM, length, imm, qpNumber, WcBatch.WITH_IMM);
    }
}
