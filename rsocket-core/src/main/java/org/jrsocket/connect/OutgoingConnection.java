/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.connect;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.concurrent.TimeUnit;
import org.jrsocket.stream.RdmaStream;

/**
 * One outgoing connection, from {@link Connector#connect}: RDMA in its time, if it is tried at all, and then TCP in
 * what is left of the caller's. TCP is the socket API's own; this tells it when to connect.
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
 * What becomes of TCP is reported, because it tells what a silence over RDMA means. Of the methods of those who do not
 * block each may be called by any thread; the owner's lock is held by whoever starts TCP.
 */
public final class OutgoingConnection {

    /** The socket API's TCP socket, which is to connect to the same peer. */
    public interface Tcp {

        /**
         * Connects, or begins to if it does not block.
         *
         * @param millis the time that is left, 0 for no limit; not for those that do not block
         * @return whether it is connected
         */
        boolean connect(int millis) throws IOException;

        /** Of one that does not block and has begun: whether it is connected now. */
        default boolean finish() throws IOException {
            return true;
        }

        /** Where it is bound; asked when it is connected. */
        InetSocketAddress localAddress() throws IOException;
    }

    private interface Step {
        boolean take() throws IOException;
    }

    private final ConnectAttempt attempt;
    private final long limit; // the caller's for all of it, milliseconds; 0 is none
    private final Tcp tcp;

    private volatile boolean decided; // publishes the next three, written before by the thread that decides
    private volatile RdmaStream stream; // until somebody takes it
    private volatile IOException failure;
    private boolean leftToTcp; // for good: that the stream is gone does not say that there was none
    private volatile boolean tcpStarted; // under the owner's lock, as the next
    private volatile boolean tcpConnected;

    OutgoingConnection(ConnectAttempt attempt, long limitNanos, Tcp tcp) {
        this.attempt = attempt;
        this.limit = TimeUnit.NANOSECONDS.toMillis(limitNanos);
        this.tcp = tcp;
    }

    public InetSocketAddress remote() {
        return attempt.remote();
    }

    /** Whether RDMA is not tried: {@link #connectTcp} is all there is to do. */
    public boolean isTcp() {
        return attempt.isTcp();
    }

    /** For people, once RDMA came to nothing: why. */
    public String whyTcp() {
        return attempt.explanation();
    }

    /** Ends the attempt over RDMA; who awaits it hears "Socket closed". A stream that nobody took is closed. */
    public void cancel() {
        attempt.cancel();
        discard();
    }

    // ---- blocking ----

    /**
     * As {@link ConnectAttempt#await}.
     *
     * @return null if it is TCP's turn
     */
    public RdmaStream awaitRdma() throws IOException {
        return attempt.await();
    }

    /**
     * Connects TCP in the time that is left, or begins to if it does not block.
     *
     * @return whether it is connected
     */
    public boolean connectTcp() throws IOException {
        return reported(() -> tcp.connect(millisLeft()));
    }

    private int millisLeft() {
        long age = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - attempt.start());
        return limit == 0 ? 0 : (int) Math.max(1, limit - age);
    }

    /**
     * Of one that has begun.
     *
     * @return whether it is connected now
     */
    public boolean finishTcp() throws IOException {
        return tcpConnected || reported(tcp::finish);
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

    /** Connected over TCP: for those who record it, else null. */
    public TcpConnection record() {
        return TcpConnection.connected(attempt, tcp::localAddress);
    }

    // ---- not blocking ----

    /** Runs {@code then} when it is decided: on the service thread, which must not be held up, or at once. */
    public void start(Runnable then) {
        attempt.whenDecided(() -> {
            try {
                stream = attempt.await(); // which returns at once
            } catch (IOException e) {
                failure = e;
            } catch (RuntimeException | Error e) { // whoever waits is to hear of it
                failure = new IOException(e);
            }
            leftToTcp = stream == null && failure == null;
            decided = true;
            then.run();
        });
    }

    public boolean isDecided() {
        return decided;
    }

    /** The connection over RDMA, once; from then on the caller's. */
    public synchronized RdmaStream takeStream() {
        RdmaStream taken = stream;
        stream = null;
        return taken;
    }

    /** Closes a connection that nobody wants any more; its peer, which may have accepted it, reads the end. */
    public void discard() {
        RdmaStream unwanted = takeStream();
        if (unwanted != null) {
            unwanted.close();
        }
    }

    /** Why there is and will be no connection, or null. */
    public IOException failure() {
        return failure;
    }

    /** Whether there is news that the TCP socket does not know. */
    public boolean isReady() {
        return decided && (stream != null || failure != null || tcpConnected);
    }

    /** Of what is decided: RDMA came to nothing, and did not end the attempt either. */
    public boolean isLeftToTcp() {
        return leftToTcp;
    }

    /** RDMA came to nothing and TCP has not been tried. */
    public boolean needsTcp() {
        return decided && leftToTcp && !tcpStarted;
    }

    /** Lets a TCP socket that does not block begin; a failure is {@link #failure}'s. */
    public void startTcp() {
        try {
            tcpConnected = connectTcp();
        } catch (IOException e) {
            failure = e;
        } catch (RuntimeException | Error e) { // as above
            failure = new IOException(e);
        }
        tcpStarted = true;
    }

    public boolean isTcpStarted() {
        return tcpStarted;
    }

    /** TCP is connecting, and its socket knows when it is done. */
    public boolean waitsForTcp() {
        return tcpStarted && !tcpConnected && failure == null;
    }
}
