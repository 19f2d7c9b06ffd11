/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.connect;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import java.util.function.IntConsumer;
import java.util.function.LongSupplier;
import java.util.function.UnaryOperator;
import org.jrsocket.stream.Access;
import org.jrsocket.stream.PendingConnect;
import org.jrsocket.stream.PendingConnect.Answer;
import org.jrsocket.stream.PendingConnect.Observer;
import org.jrsocket.stream.RdmaConnectException;
import org.jrsocket.stream.RdmaConnectException.Reason;
import org.jrsocket.stream.RdmaListener;
import org.jrsocket.stream.RdmaStream;
import org.jrsocket.stream.StreamConfig;
import org.jrsocket.threads.ServiceLoop;
import org.jrsocket.verbs.VerbsUnavailableException;

/**
 * An RDMA stack whose attempts fail as a test wants: with TIMEOUT when their time is over, else at once. Success is the
 * loopback verbs' business.
 */
final class FakeRdma implements StreamFactory {

    /** What the next attempts come to. */
    Reason outcome = Reason.REFUSED;
    /** If set, attempts after the first fail with it at once. */
    Error laterError;
    /** If set, whoever awaits an attempt gets it. */
    Error error;
    /** When somebody wants to be told of an attempt's outcome, with the number of attempts so far. */
    IntConsumer atOnDone = number -> {};
    /** If set, attempts that leave from there are not answered. */
    InetAddress silentFrom;
    /** If set, there is no RDMA. */
    VerbsUnavailableException unavailable;
    /** When somebody is about to listen. */
    Runnable atListen = () -> {};
    /** If set, listening fails. */
    IOException listenFailure;
    /** What listens, if nothing fails. */
    RdmaListener listener;
    /** Of the last one that was to wait for its port. */
    RdmaListener.Patience patience;
    /** Whether RDMA has ended. */
    boolean over;
    /** Before somebody gets the service thread. */
    Runnable atService = () -> {};
    /** What watches a descriptor, of the callback; null if there is nothing to watch. */
    UnaryOperator<Runnable> watching;
    /** Watches that are not cancelled. */
    int watches;
    /** Whether attempts come so far that the peer is asked. */
    boolean asks = true;
    /** Of the last attempt: the test may speak for the peer. */
    Observer peer;

    /** What a probe is answered; null for nothing. */
    Answer probeAnswer;

    final List<Runnable> scheduled = new ArrayList<>();
    /** How long each attempt was given, in their order. */
    final List<Long> waits = new ArrayList<>();

    int probes;
    int attempts;
    long lastWait;
    long lastLimit;
    boolean cancelled;
    InetSocketAddress lastLocal;
    InetSocketAddress lastProbeLocal;

    @Override
    public PendingConnect connect(
            InetSocketAddress local, InetSocketAddress remote, StreamConfig config, Observer observer)
            throws VerbsUnavailableException {
        if (unavailable != null) {
            throw unavailable;
        }
        if (laterError != null && attempts > 0) {
            throw laterError;
        }
        attempts++;
        lastLocal = local;
        peer = observer;
        boolean silent = local != null && local.getAddress().equals(silentFrom);
        PendingConnect attempt = new PendingConnect() {
            @Override
            public RdmaStream await(long nanos) throws IOException {
                throw new AssertionError("an attempt's limit may move");
            }

            @Override
            public RdmaStream await(LongSupplier left) throws IOException {
                lastWait = left.getAsLong();
                waits.add(lastWait);
                if (error != null) {
                    throw error;
                }
                long nanos = lastWait;
                while (nanos > 0 && !cancelled && reason() == Reason.TIMEOUT) {
                    LockSupport.parkNanos(nanos);
                    nanos = left.getAsLong();
                }
                throw failure();
            }

            private Reason reason() {
                return cancelled ? Reason.CANCELLED : silent ? Reason.TIMEOUT : outcome;
            }

            @Override
            public boolean isDone() {
                return true;
            }

            @Override
            public RdmaConnectException failure() {
                return new RdmaConnectException(reason(), "as the test wants", null);
            }

            @Override
            public void onDone(Runnable action) {
                atOnDone.accept(attempts);
                action.run();
            }

            @Override
            public void expire(LongSupplier left) {
                lastLimit = left.getAsLong(); // it is over already
            }

            @Override
            public void cancel() {
                cancelled = true;
            }
        };
        if (asks) {
            observer.asked();
            switch (silent ? Reason.TIMEOUT : outcome) {
                case REFUSED, BUSY, UNABLE, PROTOCOL -> observer.answered(Answer.REFUSED);
                default -> {
                    // silent
                }
            }
        }
        return attempt;
    }

    @Override
    public void probe(InetSocketAddress local, InetSocketAddress remote, StreamConfig config, Observer observer) {
        probes++;
        lastProbeLocal = local;
        observer.asked();
        if (probeAnswer != null) {
            observer.answered(probeAnswer);
        }
    }

    @Override
    public RdmaListener listen(InetSocketAddress local, int backlog, StreamConfig config, Access access)
            throws IOException {
        if (unavailable != null) {
            throw unavailable;
        }
        atListen.run();
        if (listenFailure != null) {
            throw listenFailure;
        }
        return listener;
    }

    @Override
    public RdmaListener listenWhenFree(
            InetSocketAddress local, int backlog, StreamConfig config, Access access, RdmaListener.Patience wait) {
        patience = wait;
        return listener;
    }

    @Override
    public boolean isOver() {
        return over;
    }

    @Override
    public void takeCmEvents() {
        // there is nothing that waits
    }

    /** Keeps what is scheduled, for the test to run. */
    @Override
    public ServiceLoop service() throws VerbsUnavailableException {
        atService.run();
        if (unavailable != null) {
            throw unavailable;
        }
        return new ServiceLoop() {
            @Override
            public void execute(Runnable task) {
                scheduled.add(task);
            }

            @Override
            public Timer schedule(Runnable task, long nanos) {
                scheduled.add(task);
                return () -> scheduled.remove(task);
            }

            @Override
            public Watch watch(int fd, Runnable onReadable) {
                if (watching == null) {
                    throw new AssertionError("nothing to watch");
                }
                Runnable arming = watching.apply(onReadable);
                watches++;
                return new Watch() {
                    @Override
                    public void arm() {
                        arming.run();
                    }

                    @Override
                    public void cancel() {
                        watches--;
                    }
                };
            }

            @Override
            public boolean isCurrent() {
                return false;
            }
        };
    }
}
