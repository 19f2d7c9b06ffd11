/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.stream;

import org.jrsocket.threads.ServiceLoop;

/**
 * Probes a stream's peer, to find out whether it is dead. A device that gets no answer reports that within seconds;
 * {@link DeviceSilence} is for a device that does not. Once probing is off or has ended, the service thread keeps
 * nothing of it. Thread-safe.
 */
final class KeepAlive {

    private final ServiceLoop service;
    private final Runnable probe;
    private final Runnable due = this::due; // made now: without memory for it the probes would end

    // Guarded by this.
    private ServiceLoop.Timer next;
    private long intervalNanos;
    private boolean over;

    /** @param probe sends one probe; run on the service thread */
    KeepAlive(ServiceLoop service, Runnable probe) {
        this.service = service;
        this.probe = probe;
    }

    /** Sends one probe every {@code nanos} from now on; 0 sends none. Has no effect after {@link #end}. */
    synchronized void every(long nanos) {
        stop();
        intervalNanos = nanos;
        if (nanos > 0 && !over) {
            next = service.schedule(due, nanos);
        }
    }

    /** Stops the probes for good. */
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
                return; // cancelled when it was already due
            }
            stop(); // this may be a later timer, set while this call was on its way
        }
        try {
            probe.run();
        } finally {
            again();
        }
    }

    private void again() {
        long nanos;
        synchronized (this) {
            nanos = isToGoOn() ? intervalNanos : 0;
        }
        if (nanos > 0) {
            ServiceLoop.Timer timer = service.scheduleAgain(due, nanos);
            synchronized (this) {
                if (isToGoOn()) {
                    next = timer;
                    return;
                }
            }
            timer.cancel();
        }
    }

    /** Returns false if it was changed in the meantime. Called with the lock held. */
    private boolean isToGoOn() {
        return next == null && intervalNanos > 0 && !over;
    }
}
