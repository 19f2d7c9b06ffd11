/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.verbs.loopback;

import com.ibm.disni.verbs.IbvPd;
import com.ibm.disni.verbs.IbvQPInitAttr;
import com.ibm.disni.verbs.RdmaConnParam;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import org.jrsocket.os.Errno;
import org.jrsocket.os.ErrnoException;
import org.jrsocket.verbs.CmId;
import org.jrsocket.verbs.ConnParam;
import org.jrsocket.verbs.Device;
import org.jrsocket.verbs.Qp;

/**
 * A connection manager id. Its mutable fields are guarded by the fabric's lock, or volatile where tests look at them.
 */
public final class LoopbackId extends CmId {

    /**
     * The state of an id. An active one resolves its address and its route, connects and is ANSWERED; a passive one
     * starts at REQUESTED and is ACCEPTED. Both are then ESTABLISHED. A listener goes from IDLE by way of BOUND to
     * LISTENING.
     */
    public enum State {
        IDLE,
        BOUND,
        LISTENING,
        RESOLVING_ADDRESS,
        ADDRESS_RESOLVED,
        RESOLVING_ROUTE,
        ROUTE_RESOLVED,
        /** REQ sent. */
        CONNECTING,
        /** REP arrived; RTU owed. */
        ANSWERED,
        /** REQ arrived. */
        REQUESTED,
        /** REP sent, RTU awaited. */
        ACCEPTED,
        ESTABLISHED,
        /** DREQ sent, DREP awaited. */
        DISCONNECTING,
        /** DREQ arrived, DREP owed. */
        DISCONNECT_REQUESTED,
        DISCONNECTED,
        /** Rejected or given up. */
        FAILED,
        DESTROYED
    }

    private final LoopbackCm cm;
    private final LoopbackCmChannel channel;
    private final long number;
    private final boolean active;

    volatile State state = State.IDLE;
    volatile LoopbackDevice device;
    volatile InetSocketAddress source;
    volatile InetSocketAddress destination;
    LoopbackQp qp;
    LoopbackId peer;
    /** Of an active id: what becomes of connecting to its address. */
    Reachability reachability;
    /** The parameters of the REQ. */
    ConnParam request;
    /** Of an active id: the parameters of the REP. */
    ConnParam answer;
    /** Of an active id: whether its owner makes the connection of an answer. */
    boolean patient;

    int backlog;
    int unfetched;
    boolean reuseAddress;
    /** The value of OPTION_AFONLY, if it was set. */
    Boolean familyOnly;

    int typeOfService;
    int ackTimeout;
    private volatile boolean dead;

    LoopbackId(LoopbackCm cm, LoopbackCmChannel channel, long number, boolean active) throws IOException {
        super(channel, null);
        this.cm = cm;
        this.channel = channel;
        this.number = number;
        this.active = active;
    }

    LoopbackCmChannel channel() {
        return channel;
    }

    long number() {
        return number;
    }

    void portSpace(int portSpace) {
        this.ps = portSpace;
    }

    void kill() {
        dead = true;
    }

    boolean isDead() {
        return dead;
    }

    void destroyed() {
        state = State.DESTROYED;
        isOpen = false;
    }

    /** @throws ErrnoException EINVAL unless the state is one of {@code allowed} */
    void require(String call, State... allowed) throws ErrnoException {
        for (State each : allowed) {
            if (state == each) {
                return;
            }
        }
        throw new ErrnoException(call, this + " is " + state, Errno.EINVAL);
    }

    // For tests.

    public State state() {
        return state;
    }

    /** Returns whether the id was made by {@code createId}, not by a connection request. Listeners count as passive. */
    public boolean isActive() {
        return active && state != State.LISTENING;
    }

    /** Returns the id's queue pair, or null. */
    public LoopbackQp queuePair() {
        return (LoopbackQp) getQp();
    }

    /** Returns what OPTION_TOS set. */
    public int typeOfService() {
        return typeOfService;
    }

    void qp(LoopbackQp newQp) {
        qp = newQp;
        setQp(newQp);
    }

    @Override
    public Device getVerbs() {
        return device;
    }

    @Override
    public byte getPort_num() {
        return (byte) (device == null ? 0 : 1);
    }

    @Override
    public String toString() {
        return "id " + number + (active ? "" : " (passive)");
    }

    // DiSNI's versions call whichever provider was installed last.

    @Override
    public Qp createQP(IbvPd pd, IbvQPInitAttr attr) throws IOException {
        return cm.createQP(this, pd, attr);
    }

    @Override
    public void bindAddr(SocketAddress address) throws IOException {
        cm.bindAddr(this, address);
    }

    @Override
    public void listen(int newBacklog) throws IOException {
        cm.listen(this, newBacklog);
    }

    @Override
    public void resolveAddr(SocketAddress from, SocketAddress to, int timeout) throws IOException {
        cm.resolveAddr(this, from, to, timeout);
    }

    @Override
    public void resolveRoute(int timeout) throws IOException {
        cm.resolveRoute(this, timeout);
    }

    @Override
    public void connect(RdmaConnParam param) throws IOException {
        cm.connect(this, param);
    }

    @Override
    public void accept(RdmaConnParam param) throws IOException {
        cm.accept(this, param);
    }

    @Override
    public int disconnect() throws IOException {
        return cm.disconnect(this);
    }

    @Override
    public int destroyId() throws IOException {
        return cm.destroyCmId(this);
    }

    @Override
    public int destroyQP() throws IOException {
        return cm.destroyQP(this);
    }

    @Override
    public SocketAddress getSource() {
        return source;
    }

    @Override
    public SocketAddress getDestination() {
        return destination;
    }

    @Override
    public int destroyEp() throws IOException {
        return cm.destroyCmId(this);
    }
}
