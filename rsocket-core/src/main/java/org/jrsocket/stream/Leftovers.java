/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.stream;

import java.util.concurrent.atomic.AtomicReference;

/**
 * Streams that were left with something to be sent. Soon afterwards, if their writers have not come back, the service
 * thread sends what can be sent by then, and has the queues tell it when the rest can be. Usually a writer that keeps
 * writing, or a reader that waits, gets there first. Allocates nothing: the list is linked through the streams.
 */
final class Leftovers {

    /** What a look at a stream has found. */
    enum Look {
        /** Nobody need look again. */
        DONE,
        /** Another look is due soon. */
        SOON,
        /** The writer is about, and sends what there is with its next write. */
        LATER
    }

    /** How long the writer has time to come back. */
    private static final long PERIOD_NANOS = 100_000;
    /** The same while all writers have come back each time: a look takes a CPU from somebody, often from the writer. */
    private static final long LONGEST_PERIOD_NANOS = 800_000;

    private final ServiceThread service;
    private final AtomicReference<StreamLeftover> added = new AtomicReference<>();
    // Service thread:
    private StreamLeftover list;
    private boolean soon;
    private long period = PERIOD_NANOS;

    Leftovers(ServiceThread service) {
        this.service = service;
    }

    /** Looks after {@code stream} until it says that nobody need; the caller makes sure that it is added only once. */
    void add(StreamLeftover stream) {
        StreamLeftover head;
        do {
            head = added.get();
            stream.next = head;
        } while (!added.compareAndSet(head, stream));
        if (head == null) {
            service.wakeForLeftovers();
        }
    }

    /** Whether {@link #round} has to be called in a while. Service thread. */
    boolean any() {
        return list != null || added.get() != null;
    }

    /** Nanoseconds until the next {@link #round}. Service thread. */
    long period() {
        return added.get() == null ? period : PERIOD_NANOS;
    }

    /** One look at each. Service thread. */
    void round() {
        StreamLeftover fresh = added.getAndSet(null);
        StreamLeftover old = list;
        list = null;
        soon = fresh != null;
        keep(old);
        keep(fresh);
        period = soon ? PERIOD_NANOS : Math.min(2 * period, LONGEST_PERIOD_NANOS);
    }

    private void keep(StreamLeftover from) {
        StreamLeftover next = from;
        while (next != null) {
            StreamLeftover stream = next;
            next = stream.next;
            stream.next = null;
            Look found = look(stream);
            if (found != Look.DONE) {
                stream.next = list;
                list = stream;
                soon |= found == Look.SOON;
            }
        }
    }

    private static Look look(StreamLeftover stream) {
        try {
            return stream.lookAfter();
        } catch (RuntimeException | Error e) { // it serves every stream of the process and must survive any of them
            try {
                stream.fail(e);
                return Look.DONE;
            } catch (RuntimeException | Error again) {
                return Look.SOON; // perhaps for lack of memory: try again
            }
        }
    }
}
