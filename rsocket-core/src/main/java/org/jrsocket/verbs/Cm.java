/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.verbs;

import com.ibm.disni.verbs.IbvPd;
import com.ibm.disni.verbs.IbvQPInitAttr;
import com.ibm.disni.verbs.RdmaCm;
import com.ibm.disni.verbs.RdmaCmId;
import com.ibm.disni.verbs.RdmaConnParam;
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
     * Asks the peer. The answer makes the connection when its event is taken, which waits for the device meanwhile.
     *
     * @see #request
     */
    @Override
    public abstract void connect(RdmaCmId id, RdmaConnParam param) throws IOException;

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
     * Asks the peer like {@link #connect}, but leaves it to the caller to make a connection of the answer, because that
     * takes the device's time: CONNECT_RESPONSE says that the peer is willing, {@link #prepare} and {@link #establish}
     * do the rest. Over iWARP the device makes the connection, and ESTABLISHED is the answer.
     */
    public abstract void request(CmId id, ConnParam param) throws IOException;

    /**
     * Makes the queue pair of an answered request ready to receive and to send ({@code ibv_modify_qp}). Takes the
     * device's time.
     */
    public abstract void prepare(CmId id) throws IOException;

    /**
     * Tells the peer of an answered request that the connection is there ({@code rdma_establish}), which it was not
     * told before, and now hears as ESTABLISHED. No event follows here. Does not wait for the device.
     */
    public abstract void establish(CmId id) throws IOException;

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
