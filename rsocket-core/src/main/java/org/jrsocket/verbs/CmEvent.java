/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.verbs;

import com.ibm.disni.verbs.RdmaCmEvent;
import java.io.IOException;

/** An event of the connection manager, copied and already acknowledged; nothing in it refers to native memory. */
public final class CmEvent extends RdmaCmEvent {

    private static final EventType[] TYPES = EventType.values();
    private final byte[] privateData;

    /**
     * @param event {@code enum rdma_cm_event_type}
     * @param status 0, a negative errno, or (REJECTED) the transport's reject reason
     * @param listenId the listener, for CONNECT_REQUEST; otherwise null
     * @param id the id the event is about; for CONNECT_REQUEST a new one, which the receiver owns
     * @param param what the peer asked for, for CONNECT_REQUEST and ESTABLISHED
     * @param privateData as the kernel reported it (on IB and RoCE zero padded to the field's full size); never null
     */
    public CmEvent(int event, int status, CmId listenId, CmId id, ConnParam param, byte[] privateData)
            throws IOException {
        super(event, listenId, id);
        this.status = status;
        this.conn = param;
        this.privateData = privateData;
    }

    public EventType type() {
        return TYPES[event];
    }

    public CmId id() {
        return (CmId) connIdPriv;
    }

    public CmId listenId() {
        return (CmId) listenIdPriv;
    }

    public ConnParam param() {
        return (ConnParam) conn;
    }

    public byte[] privateData() {
        return privateData;
    }

    @Override
    public String toString() {
        return type() + " status " + status;
    }
}
