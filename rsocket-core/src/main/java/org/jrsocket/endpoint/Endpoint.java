/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.endpoint;

import com.ibm.disni.verbs.RdmaCm;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.function.Consumer;
import org.jrsocket.os.Errno;
import org.jrsocket.os.ErrnoException;
import org.jrsocket.protocol.GrantTable;
import org.jrsocket.protocol.Inbound;
import org.jrsocket.protocol.SendLimits;
import org.jrsocket.verbs.Cm;
import org.jrsocket.verbs.CmChannel;
import org.jrsocket.verbs.CmId;
import org.jrsocket.verbs.Device;
import org.jrsocket.verbs.Qp;
import org.jrsocket.verbs.SendBatch;
import org.jrsocket.wire.ConnData;
import org.jrsocket.wire.MessageWord;

/**
 * Everything native that one connection owns: the CM id, a queue pair, and a {@link Bundle} of what they need. It is
 * made once and freed once, as a whole; the bundle may serve another connection afterwards. One thread uses it at a
 * time, unless stated otherwise; any thread may free it.
 */
public final class Endpoint {

    /** The features beyond rsocket v1 that we understand, for peers of our own kind. */
    public static final int FEATURES = ConnData.FEATURE_RESET | ConnData.FEATURE_RELEASE;

    private final Cm cm;
    private final CmId id;
    private final Device device;
    private final int sendSlots;
    private final int receiveSlots;
    /** What the device granted, which may be more than was asked for. Set once, in the constructor. */
    private int inlineLimit;

    private final EndpointServices services;
    private final BundlePool bundles;
    private Bundle bundle;
    private Qp qp;
    // The bundle's, which has others when it serves another connection.
    private final Slabs slabs;
    private final RegisteredSlab firstReceive;
    private final RegisteredSlab firstSend;

    private int nextWord;
    private boolean freed;
    private boolean queuesFreed;
    private boolean sendsEnded;
    private boolean alone; // no queue pair is left

    /**
     * Takes over {@code id}, which is freed with the rest. If this fails, the id still belongs to the caller.
     *
     * @throws IOException if the device, the system or the limit of the process refuses; says what to do
     */
    public Endpoint(EndpointServices services, CmId id, EndpointSizes sizes) throws IOException {
        this.services = services;
        this.cm = services.cm();
        this.bundles = services.bundles();
        this.id = id;
        this.device = id.getVerbs();
        if (device == null) { // it is bound to an address of no device's, such as the wildcard
            throw new ErrnoException("rdma_bind_addr", String.valueOf(id.getSource()), Errno.ENODEV);
        }
        services.devices().opened(device);
        int most = Math.min(device.maxQpWr(), device.maxCqe()); // each queue has its own completion queue
        try {
            sendSlots = Math.min(sizes.sendQueue(), most);
            receiveSlots = Math.min(sizes.receiveQueue() + Inbound.SPARE_RECEIVES, most);
            bundle = bundles.obtain(
                    new Bundle.Shape(device, sendSlots, receiveSlots, sizes.sendSlab(), sizes.receiveSlab()));
            slabs = bundle.slabs;
            firstReceive = bundle.firstReceive;
            firstSend = bundle.firstSend;
            QpMaker maker = new QpMaker(services, id, bundle);
            qp = maker.make(sizes.inline());
            inlineLimit = maker.inlineLimit();
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
    public static QueueLimits tryOne(
            EndpointServices services, CmChannel channel, InetAddress local, EndpointSizes sizes) throws IOException {
        Cm cm = services.cm();
        CmId id = cm.createId(channel, RdmaCm.RDMA_PS_TCP);
        Endpoint endpoint;
        try {
            cm.bindAddr(id, new InetSocketAddress(local, 0));
            endpoint = new Endpoint(services, id, sizes);
        } catch (IOException | RuntimeException | Error e) {
            Freeing.destroy(id);
            throw e;
        }
        QueueLimits granted = new QueueLimits(
                endpoint.device.name(), endpoint.sendSlots, endpoint.receiveSlots, endpoint.inlineLimit);
        endpoint.free();
        return granted;
    }

    /** Gives {@code count} receives to the device; returns false if it did not take all. One thread at a time. */
    boolean postReceives(int count) {
        if (bundle.words == null) {
            return qp.postReceives(count) == count;
        }
        int left = count;
        while (left > 0) {
            int n = Math.min(left, receiveSlots - nextWord);
            long at = bundle.words.address() + (long) nextWord * MessageWord.SIZE;
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
            return services.reapers().handOver(device, this::setRnrTimer);
        } catch (OutOfMemoryError e) {
            return false;
        }
    }

    private synchronized void setRnrTimer() {
        if (!sendsEnded) {
            PathTimers.setRnrTimer(device, qp);
        }
    }

    /** Returns the id, which belongs to this endpoint. */
    public CmId id() {
        return id;
    }

    public Device device() {
        return device;
    }

    /** Returns the queue pair. Only the stream uses it, with its lock. */
    public Qp qp() {
        return qp;
    }

    /** Returns the memory that the connection can add. Its methods say which lock guards them. */
    public Slabs slabs() {
        return slabs;
    }

    /** Returns the slab that {@link #connData} grants to the peer. */
    public RegisteredSlab firstReceive() {
        return firstReceive;
    }

    public RegisteredSlab firstSend() {
        return firstSend;
    }

    /** Returns the table to which the peer writes its grants. */
    public GrantTable grantTable() {
        return new NativeGrantTable(bundle.grantTable);
    }

    /** Returns what may be on its way at a time. */
    public SendLimits sendLimits() {
        return SendLimits.standard(sendSlots, bundle.words == null ? 1 : 2, SendBatch.MAX_SGE, inlineLimit);
    }

    /** Returns the queues and the memory, which may serve another connection once this one is freed. */
    Bundle bundle() {
        return bundle;
    }

    /** Returns the bytes of payload that may travel inside a work request. */
    int inlineLimit() {
        return inlineLimit;
    }

    /** Returns how many receives are posted at a time. */
    public int receiveSlots() {
        return receiveSlots;
    }

    /** Returns the descriptor that is readable while a queue that was armed has an event. */
    public int eventFd() {
        return bundle.channel.getFd();
    }

    /** Returns whether an asynchronous event of the device says that one of the completion queues has failed. */
    public boolean isOfCompletions(int event) {
        return bundle.recvCq.isSubjectOf(event) || bundle.sendCq.isSubjectOf(event);
    }

    /** Returns whether an asynchronous event of the device is about the queue pair. */
    public boolean isOfQueuePair(int event) {
        return qp.isSubjectOf(event);
    }

    /** Returns whether a completion queue has failed. */
    public boolean hasFailed() {
        return bundle.recvCq.hasFailed();
    }

    /** Throws an exception if no stream can be made, because the device or the completion queues have failed. */
    public void ensureWorking() throws IOException {
        if (hasFailed()) {
            throw new IOException("a completion queue of " + device.name() + " has failed");
        }
        if (device.isLost()) {
            throw new IOException(device.name() + " was removed or has failed");
        }
    }

    /** Returns the bytes registered for it now. Called with the stream's lock held, or before there is a stream. */
    public long registeredBytes() {
        return bundle.shape.bytes() + slabs.grownBytes();
    }

    /** Returns how many data messages the peer may send before it needs an update. */
    public int credits() {
        return receiveSlots - Inbound.SPARE_RECEIVES;
    }

    /**
     * Returns whether the peer has sent a message, and so knows that it is connected. Called before the queue is in
     * use.
     */
    public boolean peerHasWritten() {
        return bundle.recvCq.spin(0);
    }

    /** Returns what this side says about itself in the CM message. */
    public ConnData connData() {
        return ConnData.local(
                credits(),
                bundle.grantTable.address(),
                bundle.grantMr.getRkey(),
                Bundle.TABLE_ENTRIES,
                firstReceive.address(),
                firstReceive.remoteKey(),
                firstReceive.length());
    }

    /** Frees everything, whether or not a connection was made. Repeated calls have no effect. */
    public void free() {
        free(true);
    }

    /**
     * Frees everything. Repeated calls have no effect. No thread may still be inside the queues or the memory. Each
     * step is tried even if an earlier one failed: what cannot be freed is logged and lost, rather than freed twice.
     *
     * @param reusable whether the bundle may serve another connection
     */
    public void free(boolean reusable) {
        free(reusable, Freeing::destroy);
    }

    /** Frees everything except the id, which then belongs to {@code heir}. */
    public synchronized void free(boolean reusable, Consumer<CmId> heir) {
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
    public void freeQueues() {
        freeQueues(true);
    }

    /**
     * Destroys the queue pair and ends the registrations of lent memory: after this the device neither sends nor
     * receives anything. The memory stays. Repeated calls have no effect.
     */
    public synchronized void endSends() {
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
