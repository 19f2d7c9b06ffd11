/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.nio;

import java.io.IOException;
import java.net.Inet4Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.net.UnknownHostException;
import java.nio.channels.SocketChannel;
import org.jrsocket.connect.ConnectAttempt;
import org.jrsocket.stream.RdmaStream;

/**
 * A connect that tries RDMA, and what has become of it: undecided; connected over RDMA; failed for good; or left to
 * TCP, which is then started and gives the outcome. Written under the channel's state lock but for the decision itself,
 * which is published by {@code decided}.
 */
final class RdmaConnect {

    private final ConnectAttempt attempt;
    private final SocketAddress address;
    private final InetSocketAddress target;

    private volatile boolean decided; // publishes the next three, written before by the thread that decides
    private volatile RdmaStream stream; // until somebody takes it
    private volatile IOException failure;
    private boolean leftToTcp; // for good: that the stream is gone does not say that there was none
    private volatile boolean tcpStarted;
    private volatile boolean tcpConnected;
    private boolean tcpReported;

    /**
     * @param address as the application gave it
     * @param target the same, or this host if that was the wildcard
     */
    RdmaConnect(ConnectAttempt attempt, SocketAddress address, InetSocketAddress target) {
        this.attempt = attempt;
        this.address = address;
        this.target = target;
    }

    /** Runs {@code then} when it is decided: on the service thread, or at once. */
    void start(Runnable then) {
        attempt.whenDecided(() -> {
            try {
                stream = attempt.await(); // which returns at once
            } catch (IOException | RuntimeException e) {
                failure = e instanceof IOException io ? io : new IOException(e);
            }
            leftToTcp = stream == null && failure == null;
            decided = true;
            then.run();
        });
    }

    SocketAddress address() {
        return address;
    }

    InetSocketAddress target() {
        return target;
    }

    boolean isDecided() {
        return decided;
    }

    /** The connection, once; from then on the caller's. */
    synchronized RdmaStream takeStream() {
        RdmaStream taken = stream;
        stream = null;
        return taken;
    }

    /** Why there is and will be no connection, or null. */
    IOException failure() {
        return failure;
    }

    /** Whether {@code finishConnect} has something to say for a reason that the TCP channel does not know. */
    boolean isReady() {
        return decided && (stream != null || failure != null || tcpConnected);
    }

    /** RDMA came to nothing and TCP has not been tried. */
    boolean needsTcp() {
        return decided && leftToTcp && !tcpStarted;
    }

    /** Of what is decided: RDMA came to nothing, and did not end the attempt either. */
    boolean isLeftToTcp() {
        return leftToTcp;
    }

    /** TCP is connecting, and its channel knows when it is done. */
    boolean waitsForTcp() {
        return tcpStarted && !tcpConnected && failure == null;
    }

    boolean isTcpStarted() {
        return tcpStarted;
    }

    /** It connected at once, which the application does not know yet. */
    boolean isTcpConnected() {
        return tcpConnected;
    }

    /** @param tcp not blocking */
    void startTcp(SocketChannel tcp) {
        try {
            tcpConnected = tcp.connect(address);
        } catch (IOException e) {
            reportTcpOutcome(e);
            failure = e;
        } catch (RuntimeException e) {
            failure = new IOException(e);
        }
        tcpStarted = true;
    }

    /** As {@link ConnectAttempt#reportTcpOutcome}, once. */
    void reportTcpOutcome(IOException tcpFailure) {
        if (!tcpReported) {
            tcpReported = true;
            attempt.reportTcpOutcome(tcpFailure);
        }
    }

    /** The channel closed. */
    void cancel() {
        attempt.cancel();
        discard();
    }

    /** Closes a connection that nobody wants any more. */
    void discard() {
        RdmaStream unwanted = takeStream();
        if (unwanted != null) {
            unwanted.abort();
        }
    }

    // ---- addresses ----

    /** The JDK's channels connect a wildcard to the host itself. */
    static InetSocketAddress loopback(InetSocketAddress wildcard) {
        byte[] address = wildcard.getAddress() instanceof Inet4Address ? new byte[] {127, 0, 0, 1} : new byte[16];
        if (address.length == 16) {
            address[15] = 1;
        }
        return new InetSocketAddress(byAddress(address), wildcard.getPort());
    }

    /** Where the application bound the channel, for RDMA to bind the same; null if it did not. */
    static InetSocketAddress local(SocketChannel tcp, InetSocketAddress target) throws IOException {
        InetSocketAddress local = (InetSocketAddress) tcp.getLocalAddress();
        if (local == null || !local.getAddress().isAnyLocalAddress()) {
            return local;
        }
        // The JDK's sockets are IPv6 ones that serve both families; RDMA's wildcard has to be of the peer's.
        return new InetSocketAddress(byAddress(new byte[target.getAddress().getAddress().length]), local.getPort());
    }

    private static InetAddress byAddress(byte[] bytes) {
        try {
            return InetAddress.getByAddress(bytes);
        } catch (UnknownHostException e) {
            throw new AssertionError(e);
        }
    }
}
