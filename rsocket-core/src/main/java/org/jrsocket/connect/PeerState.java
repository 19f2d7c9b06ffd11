/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.connect;

import java.net.InetAddress;

/**
 * What is remembered about a peer at one moment.
 *
 * @param port 0 for all ports
 * @param avoidedNanos how long connections still use TCP, or until the peer is asked again; 0 if they try RDMA
 * @param usualNanos how long its answers take, 0 if it has never answered
 * @param from the local address of the connections that this is about; null for those that leave as the routes say
 */
public record PeerState(
        InetAddress address, int port, Kind kind, long avoidedNanos, long usualNanos, InetAddress from) {

    PeerState(InetAddress address, int port, Kind kind, long avoidedNanos, long usualNanos) {
        this(address, port, kind, avoidedNanos, usualNanos, null);
    }

    PeerState from(InetAddress local) {
        return new PeerState(address, port, kind, avoidedNanos, usualNanos, local);
    }

    /** What the peer is known for. */
    public enum Kind {
        /** It answers over RDMA. */
        ANSWERS,
        /** A request is open, and it is not known yet whether the host is there. */
        ASKED,
        /** It did not answer over RDMA, although TCP reached it. */
        SILENT,
        /** Connections to it were lost on the way. */
        PATH,
        /** Nothing takes RDMA connections on this port, or no device serves the address. */
        REFUSED
    }
}
