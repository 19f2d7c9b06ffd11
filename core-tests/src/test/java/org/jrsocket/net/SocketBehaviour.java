/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.net;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.io.Closeable;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.util.Queue;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.function.Executable;

/**
 * What every behavioural test of {@code java.net} sockets shares. The tests know {@code java.net} alone and must pass
 * on plain JDK sockets first; then, unchanged, on each {@link SocketKind}.
 */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
abstract class SocketBehaviour {

    /** In milliseconds. */
    private static final long A_MOMENT = 100;

    private final Queue<Closeable> open = new ConcurrentLinkedQueue<>();

    private final SocketKind kind;

    SocketBehaviour(SocketKind kind) {
        this.kind = kind;
    }

    SocketKind kind() {
        return kind;
    }

    @AfterEach
    void closeAll() throws IOException {
        for (Closeable one : open) {
            one.close();
        }
    }

    // ---- sockets ----

    /** Where servers listen: a device's address where there is one. */
    static InetAddress host() throws IOException {
        return InetAddress.getByName(System.getProperty("org.jrsocket.test.address", "127.0.0.1"));
    }

    /** The same for IPv6. */
    static InetAddress host6() throws IOException {
        return InetAddress.getByName(System.getProperty("org.jrsocket.test.address6", "::1"));
    }

    <T extends Closeable> T closeLater(T one) {
        open.add(one);
        return one;
    }

    Socket newSocket() throws IOException {
        return closeLater(kind().socket());
    }

    ServerSocket newServer() throws IOException {
        return closeLater(kind().serverSocket());
    }

    ServerSocket listening() throws IOException {
        ServerSocket server = newServer();
        server.bind(new InetSocketAddress(host(), 0));
        return server;
    }

    Socket connectTo(ServerSocket server) throws IOException {
        Socket client = newSocket();
        client.connect(server.getLocalSocketAddress());
        check(client);
        return client;
    }

    Socket accept(ServerSocket server) throws IOException {
        Socket accepted = closeLater(server.accept());
        check(accepted);
        return accepted;
    }

    private void check(Socket connected) {
        try {
            kind.check(connected);
        } catch (ReflectiveOperationException e) {
            throw new LinkageError("cannot look into " + connected, e);
        }
    }

    /** A connection. */
    Pair pair() throws IOException {
        try (ServerSocket server = listening()) {
            Socket client = connectTo(server);
            return new Pair(client, accept(server));
        }
    }

    record Pair(Socket client, Socket server) {
        InputStream clientIn() throws IOException {
            return client.getInputStream();
        }

        OutputStream clientOut() throws IOException {
            return client.getOutputStream();
        }

        InputStream serverIn() throws IOException {
            return server.getInputStream();
        }

        OutputStream serverOut() throws IOException {
            return server.getOutputStream();
        }
    }

    /** A server that will not take one more connection, so that connecting to it waits. */
    ServerSocket full() throws IOException {
        ServerSocket server = newServer();
        server.bind(new InetSocketAddress(host(), 0), 1);
        for (int i = 0, inVain = 0; i < 16; i++) {
            Socket client = newSocket();
            try {
                client.connect(server.getLocalSocketAddress(), 400);
                inVain = 0;
            } catch (SocketTimeoutException e) {
                inVain++; // the first time the machine may have been busy, and no more
            }
            if (inVain == 2) {
                return server;
            }
        }
        return Assumptions.abort("the backlog does not fill");
    }

    // ---- threads ----

    /** A thread at work. */
    static final class Work<T> {
        final Thread thread;
        private final FutureTask<T> task;

        private Work(Thread thread, FutureTask<T> task) {
            this.thread = thread;
            this.task = task;
        }

        T get() throws Exception {
            try {
                return task.get(50, TimeUnit.SECONDS);
            } catch (ExecutionException e) {
                throw e.getCause() instanceof Exception cause ? cause : e;
            }
        }

        boolean isDone() {
            return task.isDone();
        }

        private boolean isInside() {
            return Stream.of(thread.getStackTrace())
                    .anyMatch(frame -> frame.getClassName().startsWith("java.net."));
        }
    }

    static <T> Work<T> start(Callable<T> work) {
        FutureTask<T> task = new FutureTask<>(work);
        Thread thread = new Thread(task, "test-worker");
        thread.setDaemon(true);
        thread.start();
        return new Work<>(thread, task);
    }

    /** On a virtual thread: for tests that are enabled from JDK 21 on. */
    static <T> Work<T> startVirtual(Callable<T> work) throws Exception {
        FutureTask<T> task = new FutureTask<>(work);
        Thread thread = (Thread)
                Thread.class.getMethod("startVirtualThread", Runnable.class).invoke(null, task);
        return new Work<>(thread, task);
    }

    /** Time enough for what is on its way to arrive; if it has not, the outcome has to be the same. */
    static void aMoment() throws InterruptedException {
        Thread.sleep(A_MOMENT);
    }

    /**
     * Returns when each of them has been inside a call of {@code java.net} for a moment, where it waits by then; or has
     * ended.
     */
    static void awaitWaiting(Work<?>... works) throws InterruptedException {
        for (Work<?> work : works) {
            for (int seen = 0; seen < 2 && !work.isDone(); seen = work.isInside() ? seen + 1 : 0) {
                Thread.sleep(A_MOMENT);
            }
        }
    }

    // ---- what is thrown ----

    static void assertThrowsSaying(Class<? extends Exception> type, String message, Executable action) {
        assertEquals(message, assertThrows(type, action).getMessage());
    }

    static void assertSocketException(String message, Executable action) {
        Exception e = assertThrows(SocketException.class, action);
        assertEquals(message, e.getMessage());
    }

    static boolean hasIpv6() throws IOException {
        try (ServerSocket probe = new ServerSocket()) {
            probe.bind(new InetSocketAddress(host6(), 0));
            return true;
        } catch (SocketException e) {
            return false;
        }
    }

    static int jdk() {
        return Runtime.version().feature();
    }
}
