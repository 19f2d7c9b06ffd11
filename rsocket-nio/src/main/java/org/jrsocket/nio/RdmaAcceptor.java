/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.nio;

import java.io.IOException;
import java.net.BindException;
import java.net.InetSocketAddress;
import java.net.SocketException;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.jrsocket.connect.DualListener;
import org.jrsocket.stream.RdmaStream;
import org.jrsocket.stream.ServiceLoop;
import org.jrsocket.stream.StreamConfig;

/**
 * The RDMA side of a server channel: a {@link DualListener} with a look that takes nothing away, and with a wait that
 * an interrupt ends, as channels want it. Safe for use by many threads; one at a time waits.
 */
final class RdmaAcceptor {

    private final RSelectorProvider provider;
    private final DualListener listener;
    private RdmaStream next; // guarded by this: taken from the listener, but not yet by the application
    private boolean closed; // guarded by this
    private volatile Thread waiter;
    private volatile boolean signalled;
    private volatile Runnable observer = () -> {};
    private ServiceLoop.Watch tcpWatch; // guarded by this

    private RdmaAcceptor(RSelectorProvider provider, DualListener listener) {
        this.provider = provider;
        this.listener = listener;
        listener.observe(this::signal);
    }

    /**
     * Listens over RDMA where the policy for the address allows it and a device serves it.
     *
     * @param local with the port that TCP has
     * @return null if the channel is to listen over TCP alone
     * @throws BindException the port is taken over RDMA
     * @throws SocketException the policy wants RDMA and it cannot be had
     */
    static RdmaAcceptor open(RSelectorProvider provider, InetSocketAddress local, int backlog, StreamConfig config)
            throws SocketException {
        DualListener listener = DualListener.open(provider.stack(), local, backlog, config);
        return listener == null ? null : new RdmaAcceptor(provider, listener);
    }

    /** Runs {@code action} when a connection came where none waited; must not block. */
    void observe(Runnable action) {
        observer = action;
    }

    private void signal() {
        signalled = true;
        LockSupport.unpark(waiter);
        observer.run();
    }

    /** Whether a connection waits. */
    synchronized boolean isReady() {
        if (next == null && !closed) {
            next = listener.poll();
        }
        return next != null;
    }

    /** Takes a connection, or null if none waits. */
    synchronized RdmaStream take() {
        if (!isReady()) {
            return null;
        }
        RdmaStream taken = next;
        next = null;
        return taken;
    }

    /**
     * Waits until a connection is there, over RDMA or TCP, or the calling thread is interrupted, or this is closed; or
     * for no reason.
     *
     * @param tcpDescriptor the TCP listener's, -1 if there is none
     * @param over whether a wait makes no sense any more
     * @param nanos 0 waits for ever
     */
    void await(int tcpDescriptor, BooleanSupplier over, long nanos) throws IOException {
        waiter = Thread.currentThread();
        try {
            signalled = false; // before looking, so that what comes after the look signals again
            if (!armTcp(tcpDescriptor) || signalled || isReady() || over.getAsBoolean()) {
                return;
            }
            if (nanos == 0) {
                LockSupport.park(this);
            } else {
                LockSupport.parkNanos(this, nanos);
            }
        } finally {
            waiter = null;
        }
    }

    /** Whether this is open. */
    private synchronized boolean armTcp(int tcpDescriptor) throws IOException {
        if (closed) {
            return false;
        }
        if (tcpDescriptor >= 0) {
            if (tcpWatch == null) {
                tcpWatch = provider.holder().transport().service().watch(tcpDescriptor, this::signalWaiter);
            }
            tcpWatch.arm();
        }
        return true;
    }

    private void signalWaiter() {
        signalled = true;
        LockSupport.unpark(waiter);
    }

    /** Stops listening over RDMA and ends a wait; before the TCP listener is closed. Harmless when repeated. */
    void close() {
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
        signal();
    }
}
