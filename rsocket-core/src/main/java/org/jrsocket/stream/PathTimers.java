/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.stream;

import java.io.IOException;
import org.jrsocket.verbs.Cm;
import org.jrsocket.verbs.CmId;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * How long a queue pair waits before it sends again what was not acknowledged, and how long its peer waits when it had
 * no receive for it. A kernel or a device that does not take a value keeps its own: slower to recover, and no reason to
 * do without a connection.
 */
final class PathTimers {

    private static final Logger LOG = LoggerFactory.getLogger(PathTimers.class);

    /**
     * 4.096 us * 2^16 = 268 ms, about the least that TCP waits; devices may take up to four times that. The kernel's
     * own on RoCE is 2^19, 2.1 s, for which a lost last packet stalls a connection. It also decides how long a path may
     * be down. With six retries the last is sent five to six such times after the path went, because the clock of the
     * first may run already: 1.3 s or more. With 14, which some use, that would be 0.3 s, and connections would not
     * outlive a network that finds another way.
     */
    static final int ACK_TIMEOUT = 16;

    /** The specification's code for 0.64 ms; 0, the kernel's own, is 655 ms. */
    static final int RNR_TIMER = 12;

    private PathTimers() {}

    /**
     * Before the address is resolved, so that the peer's queue pair gets the time too if it has none of its own; or
     * before a request is accepted.
     */
    static void setAckTimeout(Cm cm, CmId id) {
        try {
            cm.setOption(id, Cm.OPTION_ACK_TIMEOUT, ACK_TIMEOUT);
        } catch (IOException e) {
            LOG.debug("the ACK timeout stays the kernel's: {}", e.getMessage());
        }
    }

    /** When the queue pair is connected: neither the CM nor an earlier state takes it. */
    static void setRnrTimer(ConnectionHandles endpoint) {
        if (endpoint.device.isIwarp()) {
            return;
        }
        try {
            endpoint.qp.setMinRnrTimer(RNR_TIMER);
        } catch (IOException e) { // of a connection that is over already, too
            LOG.debug("the RNR timer stays the kernel's: {}", e.getMessage());
        }
    }
}
