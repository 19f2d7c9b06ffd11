/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.verbs.loopback;

import java.util.concurrent.atomic.AtomicReference;

/**
 * Notices when two threads do together what the seam allows to one at a time. Lets both go on: a real device would not
 * stop them either.
 */
final class OneAtATime {

    private final AtomicReference<Thread> inside = new AtomicReference<>();
    private final String what;
    private final Registry registry;

    OneAtATime(String what, Registry registry) {
        this.what = what;
        this.registry = registry;
    }

    void enter() {
        Thread me = Thread.currentThread();
        if (!inside.compareAndSet(null, me)) {
            registry.violation("two threads are " + what + ": " + me + " and " + inside.get());
        }
    }

    void leave() {
        inside.set(null);
    }
}
