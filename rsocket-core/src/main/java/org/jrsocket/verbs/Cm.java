/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.verbs;

import com.ibm.disni.verbs.IbvPd;
import com.ibm.disni.verbs.IbvQPInitAttr;
import com.ibm.disni.verbs.RdmaCm;
import com.ibm.disni.verbs.RdmaCmId;
import com.ibm.disni.verbs.RdmaEventChannel;
import java.io.IOException;
import java.net.SocketAddress;
import org.jrsocket.os.ErrnoException;

/**
 * The connection manager: the calls of librdmacm, for IPv4 and IPv6. Calls on one id must not overlap; calls on
 * different ids may, from any thread. Failures are {@link ErrnoException}s that carry errno; an address family or
 * address that no device serves is ENODEV.
 */
public abstract class Cm extends RdmaCm {

    /** {@code RDMA_OPTION_ID_TOS}: the IP type-of-service byte of packets of this id. */
    public static final int OPTION_TOS = 0;
    /** {@code RDMA_OPTION_ID_REUSEADDR}, 0 or 1. */
    public static final int OPTION_REUSEADDR = 1;
    /** {@code RDMA_OPTION_ID_AFONLY}: 1 keeps a listener on :: from taking IPv4. */
    public static final int OPTION_AFONLY = 2;
    /** {@code RDMA_OPTION_ID_ACK_TIMEOUT}: QP ACK timeout exponent, 4.096 us * 2^value; before connect or accept. */
    public static final int OPTION_ACK_TIMEOUT = 3;

    @Override
    public abstract CmChannel createEventChannel() throws IOException;

    /** Makes an id on {@code channel}; {@code portSpace} is {@link #RDMA_PS_TCP} for rsockets. */
    @Override
    public abstract CmId createId(RdmaEventChannel channel, short portSpace) throws IOException;

    /**
     * Makes the id's queue pair; {@code attr.cap()} is updated to what the device granted. The id's device must be
     * known by then.
     */
    @Override
    public abstract Qp createQP(RdmaCmId id, IbvPd pd, IbvQPInitAttr attr) throws IOException;

    /**
     * Waits for one event and takes it. The event is copied and acknowledged before it is returned, so that destroying
     * an id never waits for a reader. Events of ids that were destroyed in the meantime are dropped. To be called by
     * one thread at a time for each channel.
     *
     * @param timeoutMillis 0 returns at once, negative waits for ever
     * @return the event, or null when the time is over
     */
    @Override
    public abstract CmEvent getCmEvent(RdmaEventChannel channel, int timeoutMillis) throws IOException;

    /** Starts address resolution, which ends in ADDR_RESOLVED or ADDR_ERROR. {@code source} may be null. */
    @Override
    public abstract void resolveAddr(RdmaCmId id, SocketAddress source, SocketAddress destination, int timeoutMillis)
            throws IOException;

    /**
     * Takes the queue pair from its id, so that no answer makes a connection of it any more. It is still to be
     * destroyed, which may take the device long; this waits at most for an event that is being taken. Harmless if there
     * is none.
     */
    public void detachQP(CmId id) throws IOException {
        destroyQP(id);
    }

    /** Refuses the connection request that created {@code id} ({@code rdma_reject}); the id must still be destroyed. */
    public abstract void reject(CmId id, byte[] privateData) throws IOException;

    /**
     * Tells the CM that the peer of an accepted request is connected although its RTU has not come, because something
     * that it sent has arrived ({@code rdma_notify}, COMM_EST). ESTABLISHED follows.
     */
    public abstract void confirm(CmId id) throws IOException;

    /** Sets one of the {@code OPTION_} constants ({@code rdma_set_option}, level ID). */
    public abstract void setOption(CmId id, int option, int value) throws IOException;
}
