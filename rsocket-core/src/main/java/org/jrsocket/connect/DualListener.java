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
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
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
 * The RDMA side of a listening socket, and the wait for whichever of RDMA and TCP has a connection first. The TCP
 * listener stays its owner's; only its descriptor is watched. One thread at a time may {@linkplain #await wait};
 * {@link #close} comes from any.
 */
public final class DualListener implements AutoCloseable {

    private final TransportContext stack;
    private final RdmaListener listener;
    // these two are set before the first wait; null when TCP is not listened on
    private ServiceLoop.Watch tcpWatch;
    private BooleanSupplier tcpReady;
    private volatile boolean tcpArmed;
    private volatile boolean signalled;
    private volatile Thread waiter;
    private volatile boolean closed;
    private volatile Runnable observer = () -> {};
    private boolean tcpIsNext; // of the waiting thread: whose turn it is when both have one

    private DualListener(TransportContext stack, RdmaListener listener) {
        this.stack = stack;
        this.listener = listener;
        listener.onReady(this::signal);
    }

    /**
     * Listens over RDMA where the policy for the address allows it and a device serves it.
     *
     * @param local with the port that TCP has
     * @return null if the socket is to listen over TCP alone
     * @throws BindException the port is taken over RDMA: choose another if it was free to choose, else {@link #tcpOnly}
     *     says so
     * @throws SocketException the policy wants RDMA and it cannot be had
     */
    public static DualListener open(TransportContext stack, InetSocketAddress local, int backlog, StreamConfig config)
            throws SocketException {
        Policy policy = stack.policy(Rules.Action.BIND, local);
        if (policy == Policy.TCP) {
            tcpOnly(stack, local, TcpReason.POLICY, null);
            return null;
        }
        try {
            return new DualListener(stack, stack.rdma().listen(local, backlog, config));
        } catch (IOException e) {
            TcpReason reason = reason(e);
            if (reason == TcpReason.IN_USE) {
                throw withCause(new BindException("Address already in use"), e);
            }
            if (policy == Policy.RDMA) {
                throw withCause(new SocketException("cannot listen over RDMA: " + e.getMessage()), e);
            }
            tcpOnly(stack, local, reason, e);
            return null;
        }
    }

    /** Takes note that a socket listens over TCP alone. */
    public static void tcpOnly(TransportContext stack, InetSocketAddress local, TcpReason reason, Exception detail) {
        stack.log().tcpInstead("listening on", local, reason, detail);
        if (reason != TcpReason.POLICY) {
            Events.fallback(local, true, reason.name(), detail == null ? null : detail.getMessage());
        }
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

    private static <E extends Exception> E withCause(E e, Exception cause) {
        e.initCause(cause);
        return e;
    }

    /**
     * Lets the waits end for TCP connections too. Call before the first wait.
     *
     * @param fd the TCP listener's descriptor, open until {@link #close}
     * @param ready whether a connection waits there now; must not block
     */
    public void watchTcp(int fd, BooleanSupplier ready) throws IOException {
        tcpReady = ready;
        tcpWatch = stack.rdma().service().watch(fd, this::tcpReadable);
    }

    private void tcpReadable() {
        tcpArmed = false;
        signal();
    }

    private void signal() {
        signalled = true;
        LockSupport.unpark(waiter);
        observer.run();
    }

    /**
     * Runs {@code action} when an RDMA connection came where none waited, and at the ends of the waits for TCP. On the
     * service thread; must not block. For those who do not {@link #await}; of connections that came before nobody is
     * told.
     */
    public void observe(Runnable action) {
        observer = action;
    }

    /** Takes an RDMA connection, or null if none waits. Any thread. */
    public RdmaStream poll() {
        RdmaStream stream = listener.poll();
        if (stream != null) {
            stack.accepted(stream);
        }
        return stream;
    }

    /**
     * Waits for a connection. A platform thread is not disturbed by interrupts.
     *
     * @param nanos 0 waits for ever
     * @return the stream, or null: a TCP connection waits (and may be gone again when it is accepted)
     * @throws SocketTimeoutException "Accept timed out"
     * @throws InterruptedIOException a virtual thread was interrupted; its status stays set
     * @throws SocketException "Socket closed"
     */
    public RdmaStream await(long nanos) throws IOException {
        long start = System.nanoTime();
        boolean interrupted = false;
        waiter = Thread.currentThread();
        try {
            while (true) {
                signalled = false; // before looking, so that what comes after the look signals again
                if (closed) {
                    throw new SocketException("Socket closed");
                }
                RdmaStream stream = tcpIsNext ? null : takeRdma();
                if (stream != null) {
                    return stream;
                }
                if (tcpReady != null && tcpReady.getAsBoolean()) {
                    tcpIsNext = false;
                    return null;
                }
                stream = tcpIsNext ? takeRdma() : null;
                if (stream != null) {
                    return stream;
                }
                armTcp();
                interrupted |= park(nanos, start);
            }
        } finally {
            waiter = null;
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    private RdmaStream takeRdma() {
        RdmaStream stream = poll();
        tcpIsNext |= stream != null;
        return stream;
    }

    private void armTcp() throws IOException {
        if (tcpWatch != null && !tcpArmed) {
            tcpArmed = true; // before arming: the callback may run first
            try {
                tcpWatch.arm();
            } catch (IOException e) {
                throw closed ? new SocketException("Socket closed") : e;
            }
        }
    }

    /**
     * Sleeps until a signal or the end of the time; true if the thread was interrupted meanwhile, whose status is
     * cleared so that it can sleep.
     */
    private boolean park(long nanos, long start) throws IOException {
        boolean interrupted = false;
        while (!signalled && !closed) {
            if (nanos == 0) {
                LockSupport.park(this);
            } else {
                long left = nanos - (System.nanoTime() - start);
                if (left <= 0) {
                    if (interrupted) {
                        Thread.currentThread().interrupt();
                    }
                    throw new SocketTimeoutException("Accept timed out");
                }
                LockSupport.parkNanos(this, left);
            }
            if (Thread.currentThread().isInterrupted()) {
                if (Threads.isVirtual()) {
                    throw new InterruptedIOException("Closed by interrupt");
                }
                interrupted |= Thread.interrupted();
            }
        }
        return interrupted;
    }

    /** Stops listening over RDMA and ends a wait. Before the TCP listener is closed. Harmless when repeated. */
    @Override
    public void close() {
        closed = true;
        if (tcpWatch != null) {
            tcpWatch.cancel();
        }
        listener.close();
        LockSupport.unpark(waiter);
    }
}
