/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.verbs.rdmacore;

import java.io.IOException;
import java.net.InetSocketAddress;
import org.jrsocket.verbs.CmId;
import org.jrsocket.verbs.Device;

/** {@code rdma_cm_id}. The C object knows it by its cookie only. */
final class RdmaCoreCmId extends CmId {

    final long cookie;
    /** The cookie as a key: who frees an id has no memory to make one. */
    final Long key;
    /** The addresses, for errors: looked up when there is one, so that calls allocate nothing for it. */
    final Object self = named(true);

    final Object peer = named(false);

    /** Held for every call on the C object, so that none of them meets its end. Taken before the channel's lock. */
    final Object lock = new Object();

    private final RdmaCoreCmChannel channel;
    private long id; // guarded by lock; 0 once destroyed
    private volatile RdmaCoreDevice device;
    private volatile int scope = -1; // not looked up

    RdmaCoreCmId(RdmaCoreCmChannel channel, long cookie, short portSpace) throws IOException {
        super(channel, null);
        this.channel = channel;
        this.cookie = cookie;
        this.key = cookie;
        this.ps = portSpace;
    }

    private Object named(boolean local) {
        return new Object() {
            @Override
            public String toString() {
                return String.valueOf(address(local));
            }
        };
    }

    RdmaCoreCmChannel channel() {
        return channel;
    }

    /** To be called under {@link #lock}. */
    long handle() {
        assert Thread.holdsLock(lock);
        if (id == 0) {
            throw new IllegalStateException("id was destroyed");
        }
        return id;
    }

    void created(long handle) {
        synchronized (lock) {
            id = handle;
        }
    }

    /**
     * Gives up the C object to the caller, who frees it; 0 when that has happened. To be called under {@link #lock}.
     */
    long release() {
        assert Thread.holdsLock(lock);
        long doomed = id;
        id = 0;
        isOpen = false;
        return doomed;
    }

    RdmaCoreQp qp() {
        assert Thread.holdsLock(lock);
        return (RdmaCoreQp) qpObj;
    }

    void qp(RdmaCoreQp qp) {
        assert Thread.holdsLock(lock);
        setQp(qp);
    }

    void located(RdmaCoreDevice newDevice, int newPort) {
        device = newDevice;
        setVerbs(newDevice);
        setPort_num((byte) newPort);
    }

    /** The interface of link-local addresses where the kernel names none; 0 if it cannot be told. */
    private int scope(InetSocketAddress local) {
        int known = scope;
        if (known < 0) {
            known = local == null ? 0 : LinkLocal.scopeOf(local.getAddress());
            scope = known;
        }
        return known;
    }

    /** Null while it is not known. */
    InetSocketAddress address(boolean local) {
        InetSocketAddress address = plainAddress(local);
        return address != null && LinkLocal.isUnscoped(address)
                ? LinkLocal.at(scope(local ? address : plainAddress(true)), address)
                : address;
    }

    /** As the kernel has it. */
    private InetSocketAddress plainAddress(boolean local) {
        byte[] sockaddr = new byte[RdmaCoreSockaddr.MAX_SIZE];
        synchronized (lock) {
            return RdmaCoreSockaddr.decode(sockaddr, Native.idAddress(handle(), local, sockaddr));
        }
    }

    @Override
    public Device getVerbs() {
        return device;
    }

    /** For errors, of ids that are destroyed too: those have no addresses any more. */
    @Override
    public String toString() {
        return "id " + cookie + (device == null ? ", no device" : " on " + device);
    }
}
