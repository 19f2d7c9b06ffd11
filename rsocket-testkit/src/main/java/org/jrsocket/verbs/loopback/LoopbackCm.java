/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.verbs.loopback;

import com.ibm.disni.verbs.IbvPd;
import com.ibm.disni.verbs.IbvQP;
import com.ibm.disni.verbs.IbvQPCap;
import com.ibm.disni.verbs.IbvQPInitAttr;
import com.ibm.disni.verbs.RdmaCmEvent;
import com.ibm.disni.verbs.RdmaCmEvent.EventType;
import com.ibm.disni.verbs.RdmaCmId;
import com.ibm.disni.verbs.RdmaConnParam;
import com.ibm.disni.verbs.RdmaEventChannel;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.net.UnknownHostException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.ReentrantLock;
import org.jrsocket.os.Errno;
import org.jrsocket.os.ErrnoException;
import org.jrsocket.os.Fds;
import org.jrsocket.verbs.Cm;
import org.jrsocket.verbs.CmChannel;
import org.jrsocket.verbs.CmEvent;
import org.jrsocket.verbs.CmId;
import org.jrsocket.verbs.ConnParam;
import org.jrsocket.verbs.Qp;
import org.jrsocket.verbs.loopback.LoopbackId.State;

/**
 * The calls of the connection manager. Each checks what the kernel checks and leaves the conversation to
 * {@link CmFabric}.
 */
final class LoopbackCm extends Cm {

    private static final int KERNEL_BACKLOG = 1024;
    private static final int FIRST_QP = 17;

    private final LoopbackProvider provider;
    private final CmFabric fabric;
    private final ReentrantLock lock;
    private final AtomicInteger lastQp = new AtomicInteger(FIRST_QP - 1);

    LoopbackCm(LoopbackProvider provider) {
        this.provider = provider;
        this.fabric = provider.fabric();
        this.lock = fabric.lock;
    }

    private interface Call {
        void run() throws IOException;
    }

    private void locked(Call call) throws IOException {
        lock.lock();
        try {
            call.run();
        } finally {
            lock.unlock();
        }
    }

    private LoopbackId own(RdmaCmId cmId) {
        LoopbackId id = (LoopbackId) cmId;
        if (id.state == State.DESTROYED) {
            provider.registry().violation(id + " used after destroy");
            throw new IllegalStateException("id was destroyed");
        }
        return id;
    }

    // Channels and ids.

    @Override
    public CmChannel createEventChannel() throws IOException {
        LoopbackCmChannel channel = LoopbackCmChannel.create(provider.registry());
        provider.registry().add(Registry.Kind.CM_CHANNEL, channel);
        return channel;
    }

    @Override
    public int destroyEventChannel(RdmaEventChannel eventChannel) throws IOException {
        LoopbackCmChannel channel = (LoopbackCmChannel) eventChannel;
        locked(() -> {
            if (channel.ids > 0) {
                throw new ErrnoException("rdma_destroy_event_channel", channel.ids + " ids left", Errno.EBUSY);
            }
            channel.destroy();
            provider.registry().remove(Registry.Kind.CM_CHANNEL, channel);
        });
        return 0;
    }

    @Override
    public CmId createId(RdmaEventChannel eventChannel, short portSpace) throws IOException {
        if (portSpace != RDMA_PS_TCP) {
            throw new ErrnoException("rdma_create_id", "port space " + portSpace, Errno.EINVAL);
        }
        lock.lock();
        try {
            LoopbackId id = new LoopbackId(this, (LoopbackCmChannel) eventChannel, fabric.nextNumber(), true);
            id.portSpace(portSpace);
            owned(id);
            return id;
        } finally {
            lock.unlock();
        }
    }

    private void owned(LoopbackId id) {
        id.channel().ids++;
        provider.registry().add(Registry.Kind.ID, id);
    }

    /** Destroys an id and its queue pair. Harmless when repeated. */
    @Override
    public int destroyCmId(RdmaCmId cmId) throws IOException {
        LoopbackId id = (LoopbackId) cmId;
        locked(() -> {
            if (id.state != State.DESTROYED) {
                destroyQueuePair(id);
                fabric.leave(id);
                id.channel().ids--;
                provider.registry().remove(Registry.Kind.ID, id);
            }
        });
        return 0;
    }

    @Override
    public int destroyEp(RdmaCmId id) throws IOException {
        return destroyCmId(id);
    }

    @Override
    public void setOption(CmId cmId, int option, int value) throws IOException {
        LoopbackId id = own(cmId);
        locked(() -> {
            boolean idle = id.state == State.IDLE;
            boolean ok =
                    switch (option) {
                        case OPTION_TOS -> value >= 0 && value <= 255;
                        case OPTION_REUSEADDR -> (idle || value == 1 && id.state != State.LISTENING) && value >> 1 == 0;
                        case OPTION_AFONLY -> (idle || id.state == State.BOUND) && value >> 1 == 0;
                        case OPTION_ACK_TIMEOUT -> value >= 0 && value < 32;
                        default -> false;
                    };
            if (!ok) {
                throw new ErrnoException("rdma_set_option", "option " + option + " value " + value, Errno.EINVAL);
            }
            switch (option) {
                case OPTION_TOS -> id.typeOfService = value;
                case OPTION_REUSEADDR -> id.reuseAddress = value == 1;
                case OPTION_AFONLY -> id.familyOnly = value == 1;
                default -> id.ackTimeout = value;
            }
        });
    }

    @Override
    public SocketAddress getSrcAddr(RdmaCmId id) {
        return own(id).source;
    }

    @Override
    public SocketAddress getDstAddr(RdmaCmId id) {
        return own(id).destination;
    }

    // Addresses.

    @Override
    public void bindAddr(RdmaCmId cmId, SocketAddress address) throws IOException {
        LoopbackId id = own(cmId);
        locked(() -> {
            id.require("rdma_bind_addr", State.IDLE);
            bind(id, address);
        });
    }

    private void bind(LoopbackId id, SocketAddress address) throws ErrnoException {
        InetSocketAddress wanted = (InetSocketAddress) address;
        boolean wildcard = wanted.getAddress().isAnyLocalAddress();
        if (!wildcard && provider.reachability(wanted.getAddress()) != Reachability.SERVED) {
            throw new ErrnoException("rdma_bind_addr", wanted.toString(), Errno.ENODEV);
        }
        id.source = fabric.ports.bind(id, wanted);
        id.device = wildcard ? null : provider.deviceFor(wanted.getAddress());
        id.state = State.BOUND;
    }

    @Override
    public void listen(RdmaCmId cmId, int backlog) throws IOException {
        LoopbackId id = own(cmId);
        locked(() -> {
            if (id.state == State.IDLE) {
                bind(id, new InetSocketAddress((InetAddress) null, 0));
            }
            id.require("rdma_listen", State.BOUND);
            fabric.ports.checkListen(id);
            id.backlog = backlog <= 0 || backlog > KERNEL_BACKLOG ? KERNEL_BACKLOG : backlog;
            id.state = State.LISTENING;
        });
    }

    /** Returns the address without a host name: a device knows no names. */
    private static InetAddress nameless(InetAddress address) throws UnknownHostException {
        return Ports.isIpv4(address) ? InetAddress.getByAddress(address.getAddress()) : address;
    }

    @Override
    public void resolveAddr(RdmaCmId cmId, SocketAddress source, SocketAddress destination, int timeoutMillis)
            throws IOException {
        LoopbackId id = own(cmId);
        InetSocketAddress to = (InetSocketAddress) destination;
        locked(() -> {
            id.require("rdma_resolve_addr", State.IDLE, State.BOUND);
            InetAddress target = nameless(to.getAddress());
            if (target.isAnyLocalAddress()) {
                target = Ports.isIpv4(target)
                        ? InetAddress.getByAddress(new byte[] {127, 0, 0, 1})
                        : InetAddress.getByName("::1");
            }
            if (id.state == State.IDLE && source != null) {
                bind(id, source);
            }
            if (id.source != null && Ports.isIpv4(id.source.getAddress()) != Ports.isIpv4(target)) {
                throw new ErrnoException("rdma_resolve_addr", id.source + " to " + target, Errno.EINVAL);
            }
            id.state = State.RESOLVING_ADDRESS;
            id.destination = new InetSocketAddress(target, to.getPort());
            id.reachability = provider.reachability(target);
            switch (id.reachability) {
                case NO_DEVICE -> resolutionFailed(id, EventType.RDMA_CM_EVENT_ADDR_ERROR, Errno.ENODEV);
                case UNRESOLVED ->
                    fabric.later(
                            timeoutMillis,
                            () -> resolutionFailed(id, EventType.RDMA_CM_EVENT_ADDR_ERROR, Errno.ETIMEDOUT));
                default -> addressResolved(id, target);
            }
        });
    }

    private void addressResolved(LoopbackId id, InetAddress target) throws ErrnoException {
        boolean unbound = id.source == null;
        if (unbound || id.source.getAddress().isAnyLocalAddress()) {
            LoopbackDevice device = provider.deviceFor(target);
            InetAddress local = target;
            if (id.reachability != Reachability.SERVED) {
                local = provider.addressesOf(device).stream()
                        .filter(a -> Ports.isIpv4(a) == Ports.isIpv4(target))
                        .findFirst()
                        .orElse(null);
            }
            if (local == null) {
                resolutionFailed(id, EventType.RDMA_CM_EVENT_ADDR_ERROR, Errno.ENODEV);
                return;
            }
            id.device = device;
            id.source = unbound
                    ? fabric.ports.bind(id, new InetSocketAddress(local, 0))
                    : new InetSocketAddress(local, id.source.getPort());
        }
        id.state = State.ADDRESS_RESOLVED;
        id.channel().add(EventType.RDMA_CM_EVENT_ADDR_RESOLVED, 0, id);
    }

    private static void resolutionFailed(LoopbackId id, EventType type, int errno) {
        if (id.state == State.RESOLVING_ADDRESS || id.state == State.RESOLVING_ROUTE) {
            // The kernel goes back a step, so that a caller may try again.
            id.state = id.state == State.RESOLVING_ROUTE
                    ? State.ADDRESS_RESOLVED
                    : id.source == null ? State.IDLE : State.BOUND;
            id.channel().add(type, -errno, id);
        }
    }

    @Override
    public void resolveRoute(RdmaCmId cmId, int timeoutMillis) throws IOException {
        LoopbackId id = own(cmId);
        locked(() -> {
            id.require("rdma_resolve_route", State.ADDRESS_RESOLVED);
            id.state = State.RESOLVING_ROUTE;
            if (id.reachability == Reachability.NO_ROUTE) {
                resolutionFailed(id, EventType.RDMA_CM_EVENT_ROUTE_ERROR, Errno.ETIMEDOUT);
            } else {
                id.state = State.ROUTE_RESOLVED;
                id.channel().add(EventType.RDMA_CM_EVENT_ROUTE_RESOLVED, 0, id);
            }
        });
    }

    // Queue pairs.

    @Override
    public Qp createQP(RdmaCmId cmId, IbvPd pd, IbvQPInitAttr attr) throws IOException {
        LoopbackId id = own(cmId);
        LoopbackPd domain = (LoopbackPd) pd;
        lock.lock();
        try {
            LoopbackDevice device = id.device;
            IbvQPCap cap = attr.cap();
            if (device == null
                    || id.qp != null
                    || domain.device() != device
                    || !(attr.getSend_cq() instanceof LoopbackCq)
                    || !(attr.getRecv_cq() instanceof LoopbackCq)
                    || attr.getQp_type() != IbvQP.IBV_QPT_RC
                    || !fits(cap, device)) {
                throw new ErrnoException(
                        "rdma_create_qp",
                        cap.getMax_send_wr() + " sends, " + cap.getMax_recv_wr() + " receives, inline "
                                + cap.getMax_inline_data() + " on " + device,
                        Errno.EINVAL);
            }
            if (cap.getMax_inline_data() > device.maxInline) {
                device.refusedQp();
                throw new ErrnoException(
                        "rdma_create_qp", "inline " + cap.getMax_inline_data() + " on " + device, device.inlineErrno);
            }
            device.admit("rdma_create_qp", Registry.Kind.QP);
            if (device.roundUp) {
                cap.setMax_send_wr(Math.min(device.maxQpWr(), Rings.powerOfTwo(cap.getMax_send_wr())));
                cap.setMax_recv_wr(Math.min(device.maxQpWr(), Rings.powerOfTwo(cap.getMax_recv_wr())));
                cap.setMax_inline_data(Math.min(device.maxInline, Rings.powerOfTwo(cap.getMax_inline_data() + 1)));
            }
            LoopbackQp qp = device.newQp(domain, attr, lastQp.incrementAndGet());
            id.qp(qp);
            return qp;
        } finally {
            lock.unlock();
        }
    }

    int qpsMade() {
        return lastQp.get() - FIRST_QP + 1;
    }

    private static boolean fits(IbvQPCap cap, LoopbackDevice device) {
        return within(cap.getMax_send_wr(), 1, device.maxQpWr())
                && within(cap.getMax_recv_wr(), 1, device.maxQpWr())
                && within(cap.getMax_send_sge(), 0, device.maxSge)
                && within(cap.getMax_recv_sge(), 0, device.maxSge)
                && cap.getMax_inline_data() >= 0;
    }

    private static boolean within(int value, int min, int max) {
        return value >= min && value <= max;
    }

    /** Destroys the queue pair of an id. Harmless when repeated, even after the id is gone. */
    @Override
    public int destroyQP(RdmaCmId cmId) throws IOException {
        LoopbackId id = (LoopbackId) cmId;
        locked(() -> destroyQueuePair(id));
        return 0;
    }

    private static void destroyQueuePair(LoopbackId id) {
        if (id.qp != null) {
            id.qp.destroy();
            id.qp(null);
        }
    }

    // Connections.

    private static ConnParam param(RdmaConnParam param) {
        if (param instanceof ConnParam own) {
            return CmFabric.copy(own);
        }
        throw new IllegalArgumentException("loopback takes ConnParam only");
    }

    @Override
    public void connect(RdmaCmId id, RdmaConnParam param) throws IOException {
        connect(own(id), param(param), false);
    }

    @Override
    public void request(CmId id, ConnParam param) throws IOException {
        connect(own(id), param(param), true);
    }

    private void connect(LoopbackId id, ConnParam param, boolean patient) throws IOException {
        locked(() -> {
            id.require("rdma_connect", State.ROUTE_RESOLVED);
            if (id.qp == null) {
                throw new ErrnoException("rdma_connect", "no queue pair", Errno.EINVAL);
            }
            CmFabric.checkData("rdma_connect", id.device, param.privateData(), CmMessage.REQ);
            id.state = State.CONNECTING;
            id.request = param;
            id.patient = patient;
            fabric.sendRequest(id, param);
        });
    }

    @Override
    public void prepare(CmId cmId) throws IOException {
        LoopbackId id = own(cmId);
        provider.faults().awaitReady(id.device);
        locked(() -> {
            requireAnswer("ibv_modify_qp", id);
            fabric.prepare(id);
        });
    }

    @Override
    public void establish(CmId cmId) throws IOException {
        LoopbackId id = own(cmId);
        locked(() -> {
            requireAnswer("rdma_establish", id);
            fabric.establish(id);
        });
    }

    private static void requireAnswer(String call, LoopbackId id) throws ErrnoException {
        id.require(call, State.ANSWERED);
        if (id.qp == null) {
            throw new ErrnoException(call, "no queue pair", Errno.EINVAL);
        }
    }

    @Override
    public void accept(RdmaCmId cmId, RdmaConnParam connParam) throws IOException {
        LoopbackId id = own(cmId);
        ConnParam param = param(connParam);
        provider.faults().awaitReady(id.device);
        locked(() -> {
            id.require("rdma_accept", State.REQUESTED);
            boolean depthsFit = (param.getResponder_resources() & 0xff) <= id.device.maxRdAtom
                    && (param.getInitiator_depth() & 0xff) <= id.device.maxRdAtom;
            if (id.qp == null || !depthsFit || id.peer.qp == null) {
                throw new ErrnoException(
                        "rdma_accept", id.qp == null ? "no queue pair" : "depths or peer", Errno.EINVAL);
            }
            CmFabric.checkData("rdma_accept", id.device, param.privateData(), CmMessage.REP);
            id.state = State.ACCEPTED;
            id.qp.join(id.peer.qp);
            id.qp.introduced(param.privateData(), id.request.privateData(), false);
            id.peer.qp.introduced(id.request.privateData(), param.privateData(), true);
            id.qp.ackTimeout(id.ackTimeout);
            id.qp.connected(id.request.getRetry_count(), id.request.getRnr_retry_count());
            fabric.sendReply(id, param);
        });
    }

    @Override
    public void confirm(CmId cmId) throws IOException {
        LoopbackId id = own(cmId);
        locked(() -> {
            id.require("rdma_notify", State.ACCEPTED, State.ESTABLISHED);
            fabric.confirmed(id);
        });
    }

    @Override
    public void reject(CmId cmId, byte[] privateData) throws IOException {
        LoopbackId id = own(cmId);
        byte[] data = privateData == null ? new byte[0] : privateData;
        locked(() -> {
            id.require("rdma_reject", State.REQUESTED);
            CmFabric.checkData("rdma_reject", id.device, data, CmMessage.REJ);
            id.state = State.FAILED;
            fabric.refuse(id, CmFabric.REJECT_CONSUMER, data, id.peer);
        });
    }

    /** Disconnects, and first moves the queue pair to error, as librdmacm does. */
    @Override
    public int disconnect(RdmaCmId cmId) throws IOException {
        LoopbackId id = own(cmId);
        locked(() -> {
            id.require("rdma_disconnect", State.ACCEPTED, State.ESTABLISHED, State.DISCONNECT_REQUESTED);
            if (id.qp != null) {
                id.qp.fail();
            }
            if (id.state == State.DISCONNECT_REQUESTED) {
                fabric.sendDisconnectReply(id);
            } else {
                fabric.sendDisconnect(id);
            }
        });
        return 0;
    }

    // Events.

    @Override
    public CmEvent getCmEvent(RdmaEventChannel eventChannel, int timeoutMillis) throws IOException {
        LoopbackCmChannel channel = (LoopbackCmChannel) eventChannel;
        boolean alone = channel.reader.enter();
        try {
            long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(timeoutMillis);
            while (true) {
                CmEvent event = take(channel);
                long left = timeoutMillis < 0 ? -1 : deadline - System.nanoTime();
                if (event != null || timeoutMillis == 0 || timeoutMillis > 0 && left <= 0) {
                    return event;
                }
                int rc = Fds.waitReadable(channel.getFd(), -1, left);
                if (rc < 0) {
                    throw new ErrnoException("ppoll", "event channel", -rc);
                }
            }
        } finally {
            channel.reader.leave(alone);
        }
    }

    private CmEvent take(LoopbackCmChannel channel) throws IOException {
        lock.lock();
        try {
            if (!channel.isOpen()) {
                provider.registry().violation("event channel used after destroy");
                throw new IllegalStateException("event channel was destroyed");
            }
            LoopbackCmChannel.Pending pending = channel.take();
            if (pending == null) {
                return null;
            }
            EventType type = pending.type();
            int status = pending.status();
            if (type == EventType.RDMA_CM_EVENT_CONNECT_REQUEST) {
                pending.listener().unfetched--;
                owned(pending.id());
            } else if (type == EventType.RDMA_CM_EVENT_CONNECT_RESPONSE
                    && (!pending.id().patient || pending.id().device.isIwarp())) {
                boolean connected = fabric.answerFetched(pending.id());
                type = connected ? EventType.RDMA_CM_EVENT_ESTABLISHED : EventType.RDMA_CM_EVENT_CONNECT_ERROR;
                status = connected ? 0 : -Errno.EINVAL;
            }
            return new CmEvent(
                    type.ordinal(), status, pending.listener(), pending.id(), pending.param(), pending.data());
        } finally {
            lock.unlock();
        }
    }

    /** Does nothing: {@link #getCmEvent} has acknowledged the event. */
    @Override
    public int ackCmEvent(RdmaCmEvent event) {
        return 0;
    }
}
