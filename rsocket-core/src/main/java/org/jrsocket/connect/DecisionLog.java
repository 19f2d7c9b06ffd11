/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.connect;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.EnumSet;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Logs which transport each connection got, at debug level, and the first fallback of each kind as a warning. Safe for
 * use by many threads.
 */
final class DecisionLog {

    private static final Logger LOG = LoggerFactory.getLogger("org.jrsocket");
    private static final Set<TcpReason> EXPECTED =
            EnumSet.of(TcpReason.POLICY, TcpReason.SCOPE, TcpReason.PROXY, TcpReason.REMEMBERED);

    private final Set<TcpReason> warned = EnumSet.copyOf(EXPECTED); // guarded by itself

    /** @param what for example {@code "connecting to"} */
    void tcpInstead(String what, InetSocketAddress address, TcpReason reason, Exception detail) {
        boolean expected = reason == TcpReason.NO_DEVICE && address.getAddress().isLoopbackAddress();
        boolean first = false;
        if (!expected) {
            synchronized (warned) {
                first = warned.add(reason);
            }
        }
        if (first) {
            LOG.warn(
                    "{} {} over TCP, not RDMA: {}. Further ones of this kind are logged at debug level only.",
                    what,
                    address,
                    reason.text(detail));
        } else if (LOG.isDebugEnabled()) { // saves making the text when many connect at once
            LOG.debug("{} {} over TCP: {}", what, address, reason.text(detail));
        }
    }

    /** Logs a failure of RDMA. The outcome of TCP is not known yet: if the peer is down, this is not a fallback. */
    void rdmaFailed(InetSocketAddress remote, TcpReason reason, Exception detail) {
        if (LOG.isDebugEnabled()) {
            LOG.debug("connecting to {} over RDMA failed, trying TCP: {}", remote, reason.text(detail));
        }
    }

    void triesAnother(InetSocketAddress remote, InetAddress from, InetAddress next, Exception detail) {
        LOG.debug("connecting to {} over RDMA from {} failed, trying from {}{}", remote, from, next, because(detail));
    }

    void notProbed(InetSocketAddress remote, Exception why) {
        LOG.debug("cannot probe {} for RDMA: {}", remote, why.getMessage());
    }

    private static String because(Exception detail) {
        return detail == null || detail.getMessage() == null ? "" : " (" + detail.getMessage() + ")";
    }

    void rdma(String what, InetSocketAddress address, String device) {
        LOG.debug("{} {} over RDMA, device {}", what, address, device);
    }
}
