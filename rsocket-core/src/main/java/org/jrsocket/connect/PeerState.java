/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.connect;

import java.net.InetAddress;

/**
 * What is remembered of a peer, at one moment.
 *
 * @param port 0: all of them
 * @param avoidedNanos connections use TCP for so long still, or until it is asked again; 0: they try RDMA
 * @param usualNanos how long its answers take, 0 if it has never answered
 * @param from for connections that leave from this address; null for those that leave as the routes say
 */
public record PeerState(
        InetAddress address, int port, Kind kind, long avoidedNanos, long usualNanos, InetAddress from) {

    PeerState(InetAddress address, int port, Kind kind, long avoidedNanos, long usualNanos) {
        this(address, port, kind, avoidedNanos, usualNanos, null);
    }

    PeerState from(InetAddress local) {
        return new PeerState(address, port, kind, avoidedNanos, usualNanos, local);
    }

    /** What it is known for. */
    public enum Kind {
        /** It answers over RDMA. */
        ANSWERS,
        /** A request is open, and it is not known yet whether the host is there. */
        ASKED,
        /** It did not answer over RDMA, and TCP reached it. */
        SILENT,
        /** Connections to it were lost on the way. */
        PATH,
        /** Nobody takes RDMA connections on this port, or no device serves the address. */
        REFUSED
    }
}
