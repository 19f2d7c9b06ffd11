/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.stream;

import java.util.concurrent.TimeUnit;

/**
 * Asks the device of a stream's peer for a sign of life: a write of nothing, which the peer's device acknowledges by
 * itself. Its completions tell, and those of all other requests. Service thread only.
 */
final class PeerProbe implements KeepAlive.Probe {

    private final StreamCore core;
    private long completions = -1; // none looked at yet
    private long silentSince;

    PeerProbe(StreamCore core) {
        this.core = core;
    }

    @Override
    public boolean run(boolean send) {
        core.enter();
        try {
            if (core.freed || core.closed) {
                return false;
            }
            core.poll(); // on an idle stream nobody else does, and earlier probes would fill the queue
            long now = System.nanoTime();
            if (!core.out.awaitsCompletion() || core.out.completions() != completions) {
                completions = core.out.completions();
                silentSince = now;
            } else if (now - silentSince >= core.transport.mostSilence()) {
                core.effects().unanswered(TimeUnit.NANOSECONDS.toSeconds(now - silentSince));
                return false;
            }
            if (send) {
                core.out.probe();
                core.flush();
            }
            return core.out.awaitsCompletion();
        } finally {
            core.exit();
        }
    }
}
