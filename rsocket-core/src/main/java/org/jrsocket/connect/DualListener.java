/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.connect;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.net.BindException;
import java.net.InetSocketAddress;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.LongSupplier;
import org.jrsocket.jfr.Events;
import org.jrsocket.os.Errno;
import org.jrsocket.os.ErrnoException;
import org.jrsocket.stream.RdmaListener;
import org.jrsocket.stream.RdmaStream;
import org.jrsocket.stream.ServiceLoop;
import org.jrsocket.stream.StreamConfig;
import org.jrsocket.stream.Threads;
import org.jrsocket.verbs.VerbsUnavailableException;

/**
 * The RDMA side of a listening socket, and taking connections from RDMA and TCP by turns. The TCP listener stays its
 * owner's; only its descriptor is watched. Safe for use by many threads; one at a time accepts.
 */
public final class DualListener implements AutoCloseable {

    /** A socket API's side of accepting. Called by the thread that accepts. */
    public interface Acceptor<T> {

        /** Takes a TCP connection if one waits there, without waiting; null if none does. */
        T takeTcp() throws IOException;

        /** Makes of {@code stream} what the API hands out. If it throws, the stream is reset. */
        T adopt(RdmaStream stream) throws IOException;
    }

    /** How often a port is tried when those that TCP chose are taken over RDMA. */
    private static final int PORT_ATTEMPTS = 8;

    /** How long a socket waits for its port over RDMA that shares it with nobody: another process may be ending. */
    private static final long WAIT_NANOS = TimeUnit.MINUTES.toNanos(1);

    /** How often a thread that accepts looks for TCP connections once there is no service thread. */
    private static final long LOOK_NANOS = TimeUnit.MILLISECONDS.toNanos(10);

    private final TransportContext context;
    private final Policy policy;
    private final RdmaListener listener;
    private RdmaStream next; // guarded by this: taken from the listener, but not yet accepted
    private ServiceLoop.Watch tcpWatch; // guarded by this; null: no wait for TCP
    private volatile boolean closed; // written under this
    private volatile boolean tcpArmed;
    private volatile boolean signalled;
    private volatile Thread waiter;
    private volatile Runnable observer = () -> {};
    private boolean tcpIsNext; // of the accepting thread: whose turn it is when both have one

    private DualListener(TransportContext context, Policy policy, RdmaListener listener) {
        this.context = context;
        this.policy = policy;
        this.listener = listener;
        listener.onReady(this::rdmaReady);
    }

    // ---- binding ----

    /**
     * Listens over RDMA where TCP is bound, if the policy for the address allows it and a device serves it. A port that
     * RDMA cannot have too is changed, if nobody asked for it; else RDMA waits until it is free.
     *
     * @return null if the socket is to listen over TCP alone
     * @throws BindException the port is taken over RDMA, and the policy wants RDMA
     * @throws SocketException the policy wants RDMA and it cannot be had
     */
    public static DualListener open(TransportContext context, TcpPort tcp, int backlog, StreamConfig config)
            throws IOException {
        for (int attempt = 1; ; attempt++) {
            InetSocketAddress local = tcp.address();
            Policy policy = context.policy(Rules.Action.BIND, local);
            if (policy == Policy.TCP) {
                tcpOnly(context, local, TcpReason.POLICY, null);
                return null;
            }
            try {
                return new DualListener(
                        context, policy, context.rdma().listen(local, backlog, config, context.access(local)));
            } catch (IOException e) {
                TcpReason reason = reason(e);
                if (reason == TcpReason.IN_USE && tcp.isAny() && attempt < PORT_ATTEMPTS) {
                    tcp.change();
                } else if (policy == Policy.RDMA) {
                    throw unavailable(reason, e);
                } else {
                    tcpOnly(context, local, reason, e);
                    return isWorthWaiting(local, e) ? whenFree(context, policy, tcp, backlog, config) : null;
                }
            }
        }
    }

    /**
     * Whether the port may become this socket's. One of a specific address beside the wildcard's would take the port
     * from all other addresses as soon as the wildcard's listener is opened anew.
     */
    private static boolean isWorthWaiting(InetSocketAddress local, IOException e) {
        return reason(e) == TcpReason.IN_USE
                && (((ErrnoException) e).errno() == Errno.EADDRINUSE
                        || local.getAddress().isAnyLocalAddress());
    }

    /**
     * Waits for the port: for as long as the socket shares it, because who has it may hand it over at any time; else
     * for as long as a process takes to end. Not while the rules say TCP. Null where nothing can wait.
     */
    private static DualListener whenFree(
            TransportContext context, Policy policy, TcpPort tcp, int backlog, StreamConfig config) throws IOException {
        InetSocketAddress local = tcp.address();
        RdmaListener.Patience patience = patience(context, local, tcp.isShared(), NanoClock.SYSTEM);
        try {
            return new DualListener(
                    context,
                    policy,
                    context.rdma().listenWhenFree(local, backlog, config, context.access(local), patience));
        } catch (IOException e) { // RDMA has ended meanwhile
            context.log().tcpInstead("listening on", local, reason(e), e);
            return null;
        }
    }

    /** @param clock nanoseconds, as {@link System#nanoTime} */
    static RdmaListener.Patience patience(
            TransportContext context, InetSocketAddress local, boolean shared, LongSupplier clock) {
        long since = clock.getAsLong();
        return () -> {
            if (!shared && clock.getAsLong() - since > WAIT_NANOS) {
                return RdmaListener.Patience.Next.GIVE_UP;
            }
            return context.policy(Rules.Action.BIND, local) == Policy.TCP
                    ? RdmaListener.Patience.Next.NOT_NOW
                    : RdmaListener.Patience.Next.TRY;
        };
    }

    /** Takes note that a socket listens over TCP alone. */
    private static void tcpOnly(TransportContext context, InetSocketAddress local, TcpReason reason, Exception detail) {
        context.log().tcpInstead("listening on", local, reason, detail);
        if (reason != TcpReason.POLICY) {
            Events.fallback(local, true, reason.name(), detail == null ? null : detail.getMessage());
        }
    }

    private static SocketException unavailable(TcpReason reason, IOException cause) {
        SocketException e = reason == TcpReason.IN_USE
                ? new BindException("Address already in use: the RDMA port; see rdma resource show cm_id")
                : new SocketException("cannot listen over RDMA: " + cause.getMessage());
        e.initCause(cause);
        return e;
    }

    static TcpReason reason(IOException e) {
        if (e instanceof VerbsUnavailableException) {
            return TcpReason.UNAVAILABLE;
        }
        if (e instanceof ErrnoException verbs) {
            return switch (verbs.errno()) {
                // the second if one of the two is at the wildcard address: TCP has the address itself
                case Errno.EADDRINUSE, Errno.EADDRNOTAVAIL -> TcpReason.IN_USE;
                case Errno.ENODEV -> TcpReason.NO_DEVICE;
                default -> TcpReason.RESOURCES;
            };
        }
        return TcpReason.RESOURCES;
    }

    /** Whether the policy wants no TCP here: its clients are to be refused. */
    public boolean isRdmaAlone() {
        return policy == Policy.RDMA && context.override() != Policy.TCP;
    }

    // ---- waking ----

    /**
     * Lets the waits end for TCP connections too. Call before the first wait; harmless when repeated.
     *
     * @param fd the TCP listener's descriptor, open until {@link #close}
     */
    public synchronized void watchTcp(int fd) throws IOException {
        if (closed || tcpWatch != null || context.rdma().isOver()) {
            return;
        }
        try {
            tcpWatch = context.rdma().service().watch(fd, this::tcpReadable);
        } catch (VerbsUnavailableException e) {
            if (!context.rdma().isOver()) {
                throw e;
            }
        }
    }

    private void tcpReadable() {
        tcpArmed = false;
        wake();
    }

    private void rdmaReady() {
        wake();
        observer.run();
    }

    private void wake() {
        signalled = true;
        LockSupport.unpark(waiter);
    }

    /**
     * Runs {@code action} when an RDMA connection came where none waited, and at the close. On the service thread; must
     * not block. For those who do not wait; of connections that came before nobody is told.
     */
    public void observe(Runnable action) {
        observer = action;
    }

    // ---- accepting ----

    /** Whether an RDMA connection waits. Any thread. */
    public synchronized boolean isReady() {
        if (next == null && !closed) {
            next = listener.poll();
            if (next != null) {
                context.accepted(next);
            }
        }
        return next != null;
    }

    private synchronized RdmaStream take() {
        RdmaStream taken = isReady() ? next : null;
        next = null;
        return taken;
    }

    /** Takes a connection, from RDMA and TCP by turns when both have one; null if none waits. */
    public <T> T acceptNow(Acceptor<T> acceptor) throws IOException {
        boolean tcpFirst = tcpIsNext;
        tcpIsNext = false;
        T accepted = tcpFirst ? acceptor.takeTcp() : null;
        if (accepted != null) {
            return accepted;
        }
        RdmaStream stream = take();
        if (stream == null) {
            return tcpFirst ? null : acceptor.takeTcp();
        }
        tcpIsNext = true;
        try {
            return acceptor.adopt(stream);
        } catch (IOException | RuntimeException | Error e) {
            stream.abort();
            throw e;
        }
    }

    /**
     * Waits for a connection and takes it, as {@code java.net} does: a platform thread is not disturbed by interrupts.
     *
     * @param nanos 0 waits for ever
     * @throws SocketTimeoutException "Accept timed out"
     * @throws InterruptedIOException a virtual thread was interrupted; its status stays set
     * @throws SocketException "Socket closed"
     */
    public <T> T accept(Acceptor<T> acceptor, long nanos) throws IOException {
        long start = System.nanoTime();
        boolean interrupted = false;
        try {
            while (true) {
                if (closed) {
                    throw new SocketException("Socket closed");
                }
                T accepted = acceptNow(acceptor);
                if (accepted != null) {
                    return accepted;
                }
                long left = nanos == 0 ? 0 : nanos - (System.nanoTime() - start);
                if (nanos > 0 && left <= 0) {
                    throw new SocketTimeoutException("Accept timed out");
                }
                await(left);
                if (!signalled && Thread.currentThread().isInterrupted()) {
                    if (Threads.isVirtual()) {
                        throw new InterruptedIOException("Closed by interrupt");
                    }
                    interrupted |= Thread.interrupted(); // with it set, no wait would wait
                }
            }
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    /**
     * Waits once, for those who look and wait again: until a connection is there, over RDMA or TCP, or the calling
     * thread is interrupted, or this is closed; or for no reason.
     *
     * @param nanos 0 waits for ever
     */
    public void await(long nanos) throws IOException {
        waiter = Thread.currentThread();
        try {
            signalled = false; // before looking, so that what comes after the look signals again
            armTcp();
            if (closed || signalled || isReady()) {
                return;
            }
            if (context.rdma().isOver()) { // nobody tells of TCP connections any more
                LockSupport.parkNanos(this, nanos == 0 ? LOOK_NANOS : Math.min(nanos, LOOK_NANOS));
            } else if (nanos == 0) {
                LockSupport.park(this);
            } else {
                LockSupport.parkNanos(this, nanos);
            }
        } finally {
            waiter = null;
        }
    }

    private synchronized void armTcp() throws IOException {
        if (tcpWatch != null && !tcpArmed && !closed) {
            tcpArmed = true; // before arming: the callback may run first
            tcpWatch.arm();
        }
    }

    /** Stops listening over RDMA and ends a wait. Before the TCP listener is closed. Harmless when repeated. */
    @Override
    public void close() {
        RdmaStream unwanted;
        synchronized (this) {
            closed = true;
            unwanted = next;
            next = null;
            if (tcpWatch != null) {
                tcpWatch.cancel();
            }
        }
        if (unwanted != null) {
            unwanted.abort();
        }
        listener.close();
        rdmaReady();
    }
}
