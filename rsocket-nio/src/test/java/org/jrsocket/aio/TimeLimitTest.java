/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.aio;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.ByteBuffer;
import java.nio.channels.AsynchronousChannelGroup;
import java.nio.channels.InterruptedByTimeoutException;
import java.nio.channels.SelectionKey;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** What becomes of time limits that were not needed. */
class TimeLimitTest extends LoopbackAioTests {

    @Test
    void shouldKeepNoTimersOfWhatIsDone() throws Exception {
        AsynchronousChannelGroup group = fixed(1);
        Pair pair = pair(group, null);
        for (int i = 0; i < 20; i++) {
            Told<Integer> told = new Told<>();
            pair.client().read(ByteBuffer.allocate(1), 1, TimeUnit.HOURS, null, told);
            get(pair.server().write(text("x")));
            assertEquals(1, told.get());
        }
        int timers = ((RAsynchronousChannelGroup) group).timers();
        assertTrue(timers <= 1, () -> timers + " timers"); // one may be the group's own
    }

    /** A timer that cannot be cancelled any more, because it waits for the lock, ends nothing that began since. */
    @Test
    void shouldEndNoLaterOperationThanItsOwn() throws Exception {
        AsynchronousChannelGroup group = fixed(1);
        Pair pair = pair(group, null);
        RAsynchronousSocketChannel client = (RAsynchronousSocketChannel) pair.client();
        Told<Integer> first = new Told<>();
        Told<Integer> next = new Told<>();
        synchronized (client.readiness()) {
            client.read(ByteBuffer.allocate(1), 20, TimeUnit.MILLISECONDS, null, first);
            awaitBlocked("jrsocket-aio-timer");
            get(pair.server().write(text("x")));
            while (!first.outcome.isDone()) {
                client.onReady(SelectionKey.OP_READ, true); // as the group's thread, which waits for the lock, too
            }
            assertEquals(1, first.get());
            client.read(ByteBuffer.allocate(1), 0, TimeUnit.SECONDS, null, next);
        }
        Told<Integer> last = new Told<>(); // the group has one thread for its timers
        pair(group, null).client().read(ByteBuffer.allocate(1), 1, TimeUnit.MILLISECONDS, null, last);
        assertFails(InterruptedByTimeoutException.class, last.outcome);
        get(pair.server().write(text("x")));
        assertEquals(1, next.get());
    }

    private static void awaitBlocked(String name) throws InterruptedException {
        while (Thread.getAllStackTraces().keySet().stream()
                .noneMatch(thread -> thread.getName().equals(name) && thread.getState() == Thread.State.BLOCKED)) {
            Thread.sleep(1); // the test's time limit ends it
        }
    }
}
