/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.net;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.lang.ref.Cleaner;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.jrsocket.threads.Threads;
import org.junit.jupiter.api.Test;

class LostOwnersTest {

    private final AtomicInteger cleaned = new AtomicInteger();
    private final AtomicLong now = new AtomicLong(Long.MAX_VALUE - 50);
    private boolean poor; // no thread can be created
    private int made;

    private Cleaner make() {
        made++;
        if (poor) {
            throw new OutOfMemoryError("unable to create native thread");
        }
        return Threads.cleaner("jrsocket-cleaner-of-a-test");
    }

    private Cleaner.Cleanable register(LostOwners owners) {
        try {
            return owners.register(new Object(), cleaned::incrementAndGet);
        } catch (OutOfMemoryError e) { // which would be the end of all tests here
            throw new AssertionError(e);
        }
    }

    /** A process that has reached its limit of threads must be able to go on with its sockets. */
    @Test
    void shouldDoWithoutAThreadWhereNoneCanBeCreated() {
        LostOwners owners = new LostOwners(this::make, now::get);
        poor = true;
        Cleaner.Cleanable unwatched = register(owners);
        unwatched.clean();
        unwatched.clean();
        assertEquals(1, cleaned.get());

        poor = false;
        now.addAndGet(TimeUnit.SECONDS.toNanos(1));
        Object owner = new Object();
        Cleaner.Cleanable watched = owners.register(owner, cleaned::incrementAndGet);
        watched.clean();
        watched.clean();
        assertEquals(2, cleaned.get());
        owners.register(owner, cleaned::incrementAndGet).clean();
        assertEquals(2, made, "one cleaner for all");
    }

    /** The JVM prints a line on stdout for each thread that it cannot create. */
    @Test
    void shouldTryToCreateItsThreadOnceASecond() {
        LostOwners owners = new LostOwners(this::make, now::get);
        poor = true;
        for (int i = 0; i < 10; i++) {
            register(owners);
        }
        assertEquals(1, made);
        now.addAndGet(TimeUnit.SECONDS.toNanos(1));
        register(owners);
        assertEquals(2, made);
    }
}
