/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.threads;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.jrsocket.stream.RawPeer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** A process that may create no more threads, as in a container with a limit on processes. */
class DeviceThreadsTest {

    private static final long PATIENCE = TimeUnit.SECONDS.toNanos(60);

    private final AtomicLong now = new AtomicLong(Long.MAX_VALUE - 50);
    private final AtomicInteger tries = new AtomicInteger();
    private final AtomicInteger ran = new AtomicInteger();
    private volatile boolean poor;
    private final DeviceThreads threads = new DeviceThreads("test", 2, this::make, now::get);

    private Thread make(String name, Runnable task) {
        tries.incrementAndGet();
        if (poor) { // here and not in start(), which pools of JDK 19 and later do not call
            throw new OutOfMemoryError("unable to create native thread: possibly out of memory");
        }
        return Threads.daemon(name, task);
    }

    @AfterEach
    void end() {
        assertTrue(threads.end(PATIENCE));
    }

    private boolean isTaken() {
        try {
            return threads.execute(null, ran::incrementAndGet);
        } catch (OutOfMemoryError e) { // which would be the end of all tests here
            return false;
        }
    }

    @Test
    void shouldLeaveTheWorkToTheThreadsThatThereAre() {
        CountDownLatch goOn = new CountDownLatch(1);
        assertTrue(threads.execute(null, () -> Threads.await(goOn, PATIENCE)));
        poor = true;
        assertTrue(isTaken());
        assertTrue(isTaken());
        assertEquals(0, ran.get(), "the only thread is busy");
        goOn.countDown();
        RawPeer.await(() -> ran.get() == 2, () -> ran + " tasks ran");
    }

    @Test
    void shouldTellForHowLongATaskHangs() {
        CountDownLatch goOn = new CountDownLatch(1);
        assertTrue(threads.execute(null, () -> Threads.await(goOn, PATIENCE)));
        assertTrue(isTaken());
        RawPeer.await(() -> threads.hungNanos() > TimeUnit.SECONDS.toNanos(1), () -> "nobody would notice");
        goOn.countDown();
        RawPeer.await(() -> threads.hungNanos() == 0, () -> "it has ended");
    }

    /** The JVM prints a line on stdout for each thread that it cannot create. */
    @Test
    void shouldTryToCreateAThreadOnceASecond() {
        poor = true;
        for (int i = 0; i < 10; i++) {
            assertFalse(isTaken());
        }
        assertEquals(1, tries.get());
        now.addAndGet(TimeUnit.SECONDS.toNanos(1));
        assertFalse(isTaken());
        assertEquals(2, tries.get());

        poor = false;
        now.addAndGet(TimeUnit.SECONDS.toNanos(1));
        assertTrue(isTaken());
        RawPeer.await(() -> ran.get() == 1, () -> "not run");
    }

    /** Heap that is lacking may be there again at once. */
    @Test
    void shouldNotTakeLackOfHeapForLackOfThreads() {
        DeviceThreads others = new DeviceThreads(
                "test",
                1,
                (name, task) -> {
                    if (tries.getAndIncrement() == 0) {
                        throw new OutOfMemoryError("Java heap space");
                    }
                    return make(name, task);
                },
                now::get);
        try {
            others.execute(null, ran::incrementAndGet);
        } catch (OutOfMemoryError e) {
            ran.incrementAndGet();
        }
        assertEquals(1, ran.get());
        assertTrue(others.execute(null, ran::incrementAndGet));
        assertTrue(others.end(PATIENCE));
        assertEquals(2, ran.get());
    }

    /** Its last thread is then the only one that can run it. */
    @Test
    void shouldRunWhatItHasTakenThoughATaskFailsWhereNoThreadCanBeCreated() {
        CountDownLatch goOn = new CountDownLatch(1);
        assertTrue(threads.execute(null, () -> {
            Threads.await(goOn, PATIENCE);
            throw new IllegalStateException("says a test");
        }));
        poor = true;
        assertTrue(isTaken());
        goOn.countDown();
        RawPeer.await(() -> ran.get() == 1, () -> "not run");
    }

    /** The second task comes while the only thread is being created, which then fails. */
    @Test
    void shouldNotTakeATaskForAThreadThatIsNeverCreated() throws Exception {
        CountDownLatch creating = new CountDownLatch(1);
        CountDownLatch goOn = new CountDownLatch(1);
        DeviceThreads others = new DeviceThreads(
                "test",
                1,
                (name, task) -> {
                    creating.countDown();
                    Threads.await(goOn, PATIENCE);
                    throw new OutOfMemoryError("unable to create native thread: possibly out of memory");
                },
                now::get);
        AtomicInteger taken = new AtomicInteger();
        Runnable gives = () -> {
            try {
                others.execute(null, ran::incrementAndGet);
                taken.incrementAndGet();
            } catch (OutOfMemoryError e) {
                // refused, which is right
            }
        };
        Thread first = new Thread(gives, "first");
        first.start();
        creating.await();
        Thread second = new Thread(gives, "second");
        second.start();
        RawPeer.await(
                () -> second.getState() == Thread.State.BLOCKED || !second.isAlive(), () -> "it goes on for ever");
        goOn.countDown();
        first.join();
        second.join();
        assertTrue(others.end(PATIENCE), "a task without a thread");
        assertEquals(taken.get(), ran.get());
    }

    @Test
    void shouldKeepTheInterruptOfATaskFromTheNext() throws Exception {
        DeviceThreads others = new DeviceThreads("test", 1);
        CountDownLatch given = new CountDownLatch(1);
        AtomicInteger interrupted = new AtomicInteger();
        others.execute(null, () -> {
            Threads.await(given, PATIENCE);
            Thread.currentThread().interrupt();
        });
        others.execute(null, () -> interrupted.set(Thread.interrupted() ? 2 : 1));
        given.countDown();
        assertTrue(others.end(PATIENCE));
        assertEquals(1, interrupted.get());
    }
}
