/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.net;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.List;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.FutureTask;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.concurrent.locks.LockSupport;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jrsocket.testkit.programs.World;

/** A few sockets and server sockets of one kind, two of them connected, and what their programs have to remember. */
final class NetWorld extends World {

    static final int SOCKETS = 4;
    static final int SERVERS = 3;

    private static final Pattern PORT = Pattern.compile("(?<=port=|localport=|:)\\d+");
    private static final ThreadFactory VIRTUAL = virtualThreads();
    private static final long SURELY_SECONDS = 20;

    /** A socket, and what has gone through it. */
    static final class End {
        final Socket socket;
        volatile int local;
        volatile int remote;
        volatile InputStream in;
        volatile OutputStream out;
        final AtomicLong sent = new AtomicLong();
        final AtomicLong got = new AtomicLong();
        /** More was written than anybody counts: what arrives of it is left to chance. */
        volatile boolean flooded;
        /** A read of several steps has failed: nobody knows how much it had read. */
        volatile boolean uncounted;
        /** It has asked for urgent data, which RDMA does not have. */
        volatile boolean inline;
        /** Several threads have read at once: who got what is left to chance. */
        volatile boolean mixed;
        /** How many reads are under way. */
        volatile int reading;
        /** Whether a write waits. */
        volatile boolean writing;

        End(Socket socket) {
            this.socket = socket;
        }

        boolean isBusy() {
            return reading > 0 || writing;
        }

        synchronized void read(int more) {
            reading += more;
            mixed |= reading > 1;
        }

        void connected() {
            local = socket.getLocalPort();
            remote = socket.getPort();
        }
    }

    /** A server socket, and how many connections it has not accepted. */
    static final class Server {
        final ServerSocket socket;
        volatile int port = -1;
        volatile int backlog;
        final AtomicLong pending = new AtomicLong();

        Server(ServerSocket socket) {
            this.socket = socket;
        }
    }

    final SocketKind kind;
    private final AtomicReferenceArray<End> sockets = new AtomicReferenceArray<>(SOCKETS);
    private final AtomicReferenceArray<Server> servers = new AtomicReferenceArray<>(SERVERS);
    private final List<End> ends = new CopyOnWriteArrayList<>();
    private final List<Server> allServers = new CopyOnWriteArrayList<>();

    private String note = "";

    NetWorld(SocketKind kind) throws IOException {
        this.kind = kind;
        for (int i = 0; i < SERVERS; i++) {
            put(i, new Server(kind.serverSocket()));
        }
        for (int i = 0; i < SOCKETS; i++) {
            put(i, new End(kind.socket()));
        }
        try {
            listen(server(0), SocketBehaviour.host(), 50);
            connect(end(0), server(0));
            kind.check(end(0).socket);
            put(1, accept(server(0)));
        } catch (ReflectiveOperationException e) {
            throw new LinkageError("cannot look into a socket", e);
        }
    }

    // ---- sockets ----

    End end(int i) {
        return sockets.get(i);
    }

    End end(Random chance) {
        int i = chance.nextInt(SOCKETS);
        note += " socket " + i;
        return end(i);
    }

    Server server(int i) {
        return servers.get(i);
    }

    Server server(Random chance) {
        int i = chance.nextInt(SERVERS);
        note += " server " + i;
        return server(i);
    }

    void put(int i, End end) {
        ends.add(end);
        sockets.set(i, end);
    }

    void put(int i, Server server) {
        allServers.add(server);
        servers.set(i, server);
    }

    void listen(Server server, InetAddress host, int backlog) throws IOException {
        server.socket.bind(new InetSocketAddress(host, 0), backlog);
        listens(server, backlog);
    }

    void listens(Server server, int backlog) {
        server.port = server.socket.getLocalPort();
        server.backlog = backlog < 1 ? 50 : backlog;
    }

    void connect(End end, Server server) throws IOException {
        server.pending.incrementAndGet();
        end.socket.connect(new InetSocketAddress(SocketBehaviour.host(), server.port));
        end.connected();
    }

    End accept(Server server) throws IOException {
        End accepted = new End(server.socket.accept());
        server.pending.decrementAndGet();
        accepted.connected();
        return accepted;
    }

    /** The other end of its connection; null if there is none of this world's. */
    End peer(End end) {
        for (End each : ends) {
            if (end.local > 0 && each.local == end.remote && each.remote == end.local) {
                return each;
            }
        }
        return null;
    }

    /**
     * Whether the peer has shut its input, and its output too or is closed, with data that it did not read. Over TCP it
     * answers that, or what comes next, with a reset, and writes fail; over RDMA it takes and drops what comes.
     */
    boolean isDropped(End end) {
        End peer = peer(end);
        return peer != null
                && peer.socket.isInputShutdown()
                && (peer.socket.isClosed() || peer.socket.isOutputShutdown())
                && end.sent.get() > peer.got.get();
    }

    /**
     * Whether SO_TIMEOUT is of the time when a read began, and covers its wait for its turn, as ours does. Before JDK
     * 19 it is of the time when the turn came, and covers what follows.
     */
    boolean timeoutsCoverTurns() {
        return SocketBehaviour.jdk() >= 19;
    }

    /** Whether a read would wait, as far as one can see. */
    boolean isSilent(End end) throws IOException {
        End peer = peer(end);
        Socket socket = end.socket;
        return peer != null
                && !socket.isClosed()
                && !socket.isInputShutdown()
                && !peer.socket.isClosed()
                && !peer.socket.isOutputShutdown()
                && socket.getSoTimeout() == 0
                && socket.getInputStream().available() == 0;
    }

    /** Waits until what {@code end} has sent has arrived, as far as one can see it from outside. */
    void arrive(End end) throws InterruptedException {
        End peer = peer(end);
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(1);
        while (peer != null
                && !peer.flooded
                && !peer.uncounted
                && peer.reading == 0
                && !peer.socket.isClosed()
                && !peer.socket.isInputShutdown()
                && System.nanoTime() - deadline < 0) {
            try {
                if (peer.socket.getInputStream().available() >= end.sent.get() - peer.got.get()) {
                    return;
                }
            } catch (IOException e) {
                return;
            }
            Thread.sleep(1);
        }
        news();
    }

    /** Gives news that nobody can see from outside, such as the end of a connection, time to arrive. */
    void news() throws InterruptedException {
        if (kind != SocketKind.INSTALLED) {
            Thread.sleep(Math.max(1, patience() / 4));
            for (End end : ends) {
                try {
                    kind.hear(end.socket);
                } catch (IOException e) {
                    // a call of the program's will meet it
                }
            }
        }
    }

    // ---- calls ----

    /** Makes a call in a thread of its own; it ends, though perhaps late. */
    String surely(Callable<String> call) throws Exception {
        FutureTask<String> task = new FutureTask<>(() -> outcome(call));
        Thread thread = new Thread(task, "call that ends");
        thread.setDaemon(true);
        thread.start();
        try {
            return task.get(SURELY_SECONDS, TimeUnit.SECONDS);
        } catch (TimeoutException e) {
            StringBuilder trace = new StringBuilder("never ends");
            for (StackTraceElement element : thread.getStackTrace()) {
                trace.append("\n      ").append(element);
            }
            return trace.toString();
        }
    }

    /** Makes a call that may wait, in a thread that was perhaps interrupted before. */
    String maybeWaits(Random chance, Callable<String> call) throws InterruptedException {
        boolean interrupted = chance.nextInt(40) == 0;
        boolean virtual = chance.nextInt(3) == 0 && VIRTUAL != null;
        String outcome = mayWait(virtual ? VIRTUAL : Thread::new, () -> {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
            return outcome(call);
        });
        return (virtual ? "virtual " : "") + (interrupted ? "interrupted before: " : "") + outcome;
    }

    String interrupt() {
        return interruptOldest();
    }

    /** What a call returns or throws, and whether its thread is interrupted then. */
    private static String outcome(Callable<String> call) {
        String outcome;
        try {
            outcome = String.valueOf(call.call());
        } catch (NullPointerException e) {
            outcome = "NullPointerException"; // in compiled code the JVM leaves out its message
        } catch (Throwable e) {
            outcome = nameOf(e);
        }
        return Thread.interrupted() ? outcome + ", and interrupted" : outcome;
    }

    /** From JDK 21 on; null before. */
    private static ThreadFactory virtualThreads() {
        try {
            Object builder = Thread.class.getMethod("ofVirtual").invoke(null);
            return (ThreadFactory) Class.forName("java.lang.Thread$Builder")
                    .getMethod("factory")
                    .invoke(builder);
        } catch (ReflectiveOperationException e) {
            return null;
        }
    }

    // ---- texts ----

    /** A port that the kernel chose, by what it belongs to. */
    String port(int port) {
        if (port <= 0) {
            return String.valueOf(port);
        }
        for (int i = allServers.size() - 1; i >= 0; i--) {
            if (allServers.get(i).port == port) {
                return "S" + i;
            }
        }
        return "#";
    }

    String masked(Object text) {
        Matcher matcher = PORT.matcher(String.valueOf(text));
        return matcher.replaceAll(match -> port(Integer.parseInt(match.group())));
    }

    @Override
    protected String note() {
        String last = note;
        note = "";
        return last;
    }

    @Override
    public void close() throws IOException {
        for (End end : ends) {
            End peer = peer(end);
            boolean told = end.isBusy() || peer != null && peer.isBusy();
            end.socket.close();
            if (told) { // before another close tells it something else
                LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(patience()));
            }
        }
        for (Server server : allServers) {
            server.socket.close();
        }
    }
}
