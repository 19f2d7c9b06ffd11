/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.aio;

import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.io.Closeable;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.AsynchronousChannelGroup;
import java.nio.channels.AsynchronousServerSocketChannel;
import java.nio.channels.AsynchronousSocketChannel;
import java.nio.channels.CompletionHandler;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Timeout;

/** What tests of one behaviour share: channels and groups that are closed afterwards, a connected pair, handlers. */
@Timeout(120)
abstract class AioSuite {

    /** Of handlers that had been called before: nobody hears what a handler throws. */
    private static final Queue<AssertionError> SECOND_CALLS = new ConcurrentLinkedQueue<>();

    private final Deque<Closeable> opened = new ArrayDeque<>();

    abstract AioKind kind();

    @AfterEach
    void closeAll() throws IOException {
        while (!opened.isEmpty()) {
            opened.pop().close();
        }
        AssertionError second = SECOND_CALLS.poll();
        if (second != null) {
            throw second;
        }
    }

    synchronized <T extends Closeable> T closing(T closeable) {
        opened.push(closeable);
        return closeable;
    }

    /** @return the group, which ends after the test */
    AsynchronousChannelGroup ending(AsynchronousChannelGroup group) {
        closing(group::shutdownNow);
        return group;
    }

    AsynchronousChannelGroup fixed(int threads) throws IOException {
        return ending(kind().provider().openAsynchronousChannelGroup(threads, daemons("fixed")));
    }

    static ThreadFactory daemons(String name) {
        return task -> {
            Thread thread = new Thread(task, name);
            thread.setDaemon(true);
            return thread;
        };
    }

    AsynchronousSocketChannel open(AsynchronousChannelGroup group) throws IOException {
        return closing(kind().provider().openAsynchronousSocketChannel(group));
    }

    AsynchronousSocketChannel open() throws IOException {
        return open(null);
    }

    AsynchronousServerSocketChannel openServer(AsynchronousChannelGroup group) throws IOException {
        return closing(kind().provider().openAsynchronousServerSocketChannel(group));
    }

    AsynchronousServerSocketChannel listening() throws IOException {
        return openServer(null).bind(anyPort());
    }

    InetSocketAddress anyPort() {
        return new InetSocketAddress(kind().address(), 0);
    }

    /** Where nobody listens. */
    InetSocketAddress deadPort() throws IOException {
        try (AsynchronousServerSocketChannel server = kind().provider().openAsynchronousServerSocketChannel(null)) {
            server.bind(anyPort());
            return (InetSocketAddress) server.getLocalAddress();
        }
    }

    record Pair(AsynchronousSocketChannel client, AsynchronousSocketChannel server) {}

    Pair pair() throws Exception {
        return pair(null, null);
    }

    Pair pair(AsynchronousChannelGroup clients, AsynchronousChannelGroup servers) throws Exception {
        try (AsynchronousServerSocketChannel listener =
                kind().provider().openAsynchronousServerSocketChannel(servers)) {
            listener.bind(anyPort());
            AsynchronousSocketChannel client = open(clients);
            Future<Void> connecting = client.connect(listener.getLocalAddress());
            AsynchronousSocketChannel server = closing(get(listener.accept()));
            get(connecting);
            kind().check(client);
            kind().check(server);
            return new Pair(client, server);
        }
    }

    static <T> T get(Future<T> future) throws Exception {
        try {
            return future.get(60, TimeUnit.SECONDS);
        } catch (ExecutionException e) {
            if (e.getCause() instanceof Exception cause) {
                throw cause;
            }
            throw (Error) e.getCause();
        }
    }

    /** With exactly this, and no subclass of it. */
    static <T extends Throwable> T assertFails(Class<T> expected, Future<?> future) {
        Throwable failure = assertThrows(ExecutionException.class, () -> future.get(60, TimeUnit.SECONDS))
                .getCause();
        assertSame(expected, failure.getClass(), failure::toString);
        return expected.cast(failure);
    }

    static ByteBuffer text(String text) {
        return ByteBuffer.wrap(text.getBytes(StandardCharsets.UTF_8));
    }

    static String text(ByteBuffer read) {
        return StandardCharsets.UTF_8.decode(read.duplicate().flip()).toString();
    }

    static byte pattern(long i) {
        return (byte) (i * 31 + (i >> 8));
    }

    /** Until it comes to this; fails when it never does. */
    static String read(AsynchronousSocketChannel channel, int n) throws Exception {
        ByteBuffer target = ByteBuffer.allocate(n);
        while (target.hasRemaining() && get(channel.read(target)) >= 0) {
            Thread.onSpinWait();
        }
        return text(target);
    }

    /** Writes until a write waits. Returns that write. */
    static Future<Integer> fill(AsynchronousSocketChannel channel) throws Exception {
        Future<Integer> write;
        int quick;
        do {
            write = channel.write(ByteBuffer.allocateDirect(64 * 1024));
            for (quick = 0; quick < 100 && !write.isDone(); quick++) {
                Thread.sleep(2);
            }
        } while (write.isDone());
        return write;
    }

    /** Keeps what it is told, and by whom. The test fails if it is told a second time. */
    static final class Told<V> implements CompletionHandler<V, Object> {
        final CompletableFuture<V> outcome = new CompletableFuture<>();
        volatile Thread by;
        volatile Object attachment;

        @Override
        public void completed(V result, Object attached) {
            by = Thread.currentThread();
            attachment = attached;
            note(outcome.complete(result), result);
        }

        @Override
        public void failed(Throwable failure, Object attached) {
            by = Thread.currentThread();
            attachment = attached;
            note(outcome.completeExceptionally(failure), failure);
        }

        private void note(boolean first, Object told) {
            if (!first) {
                SECOND_CALLS.add(new AssertionError("a handler is called again, with " + told + ", after " + outcome));
            }
        }

        V get() throws Exception {
            return AioSuite.get(outcome);
        }
    }

    interface Completed<V> {
        void accept(V result) throws Exception;
    }

    /** A handler that goes on; what goes wrong is {@code wrong}'s. */
    static <V> CompletionHandler<V, Object> then(CompletableFuture<?> wrong, Completed<V> next) {
        return new CompletionHandler<>() {
            @Override
            public void completed(V result, Object attachment) {
                try {
                    next.accept(result);
                } catch (Throwable e) {
                    wrong.completeExceptionally(e);
                }
            }

            @Override
            public void failed(Throwable failure, Object attachment) {
                wrong.completeExceptionally(failure);
            }
        };
    }
}
