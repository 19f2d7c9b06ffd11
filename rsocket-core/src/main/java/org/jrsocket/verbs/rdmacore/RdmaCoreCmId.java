/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.verbs.rdmacore;

import java.io.IOException;
import org.jrsocket.verbs.CmId;
import org.jrsocket.verbs.Device;

/** {@code rdma_cm_id}. The C object knows it by its cookie only. */
public final class RdmaCoreCmId extends CmId {

    final long cookie;
    /** Held for every call on the C object, so that none of them meets its end. Taken before the channel's lock. */
    final Object lock = new Object();

    private final RdmaCoreCmChannel channel;
    private long id; // guarded by lock; 0 once destroyed
    private volatile RdmaCoreDevice device;
    private volatile int port;

    RdmaCoreCmId(RdmaCoreCmChannel channel, long cookie, short portSpace) throws IOException {
        super(channel, null);
        this.channel = channel;
        this.cookie = cookie;
        this.ps = portSpace;
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
        port = newPort;
        device = newDevice;
        setVerbs(newDevice);
        setPort_num((byte) newPort);
    }

    @Override
    public Device getVerbs() {
        return device;
    }

    @Override
    public int portNumber() {
        return port;
    }
}
