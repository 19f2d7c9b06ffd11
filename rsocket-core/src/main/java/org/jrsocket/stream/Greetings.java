/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.stream;

import java.util.ArrayDeque;
import java.util.Queue;
import java.util.concurrent.TimeUnit;

/**
 * Connections that this host has made lately. Those that have written nothing by now
 * {@linkplain org.jrsocket.protocol.Connection#greet say something}: the time is well within the
 * {@linkplain Admission.Limits seconds} that a server waits for a confirmation. One timer for all. Service thread.
 */
final class Greetings {

    static final long AFTER_NANOS = TimeUnit.MILLISECONDS.toNanos(200);

    private record Made(StreamCore stream, long nanos) {}

    private final ServiceLoop service;
    private final Queue<Made> made = new ArrayDeque<>();
    private boolean due; // by the timer

    Greetings(ServiceLoop service) {
        this.service = service;
    }

    void add(RdmaStream stream) {
        made.add(new Made(stream.core(), System.nanoTime()));
        greetIn(AFTER_NANOS);
    }

    private void greetIn(long nanos) {
        if (!due) {
            service.schedule(this::greet, nanos);
            due = true;
        }
    }

    private static void greet(StreamCore stream) {
        stream.enter();
        try {
            if (!stream.freed && !stream.closed) {
                stream.act(stream.connection.greet());
            }
        } finally {
            stream.exit();
        }
    }

    private void greet() {
        due = false;
        long now = System.nanoTime();
        try {
            while (!made.isEmpty() && now - made.element().nanos >= AFTER_NANOS) {
                greet(made.remove().stream);
            }
        } finally { // one stream's trouble is not the others'
            if (!made.isEmpty()) {
                greetIn(Math.max(0, AFTER_NANOS - (now - made.element().nanos)));
            }
        }
    }
}
