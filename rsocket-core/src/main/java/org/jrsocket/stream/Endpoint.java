/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.stream;

import com.ibm.disni.verbs.IbvQP;
import com.ibm.disni.verbs.IbvQPInitAttr;
import com.ibm.disni.verbs.RdmaCm;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.function.Consumer;
import org.jrsocket.os.Errno;
import org.jrsocket.os.ErrnoException;
import org.jrsocket.os.NativeMemory;
import org.jrsocket.protocol.Inbound;
import org.jrsocket.verbs.Cm;
import org.jrsocket.verbs.CmId;
import org.jrsocket.verbs.CompChannel;
import org.jrsocket.verbs.Cq;
import org.jrsocket.verbs.Device;
import org.jrsocket.verbs.Mr;
import org.jrsocket.verbs.Qp;
import org.jrsocket.verbs.SendBatch;
import org.jrsocket.verbs.WcBatch;
import org.jrsocket.wire.ConnData;
import org.jrsocket.wire.MessageWord;

/**
 * Everything native that one connection owns: the CM id, a queue pair, and a {@link Bundle} of what they need. It is
 * made once and freed once, as a whole; the bundle may serve another connection afterwards.
 */
final class Endpoint {

    /** The features beyond rsocket v1 that we understand, for peers of our own kind. */
    static final int FEATURES = ConnData.FEATURE_RESET | ConnData.FEATURE_RELEASE;

    final Cm cm;
    final CmId id;
    final Device device;
    final StreamConfig config;
    final int sendSlots;
    final int receiveSlots;
    /** What the device granted, which may be more than was asked for. Set once, in the constructor. */
    int inlineLimit;

    private final Services services;
    private final BundlePool bundles;
    private Bundle bundle;
    Qp qp;
    // Copied from the bundle.
    final CompChannel channel;
    final Cq recvCq;
    final Cq sendCq;
    final NativeMemory grantTable;
    final NativeMemory staging;
    final Mr stagingMr;
    final Slabs slabs;
    final RegisteredSlab firstReceive;
    final RegisteredSlab firstSend;
    /** One 4-byte message word for each posted receive, used in turns; null except on iWARP. */
    final NativeMemory words;

    final SendBatch sends;
    final WcBatch sendCompletions;
    final WcBatch receiveCompletions;
    private int nextWord;
    private boolean freed;
    private boolean queuesFreed;
    private boolean sendsEnded;
    private boolean alone; // no queue pair is left

    /** Takes over {@code id}, which is freed with the rest. If this fails, the id still belongs to the caller. */
    Endpoint(Services services, CmId id, StreamConfig config) throws IOException {
        this.services = services;
        this.cm = services.cm;
        this.bundles = services.bundles;
        this.id = id;
        this.config = config;
        this.device = id.getVerbs();
        if (device == null) { // it is bound to an address of no device's, such as the wildcard
            throw new ErrnoException("rdma_bind_addr", String.valueOf(id.getSource()), Errno.ENODEV);
        }
        services.devices.opened(device);
        int most = Math.min(device.maxQpWr(), device.maxCqe()); // each queue has its own completion queue
        try {
            sendSlots = Math.min(config.sendQueue(), most);
            receiveSlots = Math.min(config.receiveQueue() + Inbound.SPARE_RECEIVES, most);
            bundle = bundles.obtain(new Bundle.Shape(
                    device, sendSlots, receiveSlots, config.firstSendSlab(), config.firstReceiveSlab()));
            channel = bundle.channel;
            recvCq = bundle.recvCq;
            sendCq = bundle.sendCq;
            grantTable = bundle.grantTable;
            staging = bundle.staging;
            stagingMr = bundle.stagingMr;
            slabs = bundle.slabs;
            firstReceive = bundle.firstReceive;
            firstSend = bundle.firstSend;
            words = bundle.words;
            sends = bundle.sends;
            sendCompletions = bundle.sendCompletions;
            receiveCompletions = bundle.receiveCompletions;
            qp = createQpInMemory(services.inlineLimits);
            if (!postReceives(receiveSlots)) {
                throw new ErrnoException("ibv_post_recv", device.name(), qp.postError());
            }
        } catch (IOException | RuntimeException | Error e) {
            freeQueues();
            if (MemoryBudget.isLackOfObjects(e)) {
                throw new IOException(
                        "no " + (MemoryBudget.isLack(e) ? "memory" : "room") + " for another connection on "
                                + device.name() + " (" + e.getMessage() + "); " + MemoryBudget.remedy(e),
                        e);
            }
            throw e;
        }
    }

    /** Makes an endpoint on the device that has {@code local}, and frees it again. Returns what the device granted. */
    static QueueLimits tryOne(Services services, InetAddress local, StreamConfig config) throws IOException {
        Cm cm = services.cm;
        CmId id = cm.createId(services.channel, RdmaCm.RDMA_PS_TCP);
        Endpoint endpoint;
        try {
            cm.bindAddr(id, new InetSocketAddress(local, 0));
            endpoint = new Endpoint(services, id, config);
        } catch (IOException | RuntimeException | Error e) {
            Freeing.destroy(id);
            throw e;
        }
        QueueLimits granted = new QueueLimits(
                endpoint.device.name(), endpoint.sendSlots, endpoint.receiveSlots, endpoint.inlineLimit);
        endpoint.free();
        return granted;
    }

    /** Creates the queue pair. Without memory for it, what is kept for others is freed first. */
    private Qp createQpInMemory(InlineLimits inlineLimits) throws IOException {
        try {
            return createQp(inlineLimits);
        } catch (ErrnoException e) {
            if (!MemoryBudget.isLackOfObjects(e) || !bundles.makeRoom(device)) {
                throw e;
            }
            return createQp(inlineLimits);
        }
    }

    private Qp createQp(InlineLimits inlineLimits) throws IOException {
        try {
            int inline = Math.min(config.inline(), device.mostInline());
            return inlineLimits.make(device, inline, device.isIwarp() ? MessageWord.SIZE : 0, this::createQp);
        } catch (ErrnoException e) {
            if (!InlineLimits.isRefusal(e)) {
                throw e;
            }
            throw new IOException(
                    device.name() + " refuses a queue pair of " + sendSlots + " sends and " + receiveSlots
                            + " receives (" + e.getMessage() + "); "
                            + (e.errno() == Errno.EINVAL ? "" : "if others can use the device, ")
                            + "lower queue.send or queue.receive",
                    e);
        }
    }

    private Qp createQp(int inline) throws IOException {
        IbvQPInitAttr attr = new IbvQPInitAttr();
        attr.setQp_type(IbvQP.IBV_QPT_RC);
        attr.setSq_sig_all((byte) 0);
        attr.setSend_cq(sendCq);
        attr.setRecv_cq(recvCq);
        attr.cap().setMax_send_wr(sendSlots);
        attr.cap().setMax_recv_wr(receiveSlots);
        attr.cap().setMax_send_sge(2);
        attr.cap().setMax_recv_sge(1);
        attr.cap().setMax_inline_data(inline);
        // the device may grant more slots, but the completion queues are sized for these
        Qp created = cm.createQP(id, bundle.pd(), attr);
        inlineLimit = Math.min(attr.cap().getMax_inline_data(), Math.min(SendBatch.PAYLOAD, device.mostInline()));
        return created;
    }

    /** Gives {@code count} receives to the device; returns false if it did not take all. One thread at a time. */
    boolean postReceives(int count) {
        if (words == null) {
            return qp.postReceives(count) == count;
        }
        int left = count;
        while (left > 0) {
            int n = Math.min(left, receiveSlots - nextWord);
            long at = words.address() + (long) nextWord * MessageWord.SIZE;
            if (qp.postReceives(n, at, MessageWord.SIZE, bundle.wordsMr.getLkey()) < n) {
                return false;
            }
            nextWord = (nextWord + n) % receiveSlots;
            left -= n;
        }
        return true;
    }

    /**
     * Called when the first receives are used up and about to be posted again. Any lock may be held. Returns false
     * where memory is lacking for that: the next time it is called again.
     */
    boolean reposts() {
        try {
            return services.reapers.handOver(device, this::setRnrTimer);
        } catch (OutOfMemoryError e) {
            return false;
        }
    }

    private synchronized void setRnrTimer() {
        if (!sendsEnded) {
            PathTimers.setRnrTimer(device, qp);
        }
    }

    /** Throws an exception if no stream can be made, because the device or the completion queues have failed. */
    void ensureWorking() throws IOException {
        if (recvCq.hasFailed()) {
            throw new IOException("a completion queue of " + device.name() + " has failed");
        }
        if (device.isLost()) {
            throw new IOException(device.name() + " was removed or has failed");
        }
    }

    /** Returns the bytes registered for it now. Called with the stream's lock held, or before there is a stream. */
    long registeredBytes() {
        return bundle.shape.bytes() + slabs.grownBytes();
    }

    /** Returns how many data messages the peer may send before it needs an update. */
    int credits() {
        return receiveSlots - Inbound.SPARE_RECEIVES;
    }

    /**
     * Returns whether the peer has sent a message, and so knows that it is connected. Called before the queue is in
     * use.
     */
    boolean peerHasWritten() {
        return recvCq.spin(0);
    }

    /** Returns what this side says about itself in the CM message. */
    ConnData connData() {
        return ConnData.local(
                credits(),
                grantTable.address(),
                bundle.grantMr.getRkey(),
                Bundle.TABLE_ENTRIES,
                firstReceive.address(),
                firstReceive.remoteKey(),
                firstReceive.length());
    }

    /** Frees everything, whether or not a connection was made. Repeated calls have no effect. */
    void free() {
        free(true);
    }

    /**
     * Frees everything. Repeated calls have no effect. No thread may still be inside the queues or the memory. Each
     * step is tried even if an earlier one failed: what cannot be freed is logged and lost, rather than freed twice.
     *
     * @param reusable whether the bundle may serve another connection
     */
    void free(boolean reusable) {
        free(reusable, Freeing::destroy);
    }

    /** Frees everything except the id, which then belongs to {@code heir}. */
    synchronized void free(boolean reusable, Consumer<CmId> heir) {
        if (freed) {
            return;
        }
        freed = true;
        try {
            freeQueues(reusable);
        } finally {
            heir.accept(id);
        }
    }

    /**
     * Frees everything except the id, which stays the caller's. May be called repeatedly, and after the rest was freed.
     */
    void freeQueues() {
        freeQueues(true);
    }

    /**
     * Destroys the queue pair and ends the registrations of lent memory: after this the device neither sends nor
     * receives anything. The memory stays. Repeated calls have no effect.
     */
    synchronized void endSends() {
        if (sendsEnded) {
            return;
        }
        sendsEnded = true;
        alone = qp == null || Freeing.attempt("ibv_destroy_qp", device, Cm::destroyQP, cm, id);
        if (bundle != null) {
            bundle.slabs.endLending();
        }
    }

    private synchronized void freeQueues(boolean reusable) {
        if (queuesFreed) {
            return;
        }
        queuesFreed = true;
        endSends();
        if (bundle != null) {
            if (alone && reusable) {
                bundles.giveBack(bundle);
            } else {
                bundle.free();
            }
        }
    }
}
