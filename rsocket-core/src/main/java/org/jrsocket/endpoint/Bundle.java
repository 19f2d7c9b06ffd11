/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.endpoint;

import com.ibm.disni.verbs.IbvMr;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.function.Predicate;
import org.jrsocket.os.Errno;
import org.jrsocket.os.ErrnoException;
import org.jrsocket.os.NativeMemory;
import org.jrsocket.protocol.Inbound;
import org.jrsocket.verbs.CompChannel;
import org.jrsocket.verbs.Cq;
import org.jrsocket.verbs.Device;
import org.jrsocket.verbs.Mr;
import org.jrsocket.verbs.Pd;
import org.jrsocket.verbs.SendBatch;
import org.jrsocket.verbs.Verbs;
import org.jrsocket.verbs.WcBatch;
import org.jrsocket.wire.Grant;
import org.jrsocket.wire.MessageWord;

/**
 * What an endpoint needs in addition to its id and its queue pair: a protection domain, two completion queues on one
 * channel, and registered memory. A bundle serves one connection at a time and, as a whole, may serve others later.
 *
 * <p>A remote key gives access to memory only to queue pairs of its own protection domain, and this domain never holds
 * more than one. So a peer that remembers the keys of an earlier connection has no queue pair left for which they work,
 * and the next connection's peer reaches only what is its own.
 */
public final class Bundle {

    /** Event cookies; see {@link CompChannel#takeEvent()}. */
    public static final int RECV_COOKIE = 0;

    public static final int SEND_COOKIE = 1;

    /** Entries of our grant table; the peer writes its grants to 1, 2, ... and around. C's own number is 2. */
    public static final int TABLE_ENTRIES = Inbound.MOST_GRANTS;

    public static final int TABLE_BYTES = TABLE_ENTRIES * Grant.SIZE;
    /** Slabs that a connection has from the beginning, and keeps while it is idle. */
    private static final int RECEIVE_SLABS = 2;

    private static final int LOCAL_AND_REMOTE_WRITE = IbvMr.IBV_ACCESS_LOCAL_WRITE | IbvMr.IBV_ACCESS_REMOTE_WRITE;
    private static final byte[] ZEROS = new byte[32 * 1024];

    /**
     * What connections must have in common to use the same bundle: the device, the sizes of the queues, and the bytes
     * of the smallest slabs.
     */
    public record Shape(Device device, int sendQueue, int receiveQueue, int sendSlab, int receiveSlab) {

        /** Used in place of {@code equals}, whose first call in a JVM takes 25 ms, because code is generated for it. */
        boolean isLike(Shape other) {
            return device == other.device
                    && sendQueue == other.sendQueue
                    && receiveQueue == other.receiveQueue
                    && sendSlab == other.sendSlab
                    && receiveSlab == other.receiveSlab;
        }

        /** Returns the bytes that all the regions registered below pin. */
        int bytes() {
            int words = device.isIwarp() ? receiveQueue * MessageWord.SIZE : 0;
            return NativeMemory.whole(RECEIVE_SLABS * receiveSlab)
                    + NativeMemory.whole(NativeMemory.PAGE)
                    + NativeMemory.whole(NativeMemory.PAGE + sendSlab)
                    + NativeMemory.whole(words);
        }
    }

    final Shape shape;
    private final MemoryBudget budget;
    private final Verbs verbs;
    private final Predicate<Runnable> reapers;
    private Pd pd;
    CompChannel channel;
    Cq recvCq;
    Cq sendCq;
    private NativeMemory receiveMemory;
    private Mr receiveMr;
    NativeMemory grantTable;
    Mr grantMr;
    /** A page of outgoing grants and words, with the first send slab behind it. */
    NativeMemory staging;

    Mr stagingMr;
    Slabs slabs;
    RegisteredSlab firstReceive;
    RegisteredSlab firstSend;
    /** One 4-byte message word for each posted receive; null except on iWARP. */
    NativeMemory words;

    Mr wordsMr;
    SendBatch sends;
    WcBatch sendCompletions;
    WcBatch receiveCompletions;

    /** @throws IOException when the device, the system or {@code budget} refuses */
    Bundle(Verbs verbs, Shape shape, MemoryBudget budget, Predicate<Runnable> reapers) throws IOException {
        this.verbs = verbs;
        this.reapers = reapers;
        this.shape = shape;
        this.budget = budget;
        if (!budget.take(shape.bytes())) {
            throw budget.usedUp(shape.bytes(), shape.device.name());
        }
        Device device = shape.device;
        try {
            device.retain();
        } catch (ErrnoException e) {
            budget.giveBack(shape.bytes());
            throw e;
        }
        try {
            pd = verbs.allocPd(device);
            channel = verbs.createCompChannel(device);
            recvCq = createCq(shape.receiveQueue, RECV_COOKIE);
            sendCq = createCq(shape.sendQueue, SEND_COOKIE);
            receiveMemory = NativeMemory.allocate(RECEIVE_SLABS * shape.receiveSlab);
            receiveMr = verbs.registerMr(pd, receiveMemory.address(), receiveMemory.size(), LOCAL_AND_REMOTE_WRITE);
            // a region of its own: its key must give access to nothing but the table
            grantTable = NativeMemory.allocate(NativeMemory.PAGE);
            grantMr = verbs.registerMr(pd, grantTable.address(), TABLE_BYTES, LOCAL_AND_REMOTE_WRITE);
            staging = NativeMemory.allocate(NativeMemory.PAGE + shape.sendSlab);
            stagingMr = verbs.registerMr(pd, staging.address(), staging.size(), IbvMr.IBV_ACCESS_LOCAL_WRITE);
            if (device.isIwarp()) {
                words = NativeMemory.allocate(shape.receiveQueue * MessageWord.SIZE);
                wordsMr = verbs.registerMr(
                        pd, words.address(), shape.receiveQueue * MessageWord.SIZE, IbvMr.IBV_ACCESS_LOCAL_WRITE);
            }
            sends = new SendBatch(16);
            sendCompletions = new WcBatch(32);
            receiveCompletions = new WcBatch(32);
            makeSlabs();
        } catch (IOException | RuntimeException | Error e) {
            free();
            throw e;
        }
    }

    private Cq createCq(int entries, int cookie) throws IOException {
        try {
            return verbs.createCq(shape.device, channel, entries, cookie);
        } catch (ErrnoException e) {
            if (e.errno() != Errno.EINVAL) {
                throw e;
            }
            throw new IOException(
                    shape.device.name() + " refuses a completion queue of " + entries + " entries (" + e.getMessage()
                            + "); lower queue.send or queue.receive",
                    e);
        }
    }

    private void makeSlabs() {
        slabs = new Slabs(verbs, shape.device, pd, budget, reapers);
        firstReceive = RegisteredSlab.part(receiveMemory, 0, shape.receiveSlab, receiveMr, true);
        for (int i = 1; i < RECEIVE_SLABS; i++) {
            slabs.add(RegisteredSlab.part(receiveMemory, i * shape.receiveSlab, shape.receiveSlab, receiveMr, true));
        }
        firstSend = RegisteredSlab.part(staging, NativeMemory.PAGE, shape.sendSlab, stagingMr, false);
    }

    Pd pd() {
        return pd;
    }

    /**
     * Makes the bundle as good as new, after its connection's queue pair was destroyed. The memory that it has grown to
     * is freed. Everything else that the peer could write is cleared, announced or not: the next peer can announce
     * bytes that it did not write, and what is read then must not be another connection's data. So is the send memory:
     * a copy out of a mapped file that was truncated breaks off, and what is sent then must not be either.
     *
     * @return whether it may be used again
     */
    boolean renew() {
        sends.clear();
        if (!drain(recvCq, receiveCompletions) || !drain(sendCq, sendCompletions)) {
            return false;
        }
        int cookie;
        do {
            cookie = channel.takeEvent();
        } while (cookie >= 0);
        zero(grantTable.buffer(), TABLE_BYTES);
        zero(receiveMemory.buffer(), receiveMemory.size());
        zero(staging.buffer(), staging.size());
        zero(sends.payload(), SendBatch.PAYLOAD);
        slabs.freeGrown();
        makeSlabs();
        return true;
    }

    /** Discards what the destroyed queue pair left in the queue. Returns false if the queue is broken. */
    private static boolean drain(Cq queue, WcBatch completions) {
        int n;
        do {
            n = queue.poll(completions);
        } while (n > 0);
        return n == 0 && !queue.hasFailed();
    }

    private static void zero(ByteBuffer memory, int count) {
        for (int at = 0; at < count; at += ZEROS.length) {
            memory.put(at, ZEROS, 0, Math.min(ZEROS.length, count - at));
        }
    }

    /**
     * Frees everything. No queue pair may be left. Each step is tried even if an earlier one failed: what cannot be
     * freed is logged and lost, rather than freed twice. Called once, by one thread.
     */
    void free() {
        try {
            freeAll();
        } finally {
            shape.device.release();
        }
    }

    private void freeAll() {
        if (sendCq != null) {
            attempt("ibv_destroy_cq", Bundle::destroyCq, sendCq, null);
        }
        if (recvCq != null) {
            attempt("ibv_destroy_cq", Bundle::destroyCq, recvCq, null);
        }
        if (channel != null) {
            attempt("ibv_destroy_comp_channel", Verbs::destroyCompChannel, verbs, channel);
        }
        if (slabs != null) {
            slabs.freeGrown();
        }
        boolean all = release(wordsMr, words);
        all &= release(stagingMr, staging);
        all &= release(grantMr, grantTable);
        all &= release(receiveMr, receiveMemory);
        if (all) {
            budget.giveBack(shape.bytes());
        }
        if (pd != null) {
            attempt("ibv_dealloc_pd", Verbs::deallocPd, verbs, pd);
        }
        if (sends != null) {
            sends.free();
        }
        if (sendCompletions != null) {
            sendCompletions.free();
        }
        if (receiveCompletions != null) {
            receiveCompletions.free();
        }
    }

    private boolean release(Mr mr, NativeMemory memory) {
        // Memory that is still registered is kept: the peer could write into whatever took its place.
        boolean gone = mr == null || attempt("ibv_dereg_mr", Verbs::deregisterMr, verbs, mr);
        if (gone && memory != null) {
            memory.free();
        }
        return gone;
    }

    private <A, B> boolean attempt(String call, Freeing.Step<A, B> step, A first, B second) {
        return Freeing.attempt(call, shape.device, step, first, second);
    }

    private static void destroyCq(Cq cq, Object none) throws IOException {
        cq.destroyCQ();
    }
}
