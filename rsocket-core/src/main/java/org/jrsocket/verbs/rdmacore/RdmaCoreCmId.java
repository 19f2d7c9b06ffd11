/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.verbs.rdmacore;

import java.io.IOException;
import java.net.InetSocketAddress;
import org.jrsocket.verbs.CmId;
import org.jrsocket.verbs.Device;

/** An {@code rdma_cm_id}. The C object refers to this one by its cookie only. */
final class RdmaCoreCmId extends CmId {

    final long cookie;
    /** The cookie as a key, made in advance: whoever frees an id may have no memory for one. */
    final Long key;
    /** The addresses, for errors: looked up only if there is one, so that calls allocate nothing for it. */
    final Object self = named(true);

    final Object peer = named(false);

    /** Held during every call on the C object, which must not be destroyed then, also while the device takes long. */
    final Object lock = new Object();

    private final RdmaCoreCmChannel channel;
    private long id; // guarded by lock; 0 once destroyed
    private volatile boolean patient;
    private volatile RdmaCoreDevice device;
    private volatile int scope = -1; // -1: not looked up yet

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

    /** Returns the C object. To be called under {@link #lock}. */
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
     * Hands the C object over to the caller, who frees it; returns 0 if that has happened. To be called under
     * {@link #lock}.
     */
    long release() {
        assert Thread.holdsLock(lock);
        long doomed = id;
        id = 0;
        isOpen = false;
        return doomed;
    }

    /** Sets whether an answer waits until its owner makes a connection of it. */
    void patient(boolean newPatient) {
        patient = newPatient;
    }

    /** May be called without the lock, for which a device may have to be waited for. */
    boolean isPatient() {
        return patient;
    }

    RdmaCoreQp qp() {
        assert Thread.holdsLock(lock);
        return (RdmaCoreQp) qpObj;
    }

    /** Returns the C object of the queue pair, which stays while the lock is held; 0 if there is none. */
    long qpHandle() {
        RdmaCoreQp qp = qp();
        return qp == null ? 0 : qp.handleOfItsId();
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

    /** Returns the interface of link-local addresses if the kernel names none; 0 if it cannot be told. */
    private int scope(InetSocketAddress local) {
        int known = scope;
        if (known < 0) {
            known = local == null ? 0 : LinkLocal.scopeOf(local.getAddress());
            scope = known;
        }
        return known;
    }

    /** Returns the local or the peer's address; null while it is not known. */
    InetSocketAddress address(boolean local) {
        InetSocketAddress address = plainAddress(local);
        return address != null && LinkLocal.isUnscoped(address)
                ? LinkLocal.at(scope(local ? address : plainAddress(true)), address)
                : address;
    }

    /** Returns the address as the kernel has it. */
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

    /** Returns a text for errors, also those of destroyed ids, which have no addresses any more. */
    @Override
    public String toString() {
        return "id " + cookie + (device == null ? ", no device" : " on " + device);
    }
}
