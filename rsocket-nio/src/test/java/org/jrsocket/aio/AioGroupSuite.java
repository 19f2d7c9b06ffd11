/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.aio;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.ByteBuffer;
import java.nio.channels.AsynchronousChannelGroup;
import java.nio.channels.AsynchronousCloseException;
import java.nio.channels.AsynchronousServerSocketChannel;
import java.nio.channels.AsynchronousSocketChannel;
import java.nio.channels.CompletionHandler;
import java.nio.channels.IllegalChannelGroupException;
import java.nio.channels.ShutdownChannelGroupException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;

/** Groups: whose threads call the handlers, how they end. */
abstract class AioGroupSuite extends AioSuite {

    /** One of each sort, with threads of that name. */
    private AsynchronousChannelGroup group(int sort, String name) throws IOException {
        return ending(
                switch (sort) {
                    case 0 -> kind().provider().openAsynchronousChannelGroup(3, daemons(name));
                    case 1 ->
                        kind().provider()
                                .openAsynchronousChannelGroup(Executors.newCachedThreadPool(daemons(name)), -1);
                    case 2 ->
                        kind().provider().openAsynchronousChannelGroup(Executors.newCachedThreadPool(daemons(name)), 0);
                    case 3 ->
                        kind().provider()
                                .openAsynchronousChannelGroup(Executors.newFixedThreadPool(6, daemons(name)), 2);
                    default ->
                        kind().provider()
                                .openAsynchronousChannelGroup(Executors.newFixedThreadPool(3, daemons(name)), 0);
                });
    }

    private static final int SORTS = 5;

    @Test
    void shouldCallHandlersOnItsThreads() throws Exception {
        for (int sort = 0; sort < SORTS; sort++) {
            String name = "group " + sort;
            AsynchronousChannelGroup group = group(sort, name);
            AsynchronousServerSocketChannel listener = openServer(group).bind(anyPort());
            Told<AsynchronousSocketChannel> accepted = new Told<>();
            listener.accept(null, accepted);
            AsynchronousSocketChannel client = open(group);
            Told<Void> connected = new Told<>();
            client.connect(listener.getLocalAddress(), null, connected);
            connected.get();
            AsynchronousSocketChannel server = closing(accepted.get());
            Told<Integer> read = new Told<>();
            server.read(ByteBuffer.allocate(10), null, read);
            Told<Integer> written = new Told<>();
            client.write(text("x"), null, written);
            assertEquals(1, written.get());
            assertEquals(1, read.get());
            Told<Integer> closed = new Told<>();
            client.read(ByteBuffer.allocate(1), null, closed);
            client.close();
            assertFails(AsynchronousCloseException.class, closed.outcome);
            Told<Integer> late = new Told<>();
            server.shutdownInput();
            server.read(ByteBuffer.allocate(1), null, late);
            assertEquals(-1, late.get());
            for (Told<?> each : List.of(accepted, connected, read, written, closed, late)) {
                assertEquals(name, each.by.getName());
            }
        }
    }

    @Test
    void shouldCallHandlersOfTheDefaultGroupOnDaemons() throws Exception {
        Pair pair = pair();
        Told<Integer> told = new Told<>();
        pair.client().write(text("x"), null, told);
        told.get();
        assertTrue(told.by.isDaemon());
        assertNotEquals(Thread.currentThread(), told.by);
    }

    @Test
    void shouldCallAHandlerWithinAHandlerSoOftenAndNoMore() throws Exception {
        for (int sort = 0; sort < SORTS; sort++) {
            Pair pair = pair(group(sort, "nested " + sort), null);
            Nesting nesting = new Nesting(pair.client(), 300);
            nesting.write(); // by a thread that is not the group's
            assertEquals(0, get(nesting.end));
            assertTrue(nesting.deepest >= 2 && nesting.deepest <= 17, nesting.deepest + " deep");
            assertEquals(Set.of("nested " + sort), nesting.threads);
            assertEquals(300, read(pair.server(), 300).length());
        }
    }

    /** Handlers that write, which is complete at once. */
    private static final class Nesting {
        final AsynchronousSocketChannel channel;
        final CompletableFuture<Integer> end = new CompletableFuture<>();
        final Set<String> threads = Collections.synchronizedSet(new HashSet<>());
        private final ThreadLocal<Integer> depth = ThreadLocal.withInitial(() -> 0);
        private final AtomicInteger left;
        volatile int deepest;

        Nesting(AsynchronousSocketChannel channel, int times) {
            this.channel = channel;
            this.left = new AtomicInteger(times);
        }

        void write() {
            channel.write(text("n"), null, then(end, (Integer n) -> {
                depth.set(depth.get() + 1);
                deepest = Math.max(deepest, depth.get());
                threads.add(Thread.currentThread().getName());
                if (left.decrementAndGet() > 0) {
                    write();
                } else {
                    end.complete(0);
                }
                depth.set(depth.get() - 1);
            }));
        }
    }

    @Test
    void shouldServeOthersWhileAHandlerIsBusy() throws Exception {
        for (int sort = 0; sort < SORTS; sort++) {
            AsynchronousChannelGroup group = group(sort, "busy " + sort);
            CountDownLatch free = new CountDownLatch(1);
            CompletableFuture<Void> wrong = new CompletableFuture<>();
            List<Pair> pairs = new ArrayList<>();
            for (int i = 0; i < 3; i++) {
                pairs.add(pair(group, null));
            }
            for (int busy = 0; busy < 2; busy++) { // of three threads; one after the other
                CountDownLatch begun = new CountDownLatch(1);
                pairs.get(busy).client().read(ByteBuffer.allocate(1), null, then(wrong, (Integer n) -> {
                    begun.countDown();
                    assertTrue(free.await(60, TimeUnit.SECONDS));
                }));
                get(pairs.get(busy).server().write(text("x")));
                assertTrue(begun.await(60, TimeUnit.SECONDS));
            }
            AsynchronousSocketChannel third = pairs.get(2).client();
            for (int i = 0; i < 5; i++) {
                Told<Integer> told = new Told<>();
                third.read(ByteBuffer.allocate(1), null, told);
                get(pairs.get(2).server().write(text("x")));
                assertEquals(1, told.get());
                Told<Integer> written = new Told<>();
                third.write(text("y"), null, written);
                assertEquals(1, written.get());
            }
            free.countDown();
            assertFalse(wrong.isDone());
        }
    }

    @Test
    void shouldServeAnyNumberOfBusyHandlersFromACachedPool() throws Exception {
        for (int initial : new int[] {-1, 0}) {
            int many = 8;
            AsynchronousChannelGroup group = ending(kind().provider()
                    .openAsynchronousChannelGroup(Executors.newCachedThreadPool(daemons("cached")), initial));
            CountDownLatch all = new CountDownLatch(many);
            CompletableFuture<Integer> end = new CompletableFuture<>();
            AtomicInteger done = new AtomicInteger();
            for (int i = 0; i < many; i++) {
                Pair pair = pair(group, null);
                pair.client().read(ByteBuffer.allocate(1), null, then(end, (Integer n) -> {
                    all.countDown();
                    assertTrue(all.await(60, TimeUnit.SECONDS));
                    if (done.incrementAndGet() == many) {
                        end.complete(many);
                    }
                }));
                get(pair.server().write(text("x")));
            }
            assertEquals(many, get(end));
        }
    }

    @Test
    void shouldSurviveHandlersThatThrow() throws Exception {
        for (int sort = 0; sort < SORTS; sort++) {
            AtomicInteger thrown = new AtomicInteger();
            ExecutorService pool = Executors.newCachedThreadPool(task -> {
                Thread thread = daemons("throws").newThread(task);
                thread.setUncaughtExceptionHandler((who, failure) -> thrown.incrementAndGet());
                return thread;
            });
            AsynchronousChannelGroup group = ending(
                    sort == 0
                            ? kind().provider().openAsynchronousChannelGroup(2, task -> {
                                Thread thread = daemons("throws").newThread(task);
                                thread.setUncaughtExceptionHandler((who, failure) -> thrown.incrementAndGet());
                                return thread;
                            })
                            : kind().provider().openAsynchronousChannelGroup(pool, sort - 2));
            Pair pair = pair(group, null);
            for (int i = 0; i < 10; i++) {
                CountDownLatch called = new CountDownLatch(1);
                int now = i;
                pair.client().read(ByteBuffer.allocate(1), null, new Throwing(called, now % 2 == 0));
                get(pair.server().write(text("x")));
                assertTrue(called.await(60, TimeUnit.SECONDS));
            }
            Told<Integer> told = new Told<>();
            pair.client().read(ByteBuffer.allocate(1), null, told);
            get(pair.server().write(text("x")));
            assertEquals(1, told.get());
            group.shutdownNow();
            assertTrue(group.awaitTermination(60, TimeUnit.SECONDS));
            pool.shutdown();
            while (thrown.get() < 10) {
                Thread.onSpinWait(); // the test's time limit ends it
            }
            assertEquals(10, thrown.get());
        }
    }

    /** The thread that serves the selector ends, and another takes its place. */
    @Test
    void shouldTellAnExecutorWhatAHandlerThrows() throws Exception {
        BlockingQueue<Throwable> told = new LinkedBlockingQueue<>();
        ThreadPoolExecutor pool = new ThreadPoolExecutor(0, 50, 60, TimeUnit.SECONDS, new SynchronousQueue<>()) {
            @Override
            protected void afterExecute(Runnable task, Throwable failure) {
                if (failure != null) {
                    told.add(failure);
                }
            }
        };
        pool.setThreadFactory(task -> {
            Thread thread = daemons("throws").newThread(task);
            thread.setUncaughtExceptionHandler((who, failure) -> {});
            return thread;
        });
        AsynchronousChannelGroup group = ending(kind().provider().openAsynchronousChannelGroup(pool, 1));
        Pair pair = pair(group, null);
        for (int i = 0; i < 3; i++) {
            CountDownLatch called = new CountDownLatch(1);
            pair.client().read(ByteBuffer.allocate(1), null, new Throwing(called, true));
            get(pair.server().write(text("x")));
            assertTrue(called.await(60, TimeUnit.SECONDS));
            assertEquals(AssertionError.class, told.poll(60, TimeUnit.SECONDS).getClass());
        }
        Told<Integer> read = new Told<>();
        pair.client().read(ByteBuffer.allocate(1), null, read);
        get(pair.server().write(text("x")));
        assertEquals(1, read.get());
    }

    private record Throwing(CountDownLatch called, boolean error) implements CompletionHandler<Integer, Object> {
        @Override
        public void completed(Integer result, Object attachment) {
            called.countDown();
            if (error) {
                throw new AssertionError("wanted");
            }
            throw new IllegalStateException("wanted");
        }

        @Override
        public void failed(Throwable failure, Object attachment) {}
    }

    @Test
    void shouldHideAnInterruptFromTheNextHandler() throws Exception {
        Pair pair = pair(fixed(1), null);
        CompletableFuture<Boolean> interrupted = new CompletableFuture<>();
        pair.client().read(ByteBuffer.allocate(1), null, then(interrupted, (Integer n) -> Thread.currentThread()
                .interrupt()));
        get(pair.server().write(text("x")));
        pair.client()
                .write(
                        text("y"),
                        null,
                        then(
                                interrupted,
                                (Integer n) -> interrupted.complete(
                                        Thread.currentThread().isInterrupted())));
        assertFalse(get(interrupted));
    }

    /** Whoever has the thread may interrupt it: a thread factory's owner, an executor's shutdownNow. */
    @Test
    void shouldNotRunHotAfterAnInterrupt() throws Exception {
        AtomicReference<Thread> only = new AtomicReference<>();
        AsynchronousChannelGroup group = ending(kind().provider().openAsynchronousChannelGroup(1, task -> {
            only.set(daemons("interrupted").newThread(task));
            return only.get();
        }));
        Pair pair = pair(group, null);
        Told<Integer> told = new Told<>();
        pair.client().read(ByteBuffer.allocate(1), null, told);
        ThreadMXBean times = ManagementFactory.getThreadMXBean();
        awaitQuiet(times, only.get());
        only.get().interrupt();
        awaitQuiet(times, only.get());
        get(pair.server().write(text("x")));
        assertEquals(1, told.get());
    }

    /** Until it has used next to no processor time for a while; the test's time limit ends it. */
    private static void awaitQuiet(ThreadMXBean times, Thread thread) throws InterruptedException {
        long used;
        do {
            long before = times.getThreadCpuTime(thread.getId());
            Thread.sleep(200);
            used = times.getThreadCpuTime(thread.getId()) - before;
        } while (used > TimeUnit.MILLISECONDS.toNanos(10));
    }

    @Test
    void shouldCloseFromTheHandlerOfItsOnlyThread() throws Exception {
        for (boolean wholeGroup : new boolean[] {false, true}) {
            AsynchronousChannelGroup group = fixed(1);
            AsynchronousServerSocketChannel listener = listening();
            AsynchronousSocketChannel client = open(group);
            Told<Integer> reading = new Told<>();
            CompletableFuture<Integer> closed = new CompletableFuture<>();
            client.connect(listener.getLocalAddress(), null, then(closed, (Void none) -> {
                client.read(ByteBuffer.allocate(1), null, reading);
                if (wholeGroup) {
                    group.shutdownNow();
                } else {
                    client.close();
                }
                closed.complete(0);
            }));
            assertEquals(0, get(closed));
            assertFails(AsynchronousCloseException.class, reading.outcome);
            assertFalse(client.isOpen());
            group.shutdown();
            assertTrue(group.awaitTermination(60, TimeUnit.SECONDS));
        }
    }

    // ---- shutting down ----

    @Test
    void shouldEndWhenItsLastChannelIsClosed() throws Exception {
        for (int sort = 0; sort < SORTS; sort++) {
            AsynchronousChannelGroup group = group(sort, "ends");
            Pair pair = pair(group, group);
            assertFalse(group.isShutdown());
            group.shutdown();
            group.shutdown();
            assertTrue(group.isShutdown());
            assertFalse(group.isTerminated());
            assertThrows(ShutdownChannelGroupException.class, () -> open(group));
            assertThrows(ShutdownChannelGroupException.class, () -> openServer(group));
            Told<Integer> told = new Told<>();
            pair.client().read(ByteBuffer.allocate(1), null, told);
            get(pair.server().write(text("x")));
            assertEquals(1, told.get());
            pair.client().close();
            assertFalse(group.isTerminated());
            pair.server().close();
            assertTrue(group.awaitTermination(60, TimeUnit.SECONDS));
            assertTrue(group.isTerminated());
            assertThrows(ShutdownChannelGroupException.class, () -> pair.client()
                    .read(ByteBuffer.allocate(1), null, new Told<>()));
        }
    }

    @Test
    void shouldEndAtOnceWithoutChannels() throws Exception {
        for (int sort = 0; sort < SORTS; sort++) {
            AsynchronousChannelGroup group = group(sort, "empty");
            assertFalse(group.awaitTermination(1, TimeUnit.MILLISECONDS));
            group.shutdown();
            assertTrue(group.awaitTermination(60, TimeUnit.SECONDS));
        }
    }

    @Test
    void shouldCloseEverythingWhenShutDownNow() throws Exception {
        for (int sort = 0; sort < SORTS; sort++) {
            AsynchronousChannelGroup group = group(sort, "now");
            AsynchronousServerSocketChannel listener = openServer(group).bind(anyPort());
            Told<AsynchronousSocketChannel> accepting = new Told<>();
            listener.accept(null, accepting);
            Pair pair = pair(group, null);
            Future<Integer> reading = pair.client().read(ByteBuffer.allocate(1));
            Told<Integer> told = new Told<>();
            pair.server().read(ByteBuffer.allocate(1), null, told);
            group.shutdownNow();
            group.shutdownNow();
            assertFails(AsynchronousCloseException.class, reading);
            assertFails(AsynchronousCloseException.class, accepting.outcome);
            assertFalse(listener.isOpen());
            assertFalse(pair.client().isOpen());
            assertTrue(group.awaitTermination(60, TimeUnit.SECONDS));
            assertEquals(-1, told.get());
            assertTrue(pair.server().isOpen());
        }
    }

    @Test
    void shouldAcceptNothingIntoAGroupThatIsShutDown() throws Exception {
        AsynchronousChannelGroup group = fixed(1);
        AsynchronousServerSocketChannel listener = openServer(group).bind(anyPort());
        Future<AsynchronousSocketChannel> waiting = listener.accept();
        group.shutdown();
        for (int i = 0; i < 2; i++) {
            Future<AsynchronousSocketChannel> accepting = i == 0 ? waiting : listener.accept();
            get(open().connect(listener.getLocalAddress()));
            IOException failure = assertFails(IOException.class, accepting);
            assertInstanceOf(ShutdownChannelGroupException.class, failure.getCause());
        }
    }

    // ---- the rest ----

    @Test
    void shouldRejectTasksAfterItsEnd() throws Exception {
        AsynchronousChannelGroup group = fixed(1);
        group.shutdownNow();
        assertTrue(group.awaitTermination(60, TimeUnit.SECONDS));
        assertNull(assertThrows(RejectedExecutionException.class, () -> ((Executor) group).execute(() -> {}))
                .getMessage());
    }

    @Test
    void shouldExecuteTasks() throws Exception {
        for (int sort = 0; sort < SORTS; sort++) {
            CompletableFuture<String> by = new CompletableFuture<>();
            ((Executor) group(sort, "task " + sort))
                    .execute(() -> by.complete(Thread.currentThread().getName()));
            assertEquals("task " + sort, get(by));
        }
    }

    @Test
    void shouldRefuseWhatIsNoGroup() throws Exception {
        AsynchronousChannelGroup foreign = new AsynchronousChannelGroup(kind().provider()) {
            @Override
            public boolean isShutdown() {
                return false;
            }

            @Override
            public boolean isTerminated() {
                return false;
            }

            @Override
            public void shutdown() {}

            @Override
            public void shutdownNow() {}

            @Override
            public boolean awaitTermination(long timeout, TimeUnit unit) {
                return false;
            }
        };
        assertThrows(IllegalChannelGroupException.class, () -> open(foreign));
        assertThrows(IllegalChannelGroupException.class, () -> openServer(foreign));
        var provider = kind().provider();
        assertThrows(IllegalArgumentException.class, () -> provider.openAsynchronousChannelGroup(0, daemons("none")));
        assertThrows(NullPointerException.class, () -> provider.openAsynchronousChannelGroup(1, null));
        assertThrows(NullPointerException.class, () -> provider.openAsynchronousChannelGroup(null, 0));
        assertSame(provider, fixed(1).provider());
        assertNull(open().getRemoteAddress());
    }
}
