/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.connect;

import java.net.Inet4Address;
import java.net.InetAddress;

/**
 * The peers for which RDMA is tried if no rule names them. Any other peer would be sent a request that nothing there
 * understands. Whether the route to a peer begins at a port of an RDMA device is left to the connection manager.
 */
enum Scope {
    /** Peers that are on-link or have a private address: RoCEv2 is routed within such networks. */
    PRIVATE,
    /** Peers on a network that this host itself is on. */
    ON_LINK,
    /** All peers. */
    ANY;

    /** Returns whether the scope includes the peer. This host is always included: nothing is nearer. */
    boolean includes(InetAddress peer, LocalNetworks networks) {
        return this == ANY
                || peer.isLoopbackAddress()
                || peer.isLinkLocalAddress()
                || this == PRIVATE && isPrivate(peer)
                || networks.include(peer);
    }

    /** Returns whether the address is private: RFC 1918, RFC 6598 (shared address space), RFC 4193 (unique local). */
    static boolean isPrivate(InetAddress peer) {
        byte[] bytes = peer.getAddress();
        int first = bytes[0] & 0xff;
        int second = bytes[1] & 0xff;
        if (peer instanceof Inet4Address) {
            return first == 10
                    || first == 172 && second >> 4 == 1
                    || first == 192 && second == 168
                    || first == 100 && second >> 6 == 1;
        }
        return (first & 0xfe) == 0xfc;
    }
}
