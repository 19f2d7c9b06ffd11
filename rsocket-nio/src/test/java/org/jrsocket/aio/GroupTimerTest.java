/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.aio;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A process that may create no more threads. */
@Timeout(60)
class GroupTimerTest {

    private final AtomicLong now = new AtomicLong(Long.MAX_VALUE - 50);
    private final AtomicInteger tries = new AtomicInteger();
    private final CountDownLatch ran = new CountDownLatch(1);
    private boolean poor = true;
    private final GroupTimer timer = new GroupTimer(this::make, now::get);

    private Thread make(Runnable task) {
        tries.incrementAndGet();
        if (poor) {
            throw new OutOfMemoryError("unable to create native thread");
        }
        Thread thread = new Thread(task);
        thread.setDaemon(true);
        return thread;
    }

    private boolean isScheduled() {
        try {
            return !timer.schedule(ran::countDown, 1, TimeUnit.MILLISECONDS).isCancelled();
        } catch (OutOfMemoryError e) { // which would be the end of all tests here
            return false;
        }
    }

    /** A group asks for its timer again at each event, and what no thread takes would stay for ever. */
    @Test
    void shouldKeepNothingForAThreadThatCannotBeCreated() throws Exception {
        for (int i = 0; i < 10; i++) {
            assertFalse(isScheduled());
        }
        assertEquals(0, timer.size());
        assertEquals(1, tries.get());
        poor = false;
        assertFalse(isScheduled());
        now.addAndGet(TimeUnit.SECONDS.toNanos(1));
        assertTrue(isScheduled());
        ran.await();
        timer.shutdown();
    }
}
