/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.connect;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jrsocket.stream.PendingConnect;
import org.jrsocket.stream.RdmaConnectException;
import org.jrsocket.stream.RdmaStream;
import org.jrsocket.stream.StreamConfig;
import org.jrsocket.verbs.VerbsUnavailableException;

/**
 * One attempt to connect over RDMA, or the decision not to make one, from {@link Connector#attempt}. One thread awaits
 * it; any may cancel it.
 */
public final class ConnectAttempt {

    private final Connector connector;
    private final InetSocketAddress remote;
    private final PeerMemory memory;
    private final Policy policy;
    private final long nanos; // 0 is no limit but the policy's
    private final long start = System.nanoTime();
    private PendingConnect pending; // null: TCP at once
    private boolean first; // to ask a peer that has not answered yet; published by the next
    private volatile long askedAfter = -1; // nanoseconds from the start; negative: not yet
    private TcpReason failure; // of the awaiting thread, as the next
    private Exception detail;
    private final AtomicBoolean tcpEnded = new AtomicBoolean();

    /** To be {@linkplain #start started}. */
    ConnectAttempt(Connector connector, InetSocketAddress remote, PeerMemory memory, Policy policy, long nanos) {
        this.connector = connector;
        this.remote = remote;
        this.memory = memory;
        this.policy = policy;
        this.nanos = nanos;
    }

    /** RDMA is not tried. */
    ConnectAttempt(
            Connector connector, InetSocketAddress remote, PeerMemory memory, TcpReason reason, Exception detail) {
        this(connector, remote, memory, Policy.TCP, 0);
        failure = reason;
        this.detail = detail;
    }

    /** @param devices that the way may begin at */
    void start(StreamFactory rdma, InetSocketAddress local, StreamConfig config, Devices devices)
            throws VerbsUnavailableException {
        pending = rdma.connect(local, remote, config, new PendingConnect.Observer() {
            @Override
            public boolean mayUse(String device, InetAddress from) {
                return devices.include(device, from);
            }

            @Override
            public void asked() {
                first = memory.asked(remote);
                askedAfter = System.nanoTime() - start;
            }

            @Override
            public void answered(PendingConnect.Answer answer) {
                memory.answered(remote, answer, System.nanoTime() - start - askedAfter);
            }
        });
    }

    /** How long RDMA may still take, nanoseconds. */
    private long left() {
        long age = System.nanoTime() - start;
        long left = nanos == 0 ? Long.MAX_VALUE : nanos - age;
        if (policy == Policy.RDMA) {
            return left;
        }
        long asked = askedAfter;
        return Math.min(left, memory.left(remote, age, asked < 0 ? -1 : age - asked, asked >= 0 && first));
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
            RdmaStream stream = pending.await(this::left);
            connector.connected(remote, memory, stream, System.nanoTime() - start);
            return stream;
        } catch (RdmaConnectException e) {
            if (e.reason() == RdmaConnectException.Reason.CANCELLED) {
                throw new SocketException("Socket closed");
            }
            if (policy == Policy.RDMA) {
                throw nanos > 0 && e.reason() == RdmaConnectException.Reason.TIMEOUT ? timedOut(e) : e;
            }
            // An attempt ends after the service thread did what it had to do: one that did not ask had no route.
            boolean resolved = e.reason() != RdmaConnectException.Reason.TIMEOUT || askedAfter >= 0;
            failure = resolved ? TcpReason.of(e.reason()) : TcpReason.UNRESOLVED;
            detail = e;
            connector.failed(remote, failure, e);
            return null;
        }
    }

    /**
     * For those who do not wait: runs {@code action} when {@link #await} has something to say and returns at once,
     * because there is an outcome or RDMA's time is over. On the service thread, or on the caller's if there is an
     * outcome already; must not block.
     */
    public void whenDecided(Runnable action) {
        if (pending == null) {
            action.run();
            return;
        }
        pending.onDone(action);
        if (policy != Policy.RDMA || nanos > 0) {
            pending.expire(this::left);
        }
    }

    private static IOException timedOut(RdmaConnectException cause) {
        SocketTimeoutException e = new SocketTimeoutException("Connect timed out");
        e.initCause(cause);
        return e;
    }

    /** For people: why {@link #await} returned null, with what the device or the library said to that. */
    public String explanation() {
        String said = detail == null ? null : detail.getMessage();
        return (failure == null ? "" : failure.text()) + (said == null ? "" : " (" + said + ")");
    }

    /** Ends the attempt; {@link #await} then says "Socket closed". Harmless when it is over. */
    public void cancel() {
        if (pending != null) {
            pending.cancel();
        }
    }

    /**
     * Says what TCP came to after RDMA failed or was not tried; the first word counts. Only a host that TCP reached is
     * remembered as one that is silent over RDMA: of one that is down, nothing was learned. And only a port on which
     * TCP connected is remembered as one without RDMA: a server that is down will listen on both again.
     *
     * @param tcpFailure null if TCP connected
     */
    public void reportTcpOutcome(IOException tcpFailure) {
        if (failure == null || !tcpEnded.compareAndSet(false, true)) {
            return;
        }
        if (tcpFailure == null && pending != null) {
            connector.fellBack(remote, failure, detail);
        }
        if (tcpFailure == null) {
            Connector.tcpConnected(remote, memory, failure);
        } else if (tcpFailure instanceof ConnectException
                && String.valueOf(tcpFailure.getMessage()).startsWith("Connection refused")) {
            Connector.tcpRefused(remote, memory, failure);
        } else {
            Connector.tcpFailed(remote, memory, failure, tcpFailure);
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
