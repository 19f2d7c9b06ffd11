/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.connect;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.NoRouteToHostException;
import org.jrsocket.jfr.Events;
import org.jrsocket.stream.RdmaStream;

/**
 * Records what becomes of outgoing connections: in the counts, the log and Flight Recorder, and in what is known about
 * peers. Safe for use by many threads.
 */
final class Outcomes {

    private final Counts counts;
    private final DecisionLog log;

    Outcomes(Counts counts, DecisionLog log) {
        this.counts = counts;
        this.log = log;
    }

    /** Records a connection that TCP carries without an attempt over RDMA. */
    void notTried(InetSocketAddress remote, TcpReason reason, Exception detail) {
        counts.choseTcp(reason);
        log.tcpInstead("connecting to", remote, reason, detail);
        if (reason != TcpReason.POLICY && reason != TcpReason.SCOPE) {
            Events.fallback(remote, false, reason.name(), detail == null ? null : detail.getMessage());
        }
    }

    void notProbed(InetSocketAddress remote, Exception why) {
        log.notProbed(remote, why);
    }

    /** Records that RDMA failed, and TCP is tried. */
    void failed(InetSocketAddress remote, TcpReason reason, Exception detail) {
        counts.choseTcp(reason);
        log.rdmaFailed(remote, reason, detail);
        Events.fallback(remote, false, reason.name(), detail.getMessage());
    }

    /** Records that another way is tried after one that failed. */
    void triesAnother(InetSocketAddress remote, InetAddress from, InetAddress next, Exception detail) {
        log.triesAnother(remote, from, next, detail);
    }

    /** Records that TCP connected after RDMA had failed. */
    void fellBack(InetSocketAddress remote, TcpReason reason, Exception detail) {
        log.tcpInstead("connected to", remote, reason, detail);
    }

    /** Records a connection over RDMA. */
    void connected(InetSocketAddress remote, PeerMemory memory, RdmaStream stream, long nanos) {
        memory.worked(remote);
        counts.connectedRdma(nanos);
        log.rdma("connected to", remote, stream.deviceName());
        Events.opened(stream.localAddress(), stream.remoteAddress(), false, stream.deviceName(), null, nanos);
    }

    /** Records that TCP, or another way, connected where this one did not. */
    static void connectedOtherwise(InetSocketAddress remote, PeerMemory memory, TcpReason reason) {
        switch (reason) {
            case REFUSED, DENIED, UNABLE, PROTOCOL -> memory.rejected(remote);
            case NO_DEVICE -> memory.unserved(remote);
            default -> hostIsUp(remote, memory, reason);
        }
    }

    /** Records that nothing listens over TCP either: the server is down, or about to start. */
    static void tcpRefused(InetSocketAddress remote, PeerMemory memory, TcpReason reason) {
        hostIsUp(remote, memory, reason);
    }

    private static void hostIsUp(InetSocketAddress remote, PeerMemory memory, TcpReason reason) {
        switch (reason) {
            case UNREACHABLE, UNRESOLVED -> memory.unreachable(remote);
            case TIMEOUT, REMEMBERED -> memory.reached(remote);
            default -> {} // says nothing about the host
        }
    }

    /**
     * Records that TCP did not get through either. If RDMA has used up part of the caller's time, TCP may just have had
     * too little of it. The next connection then leaves all of its time to TCP, and shows whether the host is down.
     */
    static void tcpFailed(InetSocketAddress remote, PeerMemory memory, TcpReason reason, IOException failure) {
        if (reason == TcpReason.REMEMBERED
                || reason == TcpReason.TIMEOUT && failure instanceof NoRouteToHostException) {
            memory.down(remote);
        }
    }
}
