/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.stream;

import java.net.InetSocketAddress;
import org.jrsocket.jfr.Events;
import org.jrsocket.jfr.Stall;
import org.jrsocket.protocol.Outbound;

/**
 * Counts how often written data waits for the peer to make room, and for how long if that is being recorded. Guarded by
 * the stream's lock.
 */
final class Stalls {

    private final Outbound out;
    private final InetSocketAddress local;
    private final InetSocketAddress remote;
    private final String device;

    private boolean waits;
    private long count;
    private Stall recorded;
    private long bytes;

    Stalls(Outbound out, InetSocketAddress local, InetSocketAddress remote, String device) {
        this.out = out;
        this.local = local;
        this.remote = remote;
        this.device = device;
    }

    /** Called after a step that may have begun or ended a wait. */
    void look() {
        if (out.waitsForPeer()) {
            count += waits ? 0 : 1;
            waits = true;
            recorded = recorded == null ? Events.stalled() : recorded;
            bytes = out.written() - out.posted();
        } else if (waits) {
            waits = false;
            if (recorded != null) {
                recorded.over(local, remote, device, bytes);
                recorded = null;
            }
        }
    }

    long count() {
        return count;
    }
}
