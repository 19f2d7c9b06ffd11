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
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jrsocket.connect.Ways.Way;
import org.jrsocket.stream.RdmaConnectException;
import org.jrsocket.stream.RdmaStream;
import org.jrsocket.verbs.VerbsUnavailableException;

/**
 * One attempt to connect over RDMA, or the decision not to make one, as a connector makes it. If several devices
 * reach the peer and the one whose turn it is does not get through, the attempt goes on with the next within the same
 * time. One thread awaits it; any thread may cancel it.
 */
public final class ConnectAttempt {

    /** A way that did not get through. */
    private record Failed(PeerMemory memory, TcpReason reason, Exception why) {}

    private final Outcomes outcomes;
    private final InetSocketAddress remote;
    private final Policy policy;
    private final long nanos; // 0: no limit but the policy's
    private final long start = System.nanoTime();
    private final WaysInTurn ways; // null: none were looked for
    private final WayAttempt.Maker maker; // null: TCP at once; likewise the next
    private volatile WayAttempt current; // written under this object's lock by the awaiting or the service thread
    private boolean cancelled; // guarded by this
    // This field and all that follow belong to the thread that awaits or decides.
    private final List<Failed> failed = new ArrayList<>(1);
    private int silences; // ways that were silent
    private TcpReason failure;
    private Exception detail;
    private Throwable trouble; // what kept the next way from being tried
    private final AtomicBoolean tcpEnded = new AtomicBoolean();

    /** Makes an attempt that is to be {@linkplain #start started}. */
    ConnectAttempt(
            Outcomes outcomes,
            InetSocketAddress remote,
            WaysInTurn ways,
            WayAttempt.Maker maker,
            Policy policy,
            long nanos) {
        this.outcomes = outcomes;
        this.remote = remote;
        this.ways = ways;
        this.maker = maker;
        this.policy = policy;
        this.nanos = nanos;
    }

    /**
     * Makes an attempt that does not try RDMA.
     *
     * @param ways none of which is worth trying, or null
     */
    ConnectAttempt(
            Outcomes outcomes,
            InetSocketAddress remote,
            WaysInTurn ways,
            PeerMemory memory,
            TcpReason reason,
            Exception detail) {
        this(outcomes, remote, ways, null, Policy.TCP, 0);
        failed.add(new Failed(memory, reason, detail));
        failure = reason;
        this.detail = detail;
    }

    /** Starts with this way. Returns false, and the attempt is over, if it was cancelled. */
    boolean start(Way way) throws VerbsUnavailableException {
        int others = ways.left();
        // Silent ways share the head start, and those that were not waited for leave their share to the others. A
        // connection without TCP to fall back on gives each way the whole head start, and the last way all the time
        // that is left.
        int shares = policy == Policy.RDMA ? 1 : 1 + others + silences;
        long limit = nanos == 0 ? 0 : Math.max(1, (nanos - (System.nanoTime() - start)) / (1 + others));
        boolean insists = policy == Policy.RDMA;
        AttemptTime time = new AttemptTime(way.memory(), remote, shares, limit, !insists || others > 0);
        WayAttempt next = new WayAttempt(way, remote, time, !insists);
        synchronized (this) {
            if (cancelled) {
                return false;
            }
            next.start(maker);
            current = next;
        }
        return true;
    }

    /** Returns whether TCP is to be used at once, because RDMA is not tried and there is nothing to await. */
    public boolean isTcp() {
        return current == null;
    }

    /**
     * Waits for the outcome, within RDMA's budget.
     *
     * @return the stream, or null if TCP is to be tried, whose outcome {@link #reportTcpOutcome} then has to be told
     * @throws InterruptedIOException if a virtual thread was interrupted
     * @throws SocketException with the message "Socket closed" after {@link #cancel}
     * @throws IOException if the policy requires RDMA and RDMA failed
     */
    public RdmaStream await() throws IOException {
        if (current == null) {
            return null;
        }
        if (trouble != null) {
            throw new IOException(trouble);
        }
        for (; ; ) {
            WayAttempt now = current;
            try {
                return told(now, now.await());
            } catch (RdmaConnectException e) {
                if (e.reason() == RdmaConnectException.Reason.CANCELLED) {
                    throw new SocketException("Socket closed");
                }
                if (goOn(now, e)) {
                    continue;
                }
                if (isCancelled()) { // between two ways
                    throw new SocketException("Socket closed");
                }
                if (policy == Policy.RDMA) {
                    failed.forEach(each -> e.addSuppressed(each.why));
                    throw nanos > 0 && e.reason() == RdmaConnectException.Reason.TIMEOUT ? timedOut(e) : e;
                }
                failure = now.reason(e);
                detail = e;
                failed.add(new Failed(now.memory(), failure, e));
                outcomes.failed(remote, failure, e);
                return null;
            } catch (RuntimeException | Error e) { // nothing awaits the attempt any more
                cancel();
                throw e;
            }
        }
    }

    /** Records the connection, which has no owner yet. */
    private RdmaStream told(WayAttempt now, RdmaStream stream) {
        try {
            failed.forEach(each -> Outcomes.connectedOtherwise(remote, each.memory, each.reason));
            skippedReached();
            outcomes.connected(remote, now.memory(), stream, System.nanoTime() - start);
            return stream;
        } catch (RuntimeException | Error e) { // a logger that fails, or lack of memory
            stream.abort();
            throw e;
        }
    }

    /**
     * Tries the next way if that may get through where this one did not and there is time. Returns whether it does; if
     * not, nothing has changed.
     */
    private boolean goOn(WayAttempt now, RdmaConnectException e) {
        TcpReason reason = now.reason(e);
        if (ways.left() == 0 || !isOfTheWay(reason) || nanos > 0 && System.nanoTime() - start >= nanos) {
            return false;
        }
        Way next = ways.next();
        if (next == null) {
            return false;
        }
        silences += reason == TcpReason.TIMEOUT ? 1 : 0;
        try {
            if (!start(next)) {
                return false;
            }
        } catch (VerbsUnavailableException unavailable) {
            e.addSuppressed(unavailable);
            return false;
        }
        failed.add(new Failed(now.memory(), reason, e));
        outcomes.triesAnother(remote, now.way().from(), next.from(), e);
        return true;
    }

    /** Returns whether another device may get through. What the peer itself has said it would say again. */
    private static boolean isOfTheWay(TcpReason reason) {
        return switch (reason) {
            case NO_DEVICE, UNRESOLVED, UNREACHABLE, TIMEOUT, RESOURCES -> true;
            default -> false;
        };
    }

    /**
     * Runs {@code action} when {@link #await} would return at once, because there is an outcome or RDMA's time is over.
     * For callers that do not wait. The action runs on the service thread or a maker, or on the caller's if there is
     * an outcome already, and must not block.
     */
    void whenDecided(Runnable action) {
        tell(new Once(action));
    }

    private void tell(Once action) {
        WayAttempt now = current;
        if (now == null) {
            action.run();
            return;
        }
        now.onDone(() -> {
            boolean goesOn = false;
            try {
                RdmaConnectException e = ways.left() == 0 ? null : now.failure();
                goesOn = e != null && e.reason() != RdmaConnectException.Reason.CANCELLED && goOn(now, e);
                if (goesOn) {
                    tell(action);
                }
            } catch (RuntimeException | Error e) { // the waiting caller has to be told
                if (action.hasRun()) {
                    throw e;
                }
                goesOn = false;
                trouble = e;
                cancel();
            }
            if (!goesOn) {
                action.run();
            }
        });
    }

    private static IOException timedOut(RdmaConnectException cause) {
        SocketTimeoutException e = new SocketTimeoutException("Connect timed out");
        e.initCause(cause);
        return e;
    }

    /** Returns a readable explanation of why {@link #await} returned null, with what the device or the library said. */
    public String explanation() {
        return failure == null ? "" : failure.text(detail);
    }

    /** Ends the attempt; {@link #await} then fails with "Socket closed". Has no effect if the attempt is over. */
    void cancel() {
        WayAttempt now;
        synchronized (this) {
            cancelled = true;
            now = current;
        }
        if (now != null) {
            now.cancel();
        }
    }

    private synchronized boolean isCancelled() {
        return cancelled;
    }

    /**
     * Reports the outcome of TCP after RDMA failed or was not tried; only the first report counts. A host is remembered
     * as silent over RDMA only if TCP reached it, because nothing is learned from one that is down. A port is
     * remembered as one without RDMA only if TCP connected to it, because a server that is down will listen on both
     * again.
     *
     * @param tcpFailure null if TCP connected
     */
    public void reportTcpOutcome(IOException tcpFailure) {
        if (failure == null || !tcpEnded.compareAndSet(false, true)) {
            return;
        }
        if (tcpFailure == null && current != null) {
            outcomes.fellBack(remote, failure, detail);
        }
        if (tcpFailure == null) {
            skippedReached();
        }
        for (Failed each : failed) {
            if (tcpFailure == null) {
                Outcomes.connectedOtherwise(remote, each.memory, each.reason);
            } else if (tcpFailure instanceof ConnectException
                    && String.valueOf(tcpFailure.getMessage()).startsWith("Connection refused")) {
                Outcomes.tcpRefused(remote, each.memory, each.reason);
            } else {
                Outcomes.tcpFailed(remote, each.memory, each.reason, tcpFailure);
            }
        }
    }

    /** Records that the host is up: of the ways that were not worth trying, those that owe an answer are silent. */
    private void skippedReached() {
        if (ways != null) {
            ways.skipped().forEach(way -> way.memory().reached(remote));
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
