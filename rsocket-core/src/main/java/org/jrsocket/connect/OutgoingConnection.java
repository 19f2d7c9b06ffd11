/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.connect;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.concurrent.TimeUnit;
import org.jrsocket.stream.RdmaConnectException;
import org.jrsocket.stream.RdmaStream;

/**
 * One outgoing connection: RDMA in its time, if it is tried at all, and then TCP in
 * what is left of the caller's time. The TCP socket belongs to the socket API; this class tells it when to connect.
 *
 * <pre>
 *   blocking:      {@link #awaitRdma} ---- a stream
 *                           \------------- null: {@link #connectTcp}
 *
 *   not blocking:  {@link #start} ... decided: {@link #takeStream}, or
 *                           \------------------ {@link #failure}, or
 *                            \----------------- {@link #needsTcp}: {@link #startTcp} ... {@link #finishTcp}
 * </pre>
 *
 * The outcome of TCP is reported, because it tells what a silence over RDMA means. The methods for callers that do not
 * block may be called by any thread; whoever starts TCP holds the owner's lock.
 */
public final class OutgoingConnection {

    /** The socket API's TCP socket, which is to connect to the same peer. */
    public interface Tcp {

        /**
         * Connects, or begins to connect if the socket does not block.
         *
         * @param millis the time that is left, 0 for no limit; not for a socket that does not block
         * @return whether it is connected
         */
        boolean connect(int millis) throws IOException;

        /** Returns whether a socket that does not block and has begun to connect is connected now. */
        default boolean finish() throws IOException {
            return true;
        }

        /** Returns the address to which it is bound; called once it is connected. */
        InetSocketAddress localAddress() throws IOException;
    }

    private interface Step {
        boolean take() throws IOException;
    }

    /** How far the connect of a caller that does not block is. */
    private enum State {
        /** RDMA has no outcome yet. */
        UNDECIDED,
        /** RDMA has connected; somebody may have taken the stream since. */
        RDMA,
        /** RDMA has failed, and TCP is not to be tried: the policy forbids it, or the connect was cancelled. */
        RDMA_FAILED,
        /** It is TCP's turn. */
        TCP_DUE,
        /** TCP is connecting; its socket knows when it is done. */
        TCP_PENDING,
        /** TCP connected at once. */
        TCP,
        /** TCP could not even begin. */
        TCP_FAILED
    }

    /** The least time for TCP, or half of the time that the caller gives if that is less. */
    private static final long LEAST_MILLIS = 100;

    private final ConnectAttempt attempt;
    private final long limit; // the caller's time for all of it, milliseconds; 0: no limit
    private final Tcp tcp;

    private volatile State state = State.UNDECIDED; // from TCP_DUE on written under the owner's lock
    private volatile RdmaStream stream; // until it is taken; written before the state, as the next
    private volatile IOException failure;
    private final IOException outOfMemory = RdmaConnectException.outOfMemory();

    OutgoingConnection(ConnectAttempt attempt, long limitNanos, Tcp tcp) {
        this.attempt = attempt;
        this.limit = TimeUnit.NANOSECONDS.toMillis(limitNanos);
        this.tcp = tcp;
    }

    public InetSocketAddress remote() {
        return attempt.remote();
    }

    /** Returns whether RDMA is not tried, so that {@link #connectTcp} is all there is to do. */
    public boolean isTcp() {
        return attempt.isTcp();
    }

    /** Returns, in readable form, why RDMA came to nothing, once it has. */
    public String whyTcp() {
        return attempt.explanation();
    }

    /**
     * Ends the attempt over RDMA; a caller that awaits it gets "Socket closed". A stream that was not taken is closed.
     */
    public void cancel() {
        attempt.cancel();
        discard();
    }

    // ---- blocking ----

    /**
     * Waits for RDMA, as {@link ConnectAttempt#await} does.
     *
     * @return null if it is TCP's turn
     */
    public RdmaStream awaitRdma() throws IOException {
        return attempt.await();
    }

    /**
     * Connects TCP in the time that is left, or begins to if the socket does not block.
     *
     * @return whether it is connected
     */
    public boolean connectTcp() throws IOException {
        return reported(() -> tcp.connect(millisLeft()));
    }

    /** RDMA has left TCP half of the time, unless this process stood still: a round trip has to be possible then. */
    private int millisLeft() {
        long age = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - attempt.start());
        long least = Math.max(1, Math.min(limit / 2, LEAST_MILLIS));
        return limit == 0 ? 0 : (int) Math.max(least, limit - age);
    }

    /**
     * Finishes a connect over TCP that has begun.
     *
     * @return whether it is connected now
     */
    public boolean finishTcp() throws IOException {
        return state == State.TCP || reported(tcp::finish);
    }

    private boolean reported(Step step) throws IOException {
        boolean connected;
        try {
            connected = step.take();
        } catch (IOException e) {
            attempt.reportTcpOutcome(e);
            throw e;
        }
        if (connected) {
            attempt.reportTcpOutcome(null);
        }
        return connected;
    }

    /** Returns the connection over TCP for Flight Recorder, or null if nothing is recorded. */
    public TcpConnection record() {
        return TcpConnection.connected(attempt, tcp::localAddress);
    }

    // ---- not blocking ----

    /** Runs {@code then} when it is decided: on the service thread or a maker, which must not wait, or at once. */
    public void start(Runnable then) {
        attempt.whenDecided(() -> {
            State outcome = State.RDMA_FAILED;
            try {
                RdmaStream made = attempt.await(); // which returns at once
                stream = made;
                outcome = made == null ? State.TCP_DUE : State.RDMA;
            } catch (IOException e) {
                failure = e;
            } catch (RuntimeException | Error e) { // the waiting caller has to be told
                failure = failed(e);
            }
            state = outcome;
            then.run();
        });
    }

    private IOException failed(Throwable why) {
        try {
            return new IOException(why);
        } catch (OutOfMemoryError e) {
            return outOfMemory;
        }
    }

    public boolean isDecided() {
        return state != State.UNDECIDED;
    }

    /** Returns the connection over RDMA, once; it then belongs to the caller. */
    public synchronized RdmaStream takeStream() {
        RdmaStream taken = stream;
        stream = null;
        return taken;
    }

    /**
     * Closes a connection that is no longer wanted; its peer, which may have accepted it, reads the end of the stream.
     */
    public void discard() {
        RdmaStream unwanted = takeStream();
        if (unwanted != null) {
            unwanted.close();
        }
    }

    /** Returns why there is no connection and will be none, or null. */
    public IOException failure() {
        return failure;
    }

    /** Returns whether there is an outcome that the TCP socket does not know. */
    public boolean isReady() {
        return switch (state) {
            case RDMA -> stream != null;
            case RDMA_FAILED, TCP, TCP_FAILED -> true;
            case UNDECIDED, TCP_DUE, TCP_PENDING -> false;
        };
    }

    /** Returns whether it is decided that RDMA came to nothing, without ending the whole connect. */
    public boolean isLeftToTcp() {
        return switch (state) {
            case TCP_DUE, TCP_PENDING, TCP, TCP_FAILED -> true;
            case UNDECIDED, RDMA, RDMA_FAILED -> false;
        };
    }

    /** Returns whether RDMA came to nothing and TCP has not been tried. */
    public boolean needsTcp() {
        return state == State.TCP_DUE;
    }

    /** Starts the connect of a TCP socket that does not block; a failure is then returned by {@link #failure}. */
    public void startTcp() {
        State outcome = State.TCP_FAILED;
        try {
            outcome = connectTcp() ? State.TCP : State.TCP_PENDING;
        } catch (IOException e) {
            failure = e;
        } catch (RuntimeException | Error e) { // as above
            failure = failed(e);
        }
        state = outcome;
    }

    /** Returns whether TCP is connecting, in which case its socket knows when it is done. */
    public boolean waitsForTcp() {
        return state == State.TCP_PENDING;
    }
}
