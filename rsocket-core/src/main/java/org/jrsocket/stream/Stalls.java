/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.stream;

import org.jrsocket.jfr.Events;

/** Counts how often written data waits for the peer to make room, and for how long if that is being recorded. */
final class Stalls {

    private final StreamCore core; // its lock guards everything here

    private boolean waits;
    private long count;
    private Events.Stall recorded;
    private long bytes;

    Stalls(StreamCore core) {
        this.core = core;
    }

    /** Called after a step that may have begun or ended a wait. */
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
