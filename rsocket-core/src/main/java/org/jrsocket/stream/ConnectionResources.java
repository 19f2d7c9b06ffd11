/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.stream;

import com.ibm.disni.verbs.IbvMr;
import java.io.IOException;
import java.nio.ByteBuffer;
import org.jrsocket.os.NativeMemory;
import org.jrsocket.verbs.CompChannel;
import org.jrsocket.verbs.Cq;
import org.jrsocket.verbs.Device;
import org.jrsocket.verbs.Mr;
import org.jrsocket.verbs.Pd;
import org.jrsocket.verbs.SendBatch;
import org.jrsocket.verbs.Verbs;
import org.jrsocket.verbs.WcBatch;
import org.jrsocket.wire.MessageWord;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What an {@link ConnectionHandles} needs besides its id and its queue pair: a protection domain, two completion queues
 * on one channel, and registered memory. It serves one connection at a time and, as a whole, another one after it.
 *
 * <p>A remote key opens memory only to queue pairs of its own protection domain, and this domain never holds more than
 * one. So a peer that remembers the keys of a connection that is over has no queue pair left that they would work with,
 * and the next connection's peer gets at nothing but its own.
 */
final class ConnectionResources {

    private static final Logger LOG = LoggerFactory.getLogger(ConnectionResources.class);

    /** Event cookies, see {@link CompChannel#takeEvent()}. */
    static final int RECV_COOKIE = 0;

    static final int SEND_COOKIE = 1;

    /** Entries of our grant table. C's own number; a C peer writes its grants to 1, 0, 1, 0, ... */
    static final int TABLE_ENTRIES = 2;

    private static final int TABLE_BYTES = TABLE_ENTRIES * 16;

    private static final int LOCAL_AND_REMOTE_WRITE = IbvMr.IBV_ACCESS_LOCAL_WRITE | IbvMr.IBV_ACCESS_REMOTE_WRITE;
    private static final byte[] ZEROS = new byte[32 * 1024];

    /**
     * What connections must have in common to use the same bundle: the device, entries of the queues, bytes of the
     * rings.
     */
    record Shape(Device device, int sendQueue, int receiveQueue, int sendRing, int receiveRing) {

        /** Pinned, more or less. */
        int bytes() {
            return sendRing + receiveRing + NativeMemory.PAGE;
        }
    }

    final Shape shape;
    private final Verbs verbs;
    private Pd pd;
    CompChannel channel;
    Cq recvCq;
    Cq sendCq;
    NativeMemory receiveRing;
    Mr receiveMr;
    NativeMemory grantTable;
    Mr grantMr;
    NativeMemory sendRing;
    Mr sendMr;
    /** iWARP only: one 4-byte message word for each posted receive; else null. */
    NativeMemory words;

    Mr wordsMr;
    SendBatch sends;
    WcBatch sendCompletions;
    WcBatch receiveCompletions;

    ConnectionResources(Verbs verbs, Shape shape) throws IOException {
        this.verbs = verbs;
        this.shape = shape;
        Device device = shape.device;
        try {
            pd = verbs.allocPd(device);
            channel = verbs.createCompChannel(device);
            recvCq = verbs.createCq(device, channel, shape.receiveQueue, RECV_COOKIE);
            sendCq = verbs.createCq(device, channel, shape.sendQueue, SEND_COOKIE);
            receiveRing = NativeMemory.allocate(shape.receiveRing);
            receiveMr = verbs.registerMr(pd, receiveRing.address(), receiveRing.size(), LOCAL_AND_REMOTE_WRITE);
            // a region of its own: its key must open nothing but the table
            grantTable = NativeMemory.allocate(NativeMemory.PAGE);
            grantMr = verbs.registerMr(pd, grantTable.address(), TABLE_BYTES, LOCAL_AND_REMOTE_WRITE);
            sendRing = NativeMemory.allocate(shape.sendRing);
            sendMr = verbs.registerMr(pd, sendRing.address(), sendRing.size(), IbvMr.IBV_ACCESS_LOCAL_WRITE);
            if (device.isIwarp()) {
                words = NativeMemory.allocate(shape.receiveQueue * MessageWord.SIZE);
                wordsMr = verbs.registerMr(
                        pd, words.address(), shape.receiveQueue * MessageWord.SIZE, IbvMr.IBV_ACCESS_LOCAL_WRITE);
            }
            sends = new SendBatch(16);
            sendCompletions = new WcBatch(16);
            receiveCompletions = new WcBatch(32);
        } catch (IOException | RuntimeException | Error e) {
            free();
            throw e;
        }
    }

    Pd pd() {
        return pd;
    }

    /**
     * Makes it as good as new, after its connection's queue pair was destroyed.
     * The whole receive ring is cleared: a peer could write all of it at any time, announced or not, and the next peer
     * can have bytes read that it did not write, which must not be another's.
     *
     * @return whether it may be used again
     */
    boolean renew() {
        sends.clear();
        if (!drain(recvCq, receiveCompletions) || !drain(sendCq, sendCompletions)) {
            return false;
        }
        try {
            for (int cookie = channel.takeEvent(); cookie >= 0; cookie = channel.takeEvent()) {
                (cookie == RECV_COOKIE ? recvCq : sendCq).ackEvents(1);
            }
        } catch (IOException e) {
            LOG.warn("acknowledging completion events on {} failed", shape.device.name(), e);
            return false;
        }
        zero(grantTable.buffer(), TABLE_BYTES);
        zero(receiveRing.buffer(), receiveRing.size());
        return true;
    }

    /** Takes what the destroyed queue pair left in the queue; false if the queue is broken. */
    private static boolean drain(Cq queue, WcBatch completions) {
        int n;
        do {
            n = queue.poll(completions);
        } while (n > 0);
        return n == 0;
    }

    private static void zero(ByteBuffer memory, int count) {
        for (int at = 0; at < count; at += ZEROS.length) {
            memory.put(at, ZEROS, 0, Math.min(ZEROS.length, count - at));
        }
    }

    /**
     * Frees it all; no queue pair may be left. Each step is tried even if one before failed: what cannot be freed is
     * logged and lost, rather than freed twice. By one thread, once.
     */
    void free() {
        if (sendCq != null) {
            attempt("ibv_destroy_cq", sendCq::destroyCQ);
        }
        if (recvCq != null) {
            attempt("ibv_destroy_cq", recvCq::destroyCQ);
        }
        if (channel != null) {
            attempt("ibv_destroy_comp_channel", () -> verbs.destroyCompChannel(channel));
        }
        release(wordsMr, words);
        release(sendMr, sendRing);
        release(grantMr, grantTable);
        release(receiveMr, receiveRing);
        if (pd != null) {
            attempt("ibv_dealloc_pd", () -> verbs.deallocPd(pd));
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

    private void release(Mr mr, NativeMemory memory) {
        // Memory that is still registered stays: the peer could write into whatever came to live there.
        if (mr == null
                || attempt("ibv_dereg_mr", () -> {
                    verbs.deregisterMr(mr);
                    return 0;
                })) {
            if (memory != null) {
                memory.free();
            }
        }
    }

    private interface Step {
        int run() throws IOException;
    }

    private boolean attempt(String call, Step step) {
        try {
            step.run();
            return true;
        } catch (IOException | RuntimeException e) {
            LOG.warn(
                    "{} on {} failed while closing a connection; its resource is lost to this process",
                    call,
                    shape.device.name(),
                    e);
            return false;
        }
    }
}
