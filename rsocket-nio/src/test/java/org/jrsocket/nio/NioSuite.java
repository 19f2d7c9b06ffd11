/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.nio;

import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assertions.fail;

import java.io.Closeable;
import java.io.IOException;
import java.net.BindException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SelectableChannel;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Deque;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.FutureTask;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Timeout;

/**
 * What tests of one behaviour share: channels that are closed afterwards, a connected pair, threads. Nothing but
 * java.nio is used.
 */
@Timeout(60)
abstract class NioSuite {

    static final ExecutorService THREADS = Executors.newCachedThreadPool(task -> {
        Thread thread = new Thread(task, "test");
        thread.setDaemon(true);
        return thread;
    });

    private final Deque<Closeable> opened = new ArrayDeque<>();

    abstract NioKind kind();

    @AfterEach
    void closeAll() throws IOException {
        while (!opened.isEmpty()) {
            opened.pop().close();
        }
    }

    synchronized <T extends Closeable> T closing(T closeable) {
        opened.push(closeable);
        return closeable;
    }

    SocketChannel open() throws IOException {
        return closing(kind().provider().openSocketChannel());
    }

    ServerSocketChannel openServer() throws IOException {
        return closing(kind().provider().openServerSocketChannel());
    }

    Selector selector() throws IOException {
        return closing(kind().openSelector());
    }

    ServerSocketChannel listening() throws IOException {
        return openServer().bind(anyPort());
    }

    InetSocketAddress anyPort() {
        return new InetSocketAddress(kind().address(), 0);
    }

    /** Where nobody listens. Below the ports that Linux gives to clients, of which one would connect to itself. */
    InetSocketAddress deadPort() throws IOException {
        while (true) {
            int port = ThreadLocalRandom.current().nextInt(10_000, 32_000);
            InetSocketAddress dead = new InetSocketAddress(kind().address(), port);
            try (ServerSocketChannel server = kind().provider().openServerSocketChannel()) {
                server.bind(dead);
                return dead;
            } catch (BindException e) {
                // somebody listens there
            }
        }
    }

    /** Connected, blocking. */
    record Pair(SocketChannel client, SocketChannel server) {}

    Pair pair() throws IOException {
        try (ServerSocketChannel listener = kind().provider().openServerSocketChannel()) {
            listener.bind(anyPort());
            return pair(listener);
        }
    }

    Pair pair(ServerSocketChannel listener) throws IOException {
        SocketChannel client = open();
        client.connect(listener.getLocalAddress());
        SocketChannel server = closing(listener.accept());
        kind().check(client);
        return new Pair(client, server);
    }

    Pair nonBlockingPair() throws IOException {
        Pair pair = pair();
        pair.client.configureBlocking(false);
        pair.server.configureBlocking(false);
        return pair;
    }

    static ByteBuffer bytes(int n) {
        ByteBuffer b = ByteBuffer.allocate(n);
        for (int i = 0; i < n; i++) {
            b.put(i, pattern(i));
        }
        return b;
    }

    static byte pattern(long i) {
        return (byte) (i * 31 + (i >> 8));
    }

    static ByteBuffer text(String s) {
        return ByteBuffer.wrap(s.getBytes(StandardCharsets.UTF_8));
    }

    static String read(SocketChannel channel, int n) throws IOException {
        ByteBuffer b = ByteBuffer.allocate(n);
        long deadline = System.nanoTime() + TimeUnit.MINUTES.toNanos(1);
        while (b.hasRemaining()) {
            if (channel.read(b) < 0) {
                break;
            }
            if (!channel.isBlocking()) {
                if (System.nanoTime() - deadline > 0) {
                    throw new AssertionError(b.position() + " of " + n + " bytes came");
                }
                Thread.onSpinWait();
            }
        }
        return new String(b.array(), 0, b.position(), StandardCharsets.UTF_8);
    }

    /** Writes until nothing fits any more. */
    static long fill(SocketChannel channel) throws IOException {
        long sum = 0;
        ByteBuffer b = ByteBuffer.allocateDirect(64 * 1024);
        for (int quiet = 0; quiet < 50; ) {
            b.clear();
            int n = channel.write(b);
            sum += n;
            quiet = n == 0 ? quiet + 1 : 0;
            if (n == 0) {
                pause(2);
            }
        }
        return sum;
    }

    /** Blocking, and its next write has to wait. Returns what it has written already. */
    static long full(SocketChannel channel) throws IOException {
        channel.configureBlocking(false);
        long sum = fill(channel);
        channel.configureBlocking(true);
        return sum;
    }

    /** Waits with select until the key is ready for one of these. */
    static void await(Selector selector, SelectionKey key, int ops) throws IOException {
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(30);
        while (System.nanoTime() < deadline) {
            selector.selectedKeys().clear();
            selector.select(1000);
            if (selector.selectedKeys().contains(key) && (key.readyOps() & ops) != 0) {
                return;
            }
        }
        fail("never ready for " + ops);
    }

    static <T extends SelectableChannel> T nonBlocking(T channel) throws IOException {
        channel.configureBlocking(false);
        return channel;
    }

    // ---- threads ----

    interface Action {
        void run() throws Exception;
    }

    static <T> Future<T> background(Callable<T> task) {
        return THREADS.submit(task);
    }

    static Future<?> background(Action task) {
        return THREADS.submit(() -> {
            task.run();
            return null;
        });
    }

    /** On a thread of its own. When this returns, it waits, or has ended. */
    static <T> Future<T> blocked(Callable<T> task) {
        FutureTask<T> outcome = new FutureTask<>(task);
        Thread thread = new Thread(outcome, "blocked");
        thread.setDaemon(true);
        thread.start();
        awaitWaiting(thread);
        return outcome;
    }

    /**
     * Until it waits, or has ended: it stands at the same place twice, in native code that a channel or a selector has
     * called. Elsewhere it may only lack a processor. On a slow machine it may take long to get there.
     */
    static void awaitWaiting(Thread thread) {
        StackTraceElement[] before = {};
        for (int i = 0; i < 1000 && thread.isAlive(); i++) {
            StackTraceElement[] now = thread.getStackTrace();
            if (Arrays.equals(before, now)
                    && now.length > 0
                    && now[0].isNativeMethod()
                    && Arrays.stream(now)
                            .map(StackTraceElement::getClassName)
                            .anyMatch(name ->
                                    name.matches("(sun\\.nio\\.ch|org\\.jrsocket)\\..*") && !name.contains("Suite"))) {
                return;
            }
            before = now;
            pause(20);
        }
    }

    static <T> T get(Future<T> future) throws Exception {
        try {
            return future.get(30, TimeUnit.SECONDS);
        } catch (ExecutionException e) {
            if (e.getCause() instanceof Exception cause) {
                throw cause;
            }
            throw (Error) e.getCause();
        }
    }

    /** A thread that ends in an exception. Made, it waits, or has ended. */
    static final class Failing {
        final Thread thread;
        volatile Throwable thrown;
        volatile boolean interrupted;

        Failing(Action action) {
            this.thread = started(action);
            awaitWaiting(thread);
        }

        /** Made, it has come as far as {@code begun} says. */
        Failing(Action action, CountDownLatch begun) throws InterruptedException {
            this.thread = started(action);
            assertTrue(begun.await(30, TimeUnit.SECONDS));
        }

        private Thread started(Action action) {
            Thread fresh = new Thread(
                    () -> {
                        try {
                            action.run();
                        } catch (Throwable e) {
                            thrown = e;
                            interrupted = Thread.currentThread().isInterrupted();
                        }
                    },
                    "failing");
            fresh.setDaemon(true);
            fresh.start();
            return fresh;
        }

        Throwable join() throws InterruptedException {
            thread.join(30_000);
            assertTrue(!thread.isAlive(), "still waiting");
            return thrown;
        }
    }

    /** With exactly this, and no subclass of it. */
    static void assertFails(Class<?> expected, Failing f) throws InterruptedException {
        Throwable e = f.join();
        assertSame(expected, e == null ? null : e.getClass(), () -> String.valueOf(e));
    }

    static void pause(long millis) {
        LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(millis));
    }
}
