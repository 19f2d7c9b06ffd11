/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.stream;

import org.jrsocket.jfr.Events;

/** How often what was written waits for the peer to make room, and for how long if somebody records that. */
final class Stalls {

    private final StreamCore core; // whose lock guards all

    private boolean waits;
    private long count;
    private Events.Stall recorded;
    private long bytes;

    Stalls(StreamCore core) {
        this.core = core;
    }

    /** After a step that may have begun or ended a wait. */
    void look() {
        if (core.out.waitsForPeer()) {
            count += waits ? 0 : 1;
            waits = true;
            recorded = recorded == null ? Events.stalled() : recorded;
            bytes = core.out.written() - core.out.posted();
        } else if (waits) {
            waits = false;
            if (recorded != null) {
                recorded.over(core.local, core.remote, core.endpoint.device.name(), bytes);
                recorded = null;
            }
        }
    }

    long count() {
        return count;
    }
}
