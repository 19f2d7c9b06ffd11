/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.verbs.loopback;

import com.ibm.disni.verbs.IbvQPInitAttr;
import java.io.IOException;
import java.net.InetAddress;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.jrsocket.os.Errno;
import org.jrsocket.os.ErrnoException;
import org.jrsocket.os.EventFd;
import org.jrsocket.verbs.Device;
import org.jrsocket.verbs.DeviceInfo;
import org.jrsocket.verbs.WcBatch;

/** A device, with its limits, addresses and asynchronous events. */
public final class LoopbackDevice extends Device {

    private final LoopbackProvider provider;
    private final EventFd asyncEvents;
    private final Queue<Integer> events = new ArrayDeque<>(); // guarded by itself
    private final AtomicLong registered = new AtomicLong();
    private final AtomicInteger refusedQps = new AtomicInteger();
    private final AtomicInteger lastCq = new AtomicInteger();
    private final String name;
    private final boolean iwarp;
    private final long maxRegistered;
    private final int maxQp;
    private final int maxQpWr;
    private final int maxCqe;
    private final int maxMr;
    final int maxInline;
    final int inlineErrno;
    private final int mostInline;
    final boolean lateArms;
    private final boolean queuesOutliveQp;
    final int maxSge;
    final int maxRdAtom;
    final int mtu;
    /** The opcode by which a write with immediate data is reported. */
    final int writeOpcode;

    final boolean roundUp;
    private final boolean idle;
    private final int idleMessage;
    private final int idleReady;
    private volatile boolean removed;

    private LoopbackDevice(LoopbackProvider provider, LoopbackConfig config, EventFd asyncEvents) throws IOException {
        super(-1, 1);
        this.provider = provider;
        this.asyncEvents = asyncEvents;
        this.name = config.name;
        this.iwarp = config.iwarp;
        this.maxRegistered = config.maxRegistered;
        this.maxQp = config.maxQp;
        this.maxQpWr = config.maxQpWr;
        this.maxCqe = config.maxCqe;
        this.maxMr = config.maxMr;
        this.maxInline = config.maxInline;
        this.inlineErrno = config.inlineErrno;
        this.mostInline = config.mostInline;
        this.lateArms = config.lateArms;
        this.queuesOutliveQp = config.queuesOutliveQp;
        this.maxSge = config.maxSge;
        this.maxRdAtom = config.maxRdAtom;
        this.mtu = config.mtu;
        this.writeOpcode = config.writesAsReceives ? WcBatch.OP_RECV : WcBatch.OP_RECV_RDMA_WITH_IMM;
        this.roundUp = config.roundUp;
        this.idle = config.idle;
        this.idleMessage = config.idleMessage;
        this.idleReady = config.idleReady;
    }

    static LoopbackDevice create(LoopbackProvider provider, LoopbackConfig config) {
        try {
            return new LoopbackDevice(provider, config, new EventFd());
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }

    LoopbackProvider provider() {
        return provider;
    }

    DeviceInfo info(List<InetAddress> addresses) {
        List<DeviceInfo.Gid> gids = new ArrayList<>();
        for (InetAddress address : addresses) {
            gids.add(new DeviceInfo.Gid(gids.size(), "RoCE v2", address));
        }
        DeviceInfo.Port port = new DeviceInfo.Port(1, true, "PORT_ACTIVE", true, mtu, List.copyOf(gids));
        return new DeviceInfo(name, iwarp, "", maxQp, maxQpWr, maxCqe, maxMr, List.of(port));
    }

    /**
     * @throws ErrnoException EIO if the device is gone, otherwise ENOMEM if {@code kind} has reached its limit here
     *     (counted over all devices)
     */
    void admit(String call, Registry.Kind kind) throws ErrnoException {
        int limit = kind == Registry.Kind.QP ? maxQp : kind == Registry.Kind.MR ? maxMr : Integer.MAX_VALUE;
        if (removed) {
            throw new ErrnoException(call, name, Errno.EIO);
        }
        if (provider.registry().count(kind) >= limit) {
            throw new ErrnoException(call, name, Errno.ENOMEM);
        }
    }

    LoopbackQp newQp(LoopbackPd domain, IbvQPInitAttr attr, int number) throws IOException {
        int sends = attr.cap().getMax_send_wr();
        int receives = attr.cap().getMax_recv_wr();
        return idle
                ? new IdleQp(domain, attr, sends, receives, number, idleMessage, idleReady)
                : new LoopbackQp(domain, attr, sends, receives, number);
    }

    LoopbackCq newCq(LoopbackCompChannel channel, int entries, int cookie) throws IOException {
        return idle ? new IdleCq(this, channel, entries, cookie) : new LoopbackCq(this, channel, entries, cookie);
    }

    /** Returns the handle of the next completion queue. */
    int nextCq() {
        return lastCq.incrementAndGet();
    }

    void pin(long bytes) throws ErrnoException {
        if (registered.addAndGet(bytes) > maxRegistered) {
            registered.addAndGet(-bytes);
            throw new ErrnoException("ibv_reg_mr", bytes + " bytes on " + name, Errno.ENOMEM);
        }
    }

    void unpin(long bytes) {
        registered.addAndGet(-bytes);
    }

    void refusedQp() {
        refusedQps.incrementAndGet();
    }

    /** Returns how many queue pairs were asked for with more than the device takes. */
    public int refusedQps() {
        return refusedQps.get();
    }

    /** Returns the bytes registered now. */
    public long registeredBytes() {
        return registered.get();
    }

    void remove() {
        removed = true;
        raise(event(EVENT_DEVICE_FATAL, 0));
    }

    boolean isRemoved() {
        return removed;
    }

    void raise(int event) {
        synchronized (events) {
            events.add(event);
            asyncEvents.signal();
        }
    }

    void closeFd() {
        asyncEvents.close();
    }

    @Override
    public String name() {
        return name;
    }

    @Override
    public boolean isIwarp() {
        return iwarp;
    }

    @Override
    public int maxQpWr() {
        return maxQpWr;
    }

    @Override
    public int maxCqe() {
        return maxCqe;
    }

    @Override
    public boolean queuesOutliveQp() {
        return queuesOutliveQp;
    }

    @Override
    public int mostInline() {
        return mostInline;
    }

    @Override
    public int asyncFd() {
        return asyncEvents.fd();
    }

    @Override
    public int takeAsyncEvent() {
        synchronized (events) {
            Integer event = events.poll();
            if (events.isEmpty()) {
                asyncEvents.clear();
            }
            return event == null ? -1 : event;
        }
    }

    /** Returns whether there are asynchronous events that have not been taken. */
    public boolean hasEvents() {
        synchronized (events) {
            return !events.isEmpty();
        }
    }

    @Override
    public String toString() {
        return name;
    }
}
