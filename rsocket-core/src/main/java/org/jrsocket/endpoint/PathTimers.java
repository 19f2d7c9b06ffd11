/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.endpoint;

import java.io.IOException;
import org.jrsocket.verbs.Cm;
import org.jrsocket.verbs.CmId;
import org.jrsocket.verbs.Device;
import org.jrsocket.verbs.Qp;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Sets how long a queue pair waits before it resends what was not acknowledged, and how long its peer waits when the
 * queue pair had no receive for it. A kernel or device that does not accept a value keeps its own: recovery is then
 * slower, which is no reason to do without a connection.
 */
public final class PathTimers {

    private static final Logger LOG = LoggerFactory.getLogger(PathTimers.class);

    /** The unit of an ACK timeout, which is this times a power of two. */
    private static final int ACK_UNIT_NANOS = 4096;

    /** The code of the longest timeout. */
    private static final int MAX_ACK_TIMEOUT = 31;

    /** The specification's code for 0.64 ms; 0, the kernel's own, is 655 ms. */
    public static final int RNR_TIMER = 12;

    private PathTimers() {}

    /**
     * Returns the code of the shortest ACK timeout that is at least {@code nanos} long. The kernel's own on RoCE is 19,
     * or 2.1 s, for which a lost last packet would stall a connection.
     */
    public static int ackTimeout(long nanos) {
        int code = 0;
        while (code < MAX_ACK_TIMEOUT && (long) ACK_UNIT_NANOS << code < nanos) {
            code++;
        }
        return code;
    }

    /**
     * Sets the ACK timeout. Called before the address is resolved, so that the peer's queue pair gets the timeout too
     * if it has none of its own; or before a request is accepted.
     */
    public static void setAckTimeout(Cm cm, CmId id, long nanos) {
        try {
            cm.setOption(id, Cm.OPTION_ACK_TIMEOUT, ackTimeout(nanos));
        } catch (IOException e) {
            LOG.debug("cannot set the ACK timeout, so the kernel's applies: {}", e.getMessage());
        }
    }

    /**
     * Sets the RNR timer. Called when the queue pair is connected, since neither the CM nor an earlier state accepts
     * it. This takes a system call, and on some devices a call of the firmware, so it is not made before the first
     * receives are used up: until then no message can meet an empty queue.
     */
    static void setRnrTimer(Device device, Qp qp) {
        if (device.isIwarp()) {
            return;
        }
        try {
            qp.setMinRnrTimer(RNR_TIMER);
        } catch (IOException e) { // also if the connection has already ended
            LOG.debug("cannot set the RNR timer, so the kernel's applies: {}", e.getMessage());
        }
    }
}
