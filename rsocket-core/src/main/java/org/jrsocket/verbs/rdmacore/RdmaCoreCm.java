/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.verbs.rdmacore;

import static org.jrsocket.verbs.rdmacore.RdmaCoreErrors.check;

import com.ibm.disni.verbs.IbvPd;
import com.ibm.disni.verbs.IbvQPInitAttr;
import com.ibm.disni.verbs.RdmaCmEvent;
import com.ibm.disni.verbs.RdmaCmEvent.EventType;
import com.ibm.disni.verbs.RdmaCmId;
import com.ibm.disni.verbs.RdmaConnParam;
import com.ibm.disni.verbs.RdmaEventChannel;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.jrsocket.os.Errno;
import org.jrsocket.os.ErrnoException;
import org.jrsocket.os.Fds;
import org.jrsocket.os.NativeMemory;
import org.jrsocket.verbs.Cm;
import org.jrsocket.verbs.CmChannel;
import org.jrsocket.verbs.CmEvent;
import org.jrsocket.verbs.CmId;
import org.jrsocket.verbs.ConnParam;
import org.jrsocket.verbs.Qp;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The connection manager of librdmacm. No lock is held when an event is passed on: its receiver may call anything. */
final class RdmaCoreCm extends Cm {

    private static final Logger LOG = LoggerFactory.getLogger(RdmaCoreCm.class);

    private static final int ADDR_RESOLVED = EventType.RDMA_CM_EVENT_ADDR_RESOLVED.ordinal();
    private static final int ADDR_ERROR = EventType.RDMA_CM_EVENT_ADDR_ERROR.ordinal();
    private static final int CONNECT_RESPONSE = EventType.RDMA_CM_EVENT_CONNECT_RESPONSE.ordinal();
    private static final int CONNECT_ERROR = EventType.RDMA_CM_EVENT_CONNECT_ERROR.ordinal();
    private static final int ESTABLISHED = EventType.RDMA_CM_EVENT_ESTABLISHED.ordinal();
    private static final int CONNECT_REQUEST = EventType.RDMA_CM_EVENT_CONNECT_REQUEST.ordinal();
    private static final int KNOWN_EVENTS = EventType.values().length;

    private final RdmaCoreProbe probe;
    private final RdmaCoreDevices devices;
    private final AtomicLong lastCookie = new AtomicLong();
    /** The live ids, by cookie; an id that is not here gets no events. */
    private final ConcurrentHashMap<Long, RdmaCoreCmId> ids = new ConcurrentHashMap<>();

    RdmaCoreCm(RdmaCoreProbe probe, RdmaCoreDevices devices) {
        this.probe = probe;
        this.devices = devices;
    }

    @Override
    public CmChannel createEventChannel() throws IOException {
        return RdmaCoreCmChannel.create();
    }

    @Override
    public int destroyEventChannel(RdmaEventChannel eventChannel) throws IOException {
        RdmaCoreCmChannel channel = (RdmaCoreCmChannel) eventChannel;
        for (CmId watch : channel.watches) {
            ((RdmaCoreDevice) watch.getVerbs()).setWatch(null);
            destroyQuietly(watch);
        }
        channel.watches.clear();
        channel.destroy();
        return 0;
    }

    @Override
    public CmId createId(RdmaEventChannel eventChannel, short portSpace) throws IOException {
        RdmaCoreCmChannel channel = (RdmaCoreCmChannel) eventChannel;
        RdmaCoreCmId id = new RdmaCoreCmId(channel, lastCookie.incrementAndGet(), portSpace);
        ids.put(id.key, id); // while there is nothing to lose; no event comes before the first call on the id
        boolean created = false;
        try {
            id.created(channel.createId(id.cookie, portSpace));
            created = true;
        } finally {
            if (!created) {
                ids.remove(id.key);
            }
        }
        return id;
    }

    @Override
    public Qp createQP(RdmaCmId cmId, IbvPd pd, IbvQPInitAttr attr) throws IOException {
        RdmaCoreCmId id = (RdmaCoreCmId) cmId;
        RdmaCoreQp qp = new RdmaCoreQp();
        synchronized (id.lock) {
            qp.create(id.handle(), (RdmaCorePd) pd, attr);
            id.qp(qp);
        }
        return qp;
    }

    @Override
    public int destroyQP(RdmaCmId cmId) throws IOException {
        RdmaCoreCmId id = (RdmaCoreCmId) cmId;
        synchronized (id.lock) {
            RdmaCoreQp qp = id.qp();
            if (qp != null) {
                id.qp(null);
                qp.destroy();
            }
        }
        return 0;
    }

    @Override
    public int destroyCmId(RdmaCmId cmId) throws IOException {
        RdmaCoreCmId id = (RdmaCoreCmId) cmId;
        synchronized (id.lock) {
            ids.remove(id.key);
            try {
                destroyQP(id);
            } finally {
                long handle = id.release();
                if (handle != 0) {
                    int rc = Native.destroyId(handle);
                    id.channel().idDestroyed();
                    check(rc, "rdma_destroy_id", id);
                }
            }
        }
        return 0;
    }

    @Override
    public int destroyEp(RdmaCmId id) throws IOException {
        return destroyCmId(id);
    }

    @Override
    public void bindAddr(RdmaCmId cmId, SocketAddress address) throws IOException {
        RdmaCoreCmId id = (RdmaCoreCmId) cmId;
        byte[] sockaddr = RdmaCoreSockaddr.encode(address);
        checkNoLoopback(address, "rdma_bind_addr");
        synchronized (id.lock) {
            long handle = id.handle();
            check(Native.bindAddress(handle, sockaddr), "rdma_bind_addr", address);
            locate(id, Native.idDevice(handle), Native.idPort(handle));
        }
        watchDevice(id);
    }

    @Override
    public void listen(RdmaCmId cmId, int backlog) throws IOException {
        RdmaCoreCmId id = (RdmaCoreCmId) cmId;
        synchronized (id.lock) {
            check(Native.listen(id.handle(), backlog), "rdma_listen", id.self);
        }
    }

    @Override
    public void resolveAddr(RdmaCmId cmId, SocketAddress source, SocketAddress destination, int timeoutMillis)
            throws IOException {
        probe.checkAgain();
        RdmaCoreCmId id = (RdmaCoreCmId) cmId;
        byte[] to = RdmaCoreSockaddr.encode(destination);
        byte[] from = source == null ? null : RdmaCoreSockaddr.encodeSource(source, destination);
        checkNoLoopback(destination, "rdma_resolve_addr");
        checkNoLoopback(source, "rdma_resolve_addr");
        synchronized (id.lock) {
            check(Native.resolveAddress(id.handle(), from, to, timeoutMillis), "rdma_resolve_addr", destination);
        }
    }

    /**
     * Refuses loopback addresses. No device serves them, but the kernel does not say so: its {@code cma_any_addr}
     * (cma.c) takes such an address for the wildcard. A listener there would be reached from the network, on every
     * device; a request to there from a device's address would be sent to the network, where nothing answers.
     */
    private static void checkNoLoopback(SocketAddress address, String call) throws IOException {
        if (address instanceof InetSocketAddress ip && ip.getAddress().isLoopbackAddress()) {
            check(-Errno.ENODEV, call, address);
        }
    }

    @Override
    public void resolveRoute(RdmaCmId cmId, int timeoutMillis) throws IOException {
        RdmaCoreCmId id = (RdmaCoreCmId) cmId;
        synchronized (id.lock) {
            check(Native.resolveRoute(id.handle(), timeoutMillis), "rdma_resolve_route", id.peer);
        }
    }

    @Override
    public void connect(RdmaCmId id, RdmaConnParam param) throws IOException {
        connect((RdmaCoreCmId) id, param, false);
    }

    @Override
    public void request(CmId id, ConnParam param) throws IOException {
        connect((RdmaCoreCmId) id, param, true);
    }

    private static void connect(RdmaCoreCmId id, RdmaConnParam param, boolean patient) throws IOException {
        synchronized (id.lock) {
            id.patient(patient);
            check(
                    Native.connect(
                            id.handle(),
                            id.qpHandle(),
                            param.getResponder_resources(),
                            param.getInitiator_depth(),
                            param.getFlow_control(),
                            param.getRetry_count(),
                            param.getRnr_retry_count(),
                            privateData(param)),
                    "rdma_connect",
                    id.peer);
        }
    }

    @Override
    public void prepare(CmId cmId) throws IOException {
        RdmaCoreCmId id = (RdmaCoreCmId) cmId;
        synchronized (id.lock) {
            long handle = id.handle();
            long qp = id.qpHandle();
            check(qp == 0 ? -Errno.EINVAL : Native.prepareQp(handle, qp), "ibv_modify_qp", id.peer);
        }
    }

    @Override
    public void establish(CmId cmId) throws IOException {
        RdmaCoreCmId id = (RdmaCoreCmId) cmId;
        synchronized (id.lock) {
            check(Native.establish(id.handle()), "rdma_establish", id.peer);
        }
    }

    @Override
    public void accept(RdmaCmId cmId, RdmaConnParam param) throws IOException {
        RdmaCoreCmId id = (RdmaCoreCmId) cmId;
        synchronized (id.lock) {
            check(
                    Native.accept(
                            id.handle(),
                            id.qpHandle(),
                            param.getResponder_resources(),
                            param.getInitiator_depth(),
                            param.getFlow_control(),
                            param.getRetry_count(),
                            param.getRnr_retry_count(),
                            privateData(param)),
                    "rdma_accept",
                    id.peer);
        }
    }

    /** Returns our private data, or what a DiSNI program has put at an address. */
    private static byte[] privateData(RdmaConnParam param) {
        if (param instanceof ConnParam own) {
            return own.privateData();
        }
        byte[] data = new byte[param.getPrivate_data() == 0 ? 0 : param.getPrivate_data_len() & 0xff];
        if (data.length > 0) {
            NativeMemory.view(param.getPrivate_data(), data.length).get(data);
        }
        return data;
    }

    @Override
    public void reject(CmId cmId, byte[] privateData) throws IOException {
        RdmaCoreCmId id = (RdmaCoreCmId) cmId;
        synchronized (id.lock) {
            check(Native.reject(id.handle(), privateData == null ? new byte[0] : privateData), "rdma_reject", id.peer);
        }
    }

    @Override
    public void confirm(CmId cmId) throws IOException {
        RdmaCoreCmId id = (RdmaCoreCmId) cmId;
        synchronized (id.lock) {
            check(Native.confirm(id.handle()), "rdma_notify", id.peer);
        }
    }

    @Override
    public int disconnect(RdmaCmId cmId) throws IOException {
        RdmaCoreCmId id = (RdmaCoreCmId) cmId;
        synchronized (id.lock) {
            return check(Native.disconnect(id.handle(), id.qpHandle()), "rdma_disconnect", id.peer);
        }
    }

    @Override
    public void setOption(CmId cmId, int option, int value) throws IOException {
        RdmaCoreCmId id = (RdmaCoreCmId) cmId;
        synchronized (id.lock) {
            int rc = Native.setOption(id.handle(), option, value);
            if (rc < 0) { // the text is built only on failure
                check(rc, "rdma_set_option", optionName(option) + "=" + value + ", " + id);
            }
        }
    }

    private static String optionName(int option) {
        return switch (option) {
            case OPTION_TOS -> "TOS";
            case OPTION_REUSEADDR -> "REUSEADDR";
            case OPTION_AFONLY -> "AFONLY";
            case OPTION_ACK_TIMEOUT -> "ACK_TIMEOUT";
            default -> "option " + option;
        };
    }

    @Override
    public SocketAddress getSrcAddr(RdmaCmId id) throws IOException {
        return ((RdmaCoreCmId) id).address(true);
    }

    @Override
    public SocketAddress getDstAddr(RdmaCmId id) throws IOException {
        InetSocketAddress peer = ((RdmaCoreCmId) id).address(false);
        // If there is no peer, the kernel reports port 0 of the wildcard.
        return peer == null || peer.getPort() == 0 && peer.getAddress().isAnyLocalAddress() ? null : peer;
    }

    @Override
    public CmEvent getCmEvent(RdmaEventChannel eventChannel, int timeoutMillis) throws IOException {
        RdmaCoreCmChannel channel = (RdmaCoreCmChannel) eventChannel;
        long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(timeoutMillis);
        while (true) {
            RdmaCoreCmChannel.Taken taken = channel.next(lastCookie.incrementAndGet());
            if (taken != null) {
                CmEvent event = handle(channel, taken);
                if (event != null) {
                    return event;
                }
            } else {
                long left = timeoutMillis < 0 ? -1 : deadline - System.nanoTime();
                if (timeoutMillis == 0 || timeoutMillis > 0 && left <= 0) {
                    return null;
                }
                check(Fds.waitReadable(channel.getFd(), -1, left), "ppoll", "event channel");
            }
        }
    }

    /**
     * Returns null if the event does not concern any id any more. An event that cannot be handled for lack of memory is
     * taken once more.
     */
    private CmEvent handle(RdmaCoreCmChannel channel, RdmaCoreCmChannel.Taken taken) throws IOException {
        if (taken.type() == CONNECT_REQUEST) { // refused if memory is short
            return request(channel, taken);
        }
        try {
            return event(taken);
        } catch (OutOfMemoryError e) {
            channel.takeAgain(taken);
            throw e;
        }
    }

    private CmEvent event(RdmaCoreCmChannel.Taken taken) throws IOException {
        RdmaCoreCmId id = ids.get(taken.cookie());
        if (id == null || taken.type() >= KNOWN_EVENTS) {
            return null;
        }
        int type = taken.type();
        int status = taken.status();
        try {
            locate(id, taken.device(), taken.port());
            if (type == ADDR_RESOLVED) { // later on, a device that hangs may have the id's lock
                watchDevice(id);
            }
        } catch (IOException e) {
            LOG.debug("cannot query the device of an event; it may have been removed", e);
            if (type == ADDR_RESOLVED) {
                type = ADDR_ERROR;
                status = -Errno.ENODEV;
            }
        }
        if (type == CONNECT_RESPONSE) {
            try {
                type = connected(id) ? ESTABLISHED : type;
            } catch (ErrnoException e) {
                type = CONNECT_ERROR;
                status = -e.errno();
            } catch (IllegalStateException e) { // it was destroyed just now
                return null;
            }
        }
        return new CmEvent(type, status, null, id, taken.param(), taken.param().privateData());
    }

    /** Makes the connection of an answer, unless that is left to the id's owner. Returns whether it has. */
    private boolean connected(RdmaCoreCmId id) throws IOException {
        if (id.isPatient()) {
            return false;
        }
        synchronized (id.lock) {
            if (id.qp() == null) {
                return false;
            }
            prepare(id);
            establish(id);
            return true;
        }
    }

    /** Returns null if the request is refused, because its listener or its device is gone. */
    private CmEvent request(RdmaCoreCmChannel channel, RdmaCoreCmChannel.Taken taken) {
        RdmaCoreCmId listener = ids.get(taken.listenerCookie());
        if (listener == null) {
            Native.destroyId(taken.newId()); // which rejects the request
            return null;
        }
        RdmaCoreCmId id = null;
        CmEvent event;
        try {
            id = new RdmaCoreCmId(channel, taken.cookie(), (short) listener.getPs());
            locate(id, taken.device(), taken.port());
            event = new CmEvent(
                    taken.type(),
                    taken.status(),
                    listener,
                    id,
                    taken.param(),
                    taken.param().privateData());
            ids.put(id.key, id);
        } catch (IOException e) {
            Native.destroyId(taken.newId());
            LOG.debug("a connection request is refused: its device cannot be queried and may have been removed", e);
            return null;
        } catch (Throwable e) {
            Native.destroyId(taken.newId());
            if (id != null) {
                ids.remove(id.key);
            }
            throw e;
        }
        id.created(taken.newId());
        channel.idBorn();
        try {
            watchDevice(id);
        } catch (Throwable e) { // lack of memory: the id has no owner yet
            destroyQuietly(id);
            throw e;
        }
        return event;
    }

    /** Makes sure that the removal of an id's device is reported, whatever becomes of the id. */
    private void watchDevice(RdmaCoreCmId id) {
        RdmaCoreDevice device = (RdmaCoreDevice) id.getVerbs();
        if (device == null || id.getPs() != RDMA_PS_TCP || !device.claimWatch()) {
            return;
        }
        RdmaCoreCmId watch = null;
        boolean watched = false;
        try {
            InetSocketAddress local = id.address(true);
            // In a port space in which nothing else here listens.
            watch = (RdmaCoreCmId) createId(id.channel(), RDMA_PS_UDP);
            bindAddr(watch, new InetSocketAddress(local.getAddress(), 0));
            id.channel().watches.add(watch);
            device.setWatch(watch);
            watched = true;
        } catch (IOException | RuntimeException e) {
            LOG.debug("the removal of {} will be noticed only while it has connections", device, e);
        } finally {
            if (!watched) { // the next id tries again
                device.setWatch(null);
                if (watch != null) {
                    destroyQuietly(watch);
                }
            }
        }
    }

    private void destroyQuietly(CmId id) {
        try {
            destroyCmId(id);
        } catch (IOException e) {
            LOG.debug("destroying a CM id failed", e);
        }
    }

    private void locate(RdmaCoreCmId id, long device, int port) throws IOException {
        if (device != 0 && id.getVerbs() == null) {
            id.located(devices.device(device), port);
        }
    }

    /** Does nothing, because {@link #getCmEvent} has acknowledged the event. */
    @Override
    public int ackCmEvent(RdmaCmEvent event) {
        return 0;
    }
}
