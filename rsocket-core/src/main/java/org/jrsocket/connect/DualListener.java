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
import org.jrsocket.jfr.Events;
import org.jrsocket.stream.RdmaListener;
import org.jrsocket.stream.RdmaStream;
import org.jrsocket.stream.StreamConfig;
import org.jrsocket.threads.ServiceLoop;
import org.jrsocket.threads.Threads;
import org.jrsocket.verbs.VerbsUnavailableException;

/**
 * The RDMA side of a listening socket, which accepts connections from RDMA and TCP in turn. The TCP listener stays with
 * its owner; only its descriptor is watched. Safe for use by many threads, of which one at a time may accept.
 */
public final class DualListener implements AutoCloseable {

    /** The part of accepting that belongs to the socket API. Called by the accepting thread. */
    public interface Acceptor<T> {

        /** Takes a TCP connection if one is waiting, without blocking; returns null if there is none. */
        T takeTcp() throws IOException;

        /** Makes the object that the API hands out from {@code stream}. If it throws, the stream is reset. */
        T adopt(RdmaStream stream) throws IOException;
    }

    /** How many ports are tried if those that TCP chose are taken over RDMA. */
    private static final int PORT_ATTEMPTS = 8;

    /** How often an accepting thread looks for TCP connections once there is no service thread. */
    private static final long LOOK_NANOS = TimeUnit.MILLISECONDS.toNanos(10);

    /**
     * How often it looks for them before that. The service thread tells of them, unless a device holds it up: a command
     * to an adapter's firmware that hangs takes a minute to fail.
     */
    private static final long HELD_UP_NANOS = TimeUnit.SECONDS.toNanos(1);

    private final TransportContext context;
    private final Policy policy;
    private final RdmaListener listener;
    private RdmaStream next; // guarded by this: taken from the listener, but not yet accepted
    private ServiceLoop.Watch tcpWatch; // guarded by this; null: TCP is not watched
    private volatile boolean closed; // written under this
    private volatile boolean tcpArmed;
    private volatile boolean signalled;
    private volatile Thread waiter;
    private volatile Runnable observer = () -> {};
    private boolean tcpIsNext; // of the accepting thread: it is TCP's turn if both have one

    private DualListener(TransportContext context, Policy policy, RdmaListener listener) {
        this.context = context;
        this.policy = policy;
        this.listener = listener;
        listener.onReady(this::rdmaReady);
    }

    // ---- binding ----

    /**
     * Listens over RDMA where TCP is bound, if the policy for the address allows it and a device serves it. If RDMA
     * cannot have the same port, TCP changes to another one unless that port was asked for; then RDMA waits until it is
     * free.
     *
     * @return null if the socket is to listen over TCP alone
     * @throws BindException if the port is taken over RDMA and the policy requires RDMA
     * @throws SocketException if the policy requires RDMA and it is not available
     */
    public static DualListener open(TransportContext context, TcpPort tcp, int backlog, StreamConfig config)
            throws IOException {
        for (int attempt = 1; ; attempt++) {
            InetSocketAddress local = tcp.address();
            Policy policy = context.policy(Rules.Action.BIND, local);
            if (policy == Policy.TCP) {
                tcpOnly(context, local, TcpReason.POLICY, null);
                return context.settings().listens() && isExpected(context, local)
                        ? whenThereIsRdma(context, policy, tcp, backlog, config)
                        : null;
            }
            try {
                return new DualListener(
                        context, policy, context.rdma().listen(local, backlog, config, context.access(local)));
            } catch (IOException e) {
                TcpReason reason = TcpReason.ofListening(e);
                if (reason == TcpReason.IN_USE && tcp.isAny() && attempt < PORT_ATTEMPTS) {
                    tcp.change();
                } else if (policy == Policy.RDMA) {
                    throw unavailable(reason, e);
                } else {
                    tcpOnly(context, local, reason, e);
                    return PortPatience.isWorthwhile(local, e)
                            ? whenFree(context, policy, tcp, backlog, config)
                            : isExpected(context, local) && mayCome(e)
                                    ? whenThereIsRdma(context, policy, tcp, backlog, config)
                                    : null;
                }
            }
        }
    }

    /** Waits for the port, see {@link PortPatience}. Returns null if it cannot wait. */
    private static DualListener whenFree(
            TransportContext context, Policy policy, TcpPort tcp, int backlog, StreamConfig config) throws IOException {
        InetSocketAddress local = tcp.address();
        RdmaListener.Patience patience = new PortPatience(context, local, tcp.isShared());
        try {
            return new DualListener(
                    context,
                    policy,
                    context.rdma().listenWhenFree(local, backlog, config, context.access(local), patience));
        } catch (IOException e) { // RDMA has ended in the meantime
            context.log().tcpInstead("listening on", local, TcpReason.ofListening(e), e);
            return null;
        }
    }

    /** Returns whether the socket is to listen over RDMA as soon as it can; peers never reach loopback by it. */
    private static boolean isExpected(TransportContext context, InetSocketAddress local) {
        return context.settings().expectsDevice() && !local.getAddress().isLoopbackAddress();
    }

    private static boolean mayCome(IOException e) {
        return e instanceof VerbsUnavailableException verbs
                && verbs.reason() != VerbsUnavailableException.Reason.PLATFORM
                && verbs.reason() != VerbsUnavailableException.Reason.CLOSED;
    }

    /** Listens once there is RDMA and the policy allows it. Returns null if it cannot look for it. */
    private static DualListener whenThereIsRdma(
            TransportContext context, Policy policy, TcpPort tcp, int backlog, StreamConfig config) throws IOException {
        InetSocketAddress local = tcp.address();
        try {
            return new DualListener(
                    context, policy, new ExpectedListener(context, local, tcp.isShared(), backlog, config));
        } catch (VerbsUnavailableException e) {
            context.log().tcpInstead("listening on", local, TcpReason.ofListening(e), e);
            return null;
        }
    }

    /** Records that a socket listens over TCP alone. */
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

    /** Returns whether the policy allows no TCP here, so that TCP clients are to be refused. */
    public boolean isRdmaAlone() {
        return policy == Policy.RDMA && context.override() != Policy.TCP;
    }

    // ---- waking ----

    /**
     * Makes waits end for TCP connections too. To be called before the first wait; harmless when repeated.
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
     * Runs {@code action} when an RDMA connection arrives while none is waiting, and on close. It runs on the service
     * thread, or on the one that closes this, and must not block. For callers that do not wait; connections that
     * arrived earlier are not reported.
     */
    public void observe(Runnable action) {
        observer = action;
    }

    // ---- accepting ----

    /**
     * Fetches an RDMA connection, if one has come and none is waiting already. May be called by any thread.
     *
     * @return whether one is waiting
     */
    public synchronized boolean fetch() {
        if (next == null && !closed) {
            next = listener.poll();
            if (next != null) {
                context.accepted(next);
            }
        }
        return next != null;
    }

    private synchronized RdmaStream take() {
        RdmaStream taken = fetch() ? next : null;
        next = null;
        return taken;
    }

    /** Takes a connection, from RDMA and TCP in turn if both have one; returns null if none is waiting. */
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
     * Waits for a connection and takes it, as {@code java.net} does: interrupts do not end the wait of a platform
     * thread.
     *
     * @param nanos how long to wait, 0 for ever
     * @throws SocketTimeoutException with the message "Accept timed out"
     * @throws InterruptedIOException if a virtual thread was interrupted; its interrupt status stays set
     * @throws SocketException with the message "Socket closed"
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
                    interrupted |= Thread.interrupted(); // while it is set, every wait returns at once
                }
            }
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    /**
     * Waits once, until a connection arrives over RDMA or TCP, the calling thread is interrupted or this is closed. It
     * may also return for no reason, so callers look and wait again.
     *
     * @param nanos how long to wait, 0 for ever
     */
    public void await(long nanos) throws IOException {
        waiter = Thread.currentThread();
        try {
            signalled = false; // before looking: what arrives after the look signals again
            armTcp();
            if (closed || signalled || fetch()) {
                return;
            }
            long most = context.rdma().isOver() ? LOOK_NANOS : HELD_UP_NANOS;
            LockSupport.parkNanos(this, nanos == 0 ? most : Math.min(nanos, most));
        } finally {
            waiter = null;
        }
    }

    private synchronized void armTcp() throws IOException {
        if (tcpWatch != null && !tcpArmed && !closed) {
            boolean done = false;
            tcpArmed = true; // before arming, because the callback may run first
            try {
                tcpWatch.arm();
                done = true;
            } finally {
                if (!done) {
                    tcpArmed = false;
                }
            }
        }
    }

    /** Stops listening over RDMA and ends a wait. Comes before the TCP listener's close; harmless when repeated. */
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
