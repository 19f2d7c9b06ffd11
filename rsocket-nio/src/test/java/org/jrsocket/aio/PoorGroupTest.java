/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.aio;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;

import java.nio.ByteBuffer;
import java.nio.channels.AsynchronousChannelGroup;
import java.nio.channels.AsynchronousCloseException;
import java.nio.channels.CompletionHandler;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.jrsocket.nio.FailingSelector;
import org.jrsocket.nio.RSelectorProvider;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Groups in a process without memory, or that may create no more threads. */
class PoorGroupTest extends LoopbackAioTests {

    private final BlockingQueue<Throwable> uncaught = new LinkedBlockingQueue<>();

    /** Makes one thread, and no other. */
    private ThreadFactory once() {
        ThreadFactory made = daemons("only");
        AtomicInteger left = new AtomicInteger(1);
        return task -> {
            if (left.getAndDecrement() <= 0) {
                throw new OutOfMemoryError("unable to create native thread: says a test");
            }
            Thread thread = made.newThread(task);
            thread.setUncaughtExceptionHandler((who, failure) -> uncaught.add(failure));
            return thread;
        };
    }

    /** One that throws, out of a program that may hear of it. */
    private record Throwing(Error error) implements CompletionHandler<Integer, Object> {
        @Override
        public void completed(Integer result, Object attachment) {
            throw error;
        }

        @Override
        public void failed(Throwable failure, Object attachment) {}
    }

    private static void assertReads(Pair pair) throws Exception {
        Told<Integer> told = new Told<>();
        pair.client().read(ByteBuffer.allocate(1), null, told);
        get(pair.server().write(text("x")));
        assertEquals(1, told.get());
    }

    private void assertSurvives(AsynchronousChannelGroup group, Error thrown) throws Exception {
        Pair pair = pair(group, fixed(1));
        for (int i = 0; i < 3; i++) {
            pair.client().read(ByteBuffer.allocate(1), null, new Throwing(thrown));
            get(pair.server().write(text("x")));
            assertSame(thrown, uncaught.poll(60, TimeUnit.SECONDS));
        }
        assertReads(pair);
    }

    /** The group would have no thread any more, and its channels would hear nothing for ever. */
    @Test
    void shouldGoOnWithoutAnotherThreadAfterAHandlerThatLacksMemory() throws Exception {
        AsynchronousChannelGroup group = ending(kind().provider().openAsynchronousChannelGroup(1, once()));
        assertSurvives(group, new OutOfMemoryError("says a test"));
    }

    /** As above. Its executor takes one task and has no memory for another. */
    @Test
    void shouldGoOnWithoutAnotherThreadAfterAHandlerThatThrows() throws Exception {
        ThreadPoolExecutor pool = new ThreadPoolExecutor(0, 50, 60, TimeUnit.SECONDS, new SynchronousQueue<>(), once());
        RSelectorProvider selectors = (RSelectorProvider)
                ((RAsynchronousChannelGroup) fixed(1)).loop().selector().provider();
        AsynchronousChannelGroup group = ending(new RAsynchronousChannelGroup(
                (RAsynchronousChannelProvider) kind().provider(), selectors, pool, true, 1));
        assertSurvives(group, new AssertionError("says a test"));
    }

    @Test
    void shouldGoOnWithoutAnotherThreadAfterASelectionThatLacksMemory() throws Exception {
        AsynchronousChannelGroup group = ending(kind().provider().openAsynchronousChannelGroup(1, once()));
        Pair pair = pair(group, fixed(1));
        FailingSelector.fail(
                ((RAsynchronousChannelGroup) group).loop().selector(), new OutOfMemoryError("says a test"));
        assertReads(pair);
        assertReads(pair);
    }

    /** A pool that can run nothing at first, or that runs it although it says that it cannot. */
    private static final class PoorPool extends ThreadPoolExecutor {
        private final boolean runs;
        private final AtomicInteger failures = new AtomicInteger();

        PoorPool(boolean runs) {
            super(0, 50, 60, TimeUnit.SECONDS, new SynchronousQueue<>(), daemons("poor"));
            this.runs = runs;
        }

        @Override
        public void execute(Runnable task) {
            boolean fails = failures.getAndDecrement() > 0;
            if (!fails || runs) {
                super.execute(task);
            }
            if (fails) {
                throw new OutOfMemoryError("unable to create native thread: says a test");
            }
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void shouldTellAHandlerOnceThoughItsPoolLacksMemory(boolean runs) throws Exception {
        PoorPool pool = new PoorPool(runs);
        AsynchronousChannelGroup group = ending(kind().provider().openAsynchronousChannelGroup(pool, 0));
        Pair pair = pair(group, fixed(1));
        BlockingQueue<Integer> told = new LinkedBlockingQueue<>();
        CompletionHandler<Integer, Object> teller = new CompletionHandler<>() {
            @Override
            public void completed(Integer result, Object attachment) {
                told.add(result);
            }

            @Override
            public void failed(Throwable failure, Object attachment) {}
        };
        pair.client().read(ByteBuffer.allocate(1), null, teller);
        pool.failures.set(3);
        get(pair.server().write(text("x")));
        assertEquals(1, told.poll(60, TimeUnit.SECONDS));
        while (pool.failures.get() > -1) { // the last try
            TimeUnit.MILLISECONDS.sleep(1); // the test's time limit ends it
        }
        assertReads(pair);
        assertEquals(0, told.size());
    }

    @Test
    void shouldTellAHandlerOfACloseThoughItsPoolLacksMemory() throws Exception {
        PoorPool pool = new PoorPool(false);
        AsynchronousChannelGroup group = ending(kind().provider().openAsynchronousChannelGroup(pool, 0));
        Pair pair = pair(group, fixed(1));
        Told<Integer> told = new Told<>();
        pair.client().read(ByteBuffer.allocate(1), null, told);
        pool.failures.set(3);
        pair.client().close();
        assertFails(AsynchronousCloseException.class, told.outcome);
    }
}
