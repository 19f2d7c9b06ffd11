/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.aio;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.io.Closeable;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.AsynchronousChannelGroup;
import java.nio.channels.AsynchronousServerSocketChannel;
import java.nio.channels.AsynchronousSocketChannel;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Asynchronous channels over RDMA, by loopback verbs. */
class LoopbackAioTest extends AioBehaviours {

    private static AioKind kind;

    @BeforeAll
    static void open() throws Exception {
        kind = AioKind.loopback();
    }

    @AfterAll
    static void everythingIsGivenBack() throws Exception {
        kind.assertUsedIfConnected();
        kind.close();
    }

    @Override
    AioKind kind() {
        return kind;
    }

    /** Although the thread that selects has taken what it found before the close, and calls a handler next. */
    @Test
    @Timeout(120)
    void shouldHaveFreedThePortOnceClosed() throws Exception {
        AsynchronousChannelGroup group = kind.provider().openAsynchronousChannelGroup(1, AioSuite.daemons("one"));
        CountDownLatch done = new CountDownLatch(1);
        try (AsynchronousServerSocketChannel others = kind.provider().openAsynchronousServerSocketChannel(null);
                AsynchronousServerSocketChannel closing = kind.provider().openAsynchronousServerSocketChannel(group);
                AsynchronousSocketChannel client = kind.provider().openAsynchronousSocketChannel(group)) {
            others.bind(new InetSocketAddress(kind.address(), 0));
            closing.bind(new InetSocketAddress(kind.address(), 0));
            SocketAddress address = closing.getLocalAddress();
            closing.accept(null, new AioSuite.Told<AsynchronousSocketChannel>());
            Future<Void> connecting = client.connect(others.getLocalAddress());
            AsynchronousSocketChannel server = AioSuite.get(others.accept());
            AioSuite.get(connecting);
            client.read(ByteBuffer.allocate(1), null, AioSuite.then(new CompletableFuture<>(), (Integer n) -> {
                done.await();
            }));
            Thread closer = closerOf(closing);
            Thread selecting = threadOf("one");
            synchronized (((RAsynchronousSocketChannel) client).readiness()) {
                AioSuite.get(server.write(AioSuite.text("x")));
                awaitState(selecting, Thread.State.BLOCKED); // it has selected, and is about to note what
                closer.start();
                awaitState(closer, Thread.State.WAITING); // until the selector has forgotten it
            }
            closer.join();
            try (AsynchronousServerSocketChannel next = kind.provider().openAsynchronousServerSocketChannel(null)) {
                next.bind(address);
            }
            server.close();
        } finally {
            done.countDown();
            group.shutdownNow();
        }
    }

    /** The JDK's channels are of no use afterwards. */
    @Test
    void shouldNotBeginWhatItCannotTime() throws Exception {
        try (AsynchronousServerSocketChannel listener = kind.provider().openAsynchronousServerSocketChannel(null);
                AsynchronousSocketChannel client = kind.provider().openAsynchronousSocketChannel(null)) {
            listener.bind(new InetSocketAddress(kind.address(), 0));
            Future<Void> connecting = client.connect(listener.getLocalAddress());
            try (AsynchronousSocketChannel server = AioSuite.get(listener.accept())) {
                AioSuite.get(connecting);
                AioSuite.Told<Integer> never = new AioSuite.Told<>();
                ByteBuffer untouched = ByteBuffer.allocate(1);
                assertThrows(NullPointerException.class, () -> client.read(untouched, 1, null, null, never));
                AioSuite.Told<Integer> told = new AioSuite.Told<>();
                client.read(ByteBuffer.allocate(1), 1, TimeUnit.HOURS, null, told);
                AioSuite.get(server.write(AioSuite.text("x")));
                assertEquals(1, told.get());
                assertEquals(0, untouched.position());
                assertFalse(never.outcome.isDone());
            }
        }
    }

    private static Thread closerOf(Closeable channel) {
        return new Thread(() -> {
            try {
                channel.close();
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        });
    }

    private static Thread threadOf(String name) {
        return Thread.getAllStackTraces().keySet().stream()
                .filter(thread -> thread.getName().equals(name))
                .findAny()
                .orElseThrow();
    }

    private static void awaitState(Thread thread, Thread.State state) throws InterruptedException {
        while (thread.getState() != state) {
            Thread.sleep(1); // the test's time limit ends it
        }
    }
}
