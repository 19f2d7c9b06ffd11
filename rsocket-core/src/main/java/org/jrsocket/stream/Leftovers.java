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

    /** How long the writer has time to come back. */
    static final long PERIOD_NANOS = 100_000;

    private final ServiceThread service;
    private final AtomicReference<StreamLeftover> added = new AtomicReference<>();
    private StreamLeftover list; // service thread

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

    /** One look at each. Service thread. */
    void round() {
        StreamLeftover fresh = added.getAndSet(null);
        StreamLeftover old = list;
        list = null;
        keep(old);
        keep(fresh);
    }

    private void keep(StreamLeftover from) {
        StreamLeftover next = from;
        while (next != null) {
            StreamLeftover stream = next;
            next = stream.next;
            stream.next = null;
            if (look(stream)) {
                stream.next = list;
                list = stream;
            }
        }
    }

    private static boolean look(StreamLeftover stream) {
        try {
            return stream.lookAfter();
        } catch (RuntimeException | Error e) { // it serves every stream of the process and must survive any of them
            try {
                stream.fail(e);
                return false;
            } catch (RuntimeException | Error again) {
                return true; // perhaps for lack of memory: try again
            }
        }
    }
}
