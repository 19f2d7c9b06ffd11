/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.stream;

/**
 * A stream's probes for a dead peer. A device that gets no answer says so, within seconds; {@link DeviceSilence} is for
 * one that does not. Once it is off or over, nothing of it is left with the service thread. Any thread.
 */
final class KeepAlive {

    private final ServiceLoop service;
    private final Runnable probe;

    // Guarded by this.
    private ServiceLoop.Timer next;
    private long intervalNanos;
    private boolean over;

    /** @param probe sends one; on the service thread */
    KeepAlive(ServiceLoop service, Runnable probe) {
        this.service = service;
        this.probe = probe;
    }

    /** One probe each {@code nanos} from now on; 0 is none. Nothing once it is over. */
    synchronized void every(long nanos) {
        stop();
        intervalNanos = nanos;
        if (nanos > 0 && !over) {
            next = service.schedule(this::due, nanos);
        }
    }

    /** No probes any more, whoever asks for some. */
    synchronized void end() {
        over = true;
        stop();
    }

    private void stop() {
        if (next != null) {
            next.cancel();
            next = null;
        }
    }

    private void due() {
        synchronized (this) {
            if (next == null) {
                return; // cancelled when it was due already
            }
            stop(); // perhaps a later one, set while this one was on its way
        }
        try {
            probe.run();
        } finally {
            again();
        }
    }

    private synchronized void again() {
        if (next == null && intervalNanos > 0 && !over) { // nobody has changed it meanwhile
            next = service.schedule(this::due, intervalNanos);
        }
    }
}
