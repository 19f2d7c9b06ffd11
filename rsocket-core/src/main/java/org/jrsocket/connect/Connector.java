/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.connect;

import java.net.ConnectException;
import java.net.InetSocketAddress;
import org.jrsocket.stream.PendingConnect;
import org.jrsocket.jfr.Events;
import org.jrsocket.stream.RdmaConnectException;
import org.jrsocket.stream.RdmaStream;
import org.jrsocket.stream.StreamConfig;
import org.jrsocket.verbs.VerbsUnavailableException;

/**
 * Decides for one outgoing connection whether RDMA is tried, and learns from how it went. Connecting TCP is the caller's: each socket API has
 * TCP sockets of its own. Safe for use by many threads.
 */
public final class Connector {

    private final StreamFactory rdma;
    private final TransportContext stack;
    private final PeerMemory memory;

    Connector(TransportContext stack, StreamFactory rdma, PeerMemory memory) {
        this.stack = stack;
        this.rdma = rdma;
        this.memory = memory;
    }

    /**
     * Starts an attempt over RDMA, if this connection may use it and it is worth trying.
     *
     * @param local where the socket is bound, or null
     * @param remote resolved, not a wildcard
     * @param timeoutNanos the caller's time for the whole connect, 0 for no limit
     * @return to be awaited, unless it says that TCP is to be used at once
     * @throws ConnectException the policy wants RDMA and there is none
     */
    public ConnectAttempt attempt(InetSocketAddress local, InetSocketAddress remote, StreamConfig config, long timeoutNanos) throws ConnectException {
        Policy policy = stack.policy(Rules.Action.CONNECT, remote);
        if (policy == Policy.TCP) {
            return useTcp(remote, TcpReason.POLICY, null);
        }
        if (policy == Policy.AUTO && memory.knows(remote)) {
            return useTcp(remote, TcpReason.REMEMBERED, null);
        }
        PendingConnect pending;
        try {
            pending = rdma.connect(local, remote, config);
        } catch (VerbsUnavailableException e) {
            if (policy == Policy.RDMA) {
                throw new RdmaConnectException(RdmaConnectException.Reason.NO_DEVICE, e.getMessage(), e);
            }
            return useTcp(remote, TcpReason.UNAVAILABLE, e);
        }
        return new ConnectAttempt(this, pending, remote, policy, policy == Policy.RDMA ? timeoutNanos : budget(timeoutNanos));
    }

    /** RDMA's own time, and at most half of the caller's: TCP, if it comes to that, needs some too. */
    private long budget(long timeoutNanos) {
        long budget = stack.settings().connectNanos();
        return timeoutNanos == 0 ? budget : Math.min(budget, Math.max(1, timeoutNanos / 2));
    }

    /** Takes note of a connection that TCP carries without RDMA having been tried. */
    public ConnectAttempt useTcp(InetSocketAddress remote, TcpReason reason, Exception detail) {
        stack.counts().choseTcp(reason);
        stack.log().tcpInstead("connecting to", remote, reason, detail);
        if (reason != TcpReason.POLICY) {
            Events.fallback(remote, false, reason.name(), detail == null ? null : detail.getMessage());
        }
        return new ConnectAttempt(this, remote, reason, detail);
    }

    /** Runs {@code task} on the service thread after {@code nanos}. */
    void schedule(Runnable task, long nanos) {
        try {
            rdma.service().schedule(task, nanos);
        } catch (VerbsUnavailableException e) {
            throw new IllegalStateException("an attempt without a transport", e);
        }
    }

    void failed(InetSocketAddress remote, TcpReason reason, Exception detail) {
        stack.counts().choseTcp(reason);
        stack.log().rdmaFailed(remote, reason, detail);
        Events.fallback(remote, false, reason.name(), detail.getMessage());
    }

    void fellBack(InetSocketAddress remote, TcpReason reason, Exception detail) {
        stack.log().tcpInstead("connected to", remote, reason, detail);
    }

    void connected(InetSocketAddress remote, RdmaStream stream, long nanos) {
        memory.worked(remote);
        stack.counts().connectedRdma();
        stack.log().rdma("connected to", remote, stream.deviceName());
        Events.opened(stream.localAddress(), stream.remoteAddress(), false, stream.deviceName(), null, nanos);
    }

    /** TCP got an answer where RDMA got none, or a refusal: RDMA is not worth the wait there for some time. */
    void remember(InetSocketAddress remote, TcpReason reason, long waitedNanos) {
        switch (reason) {
            case REFUSED, PROTOCOL -> memory.rejected(remote);
            case NO_DEVICE -> memory.cutShort(remote); // nobody was asked
            case UNREACHABLE, UNRESOLVED -> memory.unanswered(remote);
            case TIMEOUT -> {
                if (waitedNanos < stack.settings().connectNanos()) {
                    memory.cutShort(remote);
                } else {
                    memory.unanswered(remote);
                }
            }
            default -> { } // says nothing of the peer
        }
    }
}
