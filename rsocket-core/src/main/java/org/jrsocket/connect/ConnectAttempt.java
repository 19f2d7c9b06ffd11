/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.connect;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.net.ConnectException;
import java.net.InetSocketAddress;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import org.jrsocket.stream.PendingConnect;
import org.jrsocket.stream.RdmaConnectException;
import org.jrsocket.stream.RdmaStream;

/** One attempt to connect over RDMA, or the decision not to make one, from {@link Connector#attempt}. One thread awaits it; any may cancel it. */
public final class ConnectAttempt {

    private final Connector connector;
    private final PendingConnect pending; // null: TCP at once
    private final InetSocketAddress remote;
    private final Policy policy;
    private final long nanos;
    private final long start = System.nanoTime();
    private TcpReason failure; // of the awaiting thread, as the next
    private Exception detail;

    ConnectAttempt(Connector connector, PendingConnect pending, InetSocketAddress remote, Policy policy, long nanos) {
        this.connector = connector;
        this.pending = pending;
        this.remote = remote;
        this.policy = policy;
        this.nanos = nanos;
    }

    /** RDMA is not tried. */
    ConnectAttempt(Connector connector, InetSocketAddress remote, TcpReason reason, Exception detail) {
        this(connector, null, remote, Policy.TCP, 0);
        failure = reason;
        this.detail = detail;
    }

    /** Whether TCP is to be used at once: RDMA is not tried, and there is nothing to await. */
    public boolean isTcp() {
        return pending == null;
    }

    /**
     * Waits for the outcome, within RDMA's budget.
     *
     * @return the stream, or null if TCP is to be tried; then tell {@link #reportTcpOutcome} what came of it
     * @throws InterruptedIOException a virtual thread was interrupted
     * @throws SocketException "Socket closed" after {@link #cancel}
     * @throws IOException the policy wants RDMA and RDMA failed
     */
    public RdmaStream await() throws IOException {
        if (pending == null) {
            return null;
        }
        try {
            RdmaStream stream = pending.await(nanos);
            connector.connected(remote, stream, System.nanoTime() - start);
            return stream;
        } catch (RdmaConnectException e) {
            if (e.reason() == RdmaConnectException.Reason.CANCELLED) {
                throw new SocketException("Socket closed");
            }
            if (policy == Policy.RDMA) {
                throw nanos > 0 && e.reason() == RdmaConnectException.Reason.TIMEOUT ? timedOut(e) : e;
            }
            failure = TcpReason.of(e.reason());
            detail = e;
            connector.failed(remote, failure, e);
            return null;
        }
    }

    /**
     * For those who do not wait: runs {@code action} when {@link #await} has something to say and returns at once, because there is an outcome or
     * RDMA's time is over. On the service thread, or on the caller's if there is an outcome already; must not block.
     */
    public void whenDecided(Runnable action) {
        if (pending == null) {
            action.run();
            return;
        }
        pending.onDone(action);
        if (nanos > 0 && !pending.isDone()) {
            connector.schedule(() -> pending.expire(nanos), nanos);
        }
    }

    private static IOException timedOut(RdmaConnectException cause) {
        SocketTimeoutException e = new SocketTimeoutException("Connect timed out");
        e.initCause(cause);
        return e;
    }

    /** For people: why {@link #await} returned null. */
    public String failure() {
        return failure == null ? "" : failure.text();
    }

    /** For people: what the device or the library said to that; may be null. */
    public String detail() {
        return detail == null ? null : detail.getMessage();
    }

    /** Ends the attempt; {@link #await} then says "Socket closed". Harmless when it is over. */
    public void cancel() {
        if (pending != null) {
            pending.cancel();
        }
    }

    /**
     * Says what TCP came to after RDMA failed. Only a peer that TCP reached is remembered as one without RDMA: of one that is down, nothing was
     * learned.
     *
     * @param tcpFailure null if TCP connected
     */
    public void reportTcpOutcome(IOException tcpFailure) {
        if (failure == null || pending == null) {
            return;
        }
        if (tcpFailure == null) {
            connector.fellBack(remote, failure, detail);
        }
        if (tcpFailure == null || tcpFailure instanceof ConnectException && String.valueOf(tcpFailure.getMessage()).startsWith("Connection refused")) {
            connector.remember(remote, failure, nanos);
        }
    }

    InetSocketAddress remote() {
        return remote;
    }

    TcpReason reason() {
        return failure;
    }

    long start() {
        return start;
    }
}
