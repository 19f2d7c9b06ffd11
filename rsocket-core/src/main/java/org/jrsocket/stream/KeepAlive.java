/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.stream;

import java.util.concurrent.TimeUnit;

/**
 * A stream's probes for a dead peer. A device that gets no answer says so, within seconds. If it does not say anything,
 * for whatever reason, the connection is over all the same, after {@link #MOST_SILENCE_NANOS}. Once it is off or over,
 * nothing of it is left with the service thread. Any thread.
 */
final class KeepAlive {

    /** More than any device needs to give up: 2^19 * 4.096 us, four times as long as asked for, and eight tries. */
    static final long MOST_SILENCE_NANOS = TimeUnit.SECONDS.toNanos(90);

    /** What a probe met is looked at after so long, if the next one is due later. */
    private static final long LOOK_NANOS = TimeUnit.SECONDS.toNanos(15);

    /** What is asked of the stream; on the service thread. */
    interface Probe {
        /**
         * @param send whether to send one; else it looks what became of the last
         * @return whether something is on its way that has not been answered
         */
        boolean run(boolean send);
    }

    private final ServiceLoop service;
    private final Probe probe;

    // Guarded by this.
    private ServiceLoop.Timer next;
    private long intervalNanos;
    private boolean looks; // the next turn sends none
    private boolean over;

    KeepAlive(ServiceLoop service, Probe probe) {
        this.service = service;
        this.probe = probe;
    }

    /** One probe each {@code nanos} from now on; 0 is none. Nothing once it is over. */
    synchronized void every(long nanos) {
        stop();
        intervalNanos = nanos;
        looks = false;
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
        boolean send;
        synchronized (this) {
            if (next == null) {
                return; // cancelled when it was due already
            }
            stop(); // perhaps a later one, set while this one was on its way
            send = !looks;
        }
        boolean unanswered = false;
        try {
            unanswered = probe.run(send);
        } finally {
            again(unanswered);
        }
    }

    private synchronized void again(boolean unanswered) {
        if (next == null && intervalNanos > 0 && !over) { // nobody has changed it meanwhile
            looks = unanswered && intervalNanos > LOOK_NANOS;
            next = service.schedule(this::due, looks ? LOOK_NANOS : intervalNanos);
        }
    }
}
