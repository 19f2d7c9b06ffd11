/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.nio;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.Inet4Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ProtocolFamily;
import java.net.SocketAddress;
import java.net.StandardProtocolFamily;
import java.nio.channels.AlreadyConnectedException;
import java.nio.channels.AsynchronousCloseException;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.ConnectionPendingException;
import java.nio.channels.IllegalBlockingModeException;
import java.nio.channels.SocketChannel;
import java.nio.channels.UnresolvedAddressException;
import java.nio.channels.UnsupportedAddressTypeException;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import org.jrsocket.connect.OutgoingConnection;
import org.jrsocket.connect.Policy;
import org.jrsocket.connect.Rules;
import org.jrsocket.nio.ChannelTransport.State;
import org.jrsocket.stream.RdmaStream;

/**
 * The connecting of a socket channel, over RDMA or else over TCP, blocking or not. It excludes readers and writers with
 * the locks of {@link ChannelIo}; {@link ChannelTransport} knows how far it is.
 */
final class Connecting {

    /** Whether a connect without a time limit checks for a close before it begins, as in later JDKs. */
    private static final boolean LOOKS_FIRST = JdkVersion.AT_LEAST_24;

    private final InterruptibleSocketChannel channel;
    private final ChannelTransport transport;
    private final ChannelIo io;
    private final ProviderServices services;
    private final ProtocolFamily family; // null for the JDK's default

    private volatile OutgoingConnection connectingTcp; // an attempt without RDMA, until it is connected
    private volatile long limitNanos; // set by the owner, for connects without a limit of their own; 0 is none

    Connecting(
            InterruptibleSocketChannel channel,
            ChannelTransport transport,
            ChannelIo io,
            ProviderServices services,
            ProtocolFamily family) {
        this.channel = channel;
        this.transport = transport;
        this.io = io;
        this.services = services;
        this.family = family;
    }

    private SocketChannel tcp() {
        return transport.tcp();
    }

    boolean connect(SocketAddress address) throws IOException {
        check(address);
        io.lockBoth();
        try {
            if (LOOKS_FIRST) {
                channel.ensureOpen();
            }
            InetSocketAddress target = rdmaTarget(address);
            OutgoingConnection connection = target == null
                    ? null
                    : connection(target, ownersLimit(target), new InnerTcp(tcp(), address, false));
            if (connection == null || connection.isTcp()) {
                boolean connected =
                        connectTcp(connection == null ? () -> tcp().connect(address) : connection::connectTcp);
                if (!connected) {
                    transport.keys().refresh();
                }
                return connected;
            }
            if (channel.isBlocking()) {
                connectBlocking(connection);
                return true;
            }
            return connectLater(connection);
        } finally {
            io.unlockBoth();
        }
    }

    /** Sets the owner's time limit; see {@code ChannelAccess}. */
    void limit(int millis) {
        limitNanos = TimeUnit.MILLISECONDS.toNanos(millis);
    }

    /**
     * Returns the owner's time limit, or 0 if it does not matter: where TCP is not tried after RDMA, no time has to be
     * left for it, and the owner ends the connect and reports that in its own way.
     */
    private long ownersLimit(InetSocketAddress target) {
        long limit = limitNanos;
        return limit == 0 || services.context().policy(Rules.Action.CONNECT, target) == Policy.RDMA ? 0 : limit;
    }

    /** Connects for the socket adaptor: blocking, with a time limit; 0 means none. */
    void connect(SocketAddress address, int millis) throws IOException {
        check(address);
        io.lockBoth();
        try {
            if (!channel.isBlocking()) {
                throw new IllegalBlockingModeException();
            }
            InetSocketAddress target = rdmaTarget(address);
            if (target == null) {
                connectTcp(() -> {
                    tcp().socket().connect(address, millis);
                    return true;
                });
                return;
            }
            OutgoingConnection connection =
                    connection(target, TimeUnit.MILLISECONDS.toNanos(millis), new InnerTcp(tcp(), address, true));
            if (connection.isTcp()) {
                connectTcp(connection::connectTcp);
            } else {
                connectBlocking(connection);
            }
        } finally {
            io.unlockBoth();
        }
    }

    /** Checks the address before anything else, as the JDK does. */
    private void check(SocketAddress address) {
        Objects.requireNonNull(address);
        if (!(address instanceof InetSocketAddress internet)) {
            throw new UnsupportedAddressTypeException();
        }
        if (internet.isUnresolved()) {
            throw new UnresolvedAddressException();
        }
        if (!fits(family, internet.getAddress())) {
            throw new UnsupportedAddressTypeException();
        }
    }

    /**
     * Returns whether an RDMA connection of a channel of this family can have the address; if not, the JDK reports what
     * is wrong with it.
     */
    private static boolean fits(ProtocolFamily family, InetAddress address) {
        return address instanceof Inet4Address || family != StandardProtocolFamily.INET && JdkChannels.isIpv6();
    }

    /** Returns the address to try over RDMA; null if the JDK's channel is to connect, or to report what is wrong. */
    private InetSocketAddress rdmaTarget(SocketAddress address) throws IOException {
        switch (transport.state()) {
            case RDMA -> throw channel.refused(new AlreadyConnectedException());
            case PENDING -> throw channel.refused(new ConnectionPendingException());
            case CLOSED -> // the inner channel, if there is one, may have another mode
                throw channel.isBlocking() ? new AsynchronousCloseException() : new ClosedChannelException();
            case TCP -> {
                return null;
            }
            case UNDECIDED -> {}
        }
        InetSocketAddress target = (InetSocketAddress) address;
        if (tcp().isConnected() || tcp().isConnectionPending() || target.getPort() == 0) {
            return null;
        }
        if (isBoundToAnotherFamily(target)) {
            return null;
        }
        PermissionChecks.checkConnect(target);
        channel.heedInterrupt(); // otherwise a server would accept a connection that no one gets
        return target.getAddress().isAnyLocalAddress() ? loopback(target) : target;
    }

    private boolean isBoundToAnotherFamily(InetSocketAddress target) throws IOException {
        InetSocketAddress local = (InetSocketAddress) tcp().getLocalAddress();
        return local != null
                && !local.getAddress().isAnyLocalAddress()
                && local.getAddress() instanceof Inet4Address != target.getAddress() instanceof Inet4Address;
    }

    /** Returns the loopback address: the JDK's channels connect a wildcard address to the host itself. */
    private static InetSocketAddress loopback(InetSocketAddress wildcard) {
        String literal = wildcard.getAddress() instanceof Inet4Address ? "127.0.0.1" : "::1";
        return new InetSocketAddress(literal, wildcard.getPort());
    }

    /** @param nanos the caller's time limit, 0 for none */
    private OutgoingConnection connection(InetSocketAddress target, long nanos, InnerTcp inner) throws IOException {
        try {
            OutgoingConnection made = services.context()
                    .connector()
                    .connect(
                            (InetSocketAddress) tcp().getLocalAddress(),
                            target,
                            transport.options().streamConfig(),
                            nanos,
                            inner);
            connectingTcp = made.isTcp() ? made : null;
            return made;
        } catch (IOException e) {
            channel.close();
            throw e;
        }
    }

    /** One step of connecting over TCP. */
    private interface TcpCall {
        boolean run() throws IOException;
    }

    /**
     * Runs a call on the inner channel. If that channel closes itself, because the calling thread was interrupted or
     * connecting failed, this channel closes too.
     */
    private boolean tcpGuard(TcpCall call) throws IOException {
        try {
            return call.run();
        } finally {
            io.closeWithTcp();
        }
    }

    /** Connects without RDMA. Returns whether the channel is connected. */
    private boolean connectTcp(TcpCall call) throws IOException {
        boolean connected = tcpGuard(call);
        if (connected) {
            connectedTcp(connectingTcp);
            connectingTcp = null;
        }
        return connected;
    }

    /** @param connection null if RDMA was out of the question */
    private void connectedTcp(OutgoingConnection connection) {
        transport.becomeTcp();
        if (connection != null) {
            transport.record(connection.record());
        }
    }

    private void connectBlocking(OutgoingConnection pending) throws IOException {
        boolean done = false;
        RdmaStream result = null;
        try {
            channel.beginBlocking();
            transport.begin(pending);
            result = pending.awaitRdma();
            done = true;
        } catch (IOException | RuntimeException | Error e) { // or it would stay pending, and nobody would decide it
            done = channel.isOpen();
            channel.close();
            throw e;
        } finally {
            endAttempt(done, result);
        }
        if (result != null) {
            connectedRdma(pending, result);
        } else {
            connectTcpInstead(pending);
        }
    }

    /** Ends a blocking attempt. If it was interrupted, a connection already made is closed. */
    private void endAttempt(boolean done, RdmaStream connected) throws AsynchronousCloseException {
        boolean interrupted = true;
        try {
            channel.endBlocking(done);
            interrupted = false;
        } finally {
            if (interrupted && connected != null) {
                connected.close(); // nothing else refers to it
            }
        }
    }

    private void connectedRdma(OutgoingConnection pending, RdmaStream result) throws IOException {
        try {
            if (transport.connected(pending, result)) {
                return;
            }
        } catch (UncheckedIOException e) { // a selector has no descriptor left to watch it with
            channel.close();
            throw e.getCause();
        }
        result.close();
        throw new AsynchronousCloseException();
    }

    /** Connects over TCP, blocking, after RDMA has failed. */
    private void connectTcpInstead(OutgoingConnection pending) throws IOException {
        try {
            tcpGuard(pending::connectTcp);
        } catch (RuntimeException | Error e) { // a logger that fails, say; as above
            channel.close();
            throw e;
        }
        connectedTcp(pending);
    }

    private boolean connectLater(OutgoingConnection pending) throws IOException {
        transport.begin(pending);
        try {
            transport.keys().refresh(); // the JDK's selector must not report the idle TCP socket
            pending.start(() -> decided(pending));
        } catch (UncheckedIOException e) { // a selector that has no descriptor left
            channel.close();
            throw e.getCause();
        } catch (RuntimeException | Error e) { // as above
            channel.close();
            throw e;
        }
        return false;
    }

    /** Called when RDMA has an outcome, by the service thread, which must not be held up, or the one that connects. */
    private void decided(OutgoingConnection pending) {
        transport.decided(pending);
        transport.keys().refresh();
    }

    /** Returns the connect that is under way, or null. */
    OutgoingConnection pending() {
        return transport.pending();
    }

    boolean finishConnect() throws IOException {
        io.lockBoth();
        try {
            OutgoingConnection pending = pending();
            if (transport.state() == State.RDMA) {
                return true;
            }
            if (pending == null) {
                if (!channel.isOpen()) { // a close in progress has left the inner channel, which never connected, open
                    throw channel.isBlocking() && !LOOKS_FIRST
                            ? new AsynchronousCloseException()
                            : new ClosedChannelException();
                }
                transport.ensureInner();
                OutgoingConnection direct = connectingTcp;
                return connectTcp(direct == null ? tcp()::finishConnect : direct::finishTcp);
            }
            if (channel.isBlocking()) {
                awaitDecision(pending);
            }
            return pending.isDecided() && finish(pending);
        } finally {
            io.unlockBoth();
        }
    }

    private void awaitDecision(OutgoingConnection pending) throws IOException {
        try {
            channel.beginBlocking();
            transport.awaitDecision(pending);
        } finally {
            channel.endBlocking(transport.state() == State.PENDING);
        }
    }

    /** Finishes the connect. Called with both locks held, except by tests. */
    boolean finish(OutgoingConnection pending) throws IOException {
        IOException failure = pending.failure();
        if (failure != null) {
            boolean closed = !channel.isOpen(); // by another thread, which has ended the attempt
            channel.close();
            throw closed ? new AsynchronousCloseException() : failure;
        }
        RdmaStream result = pending.takeStream();
        if (result != null) {
            connectedRdma(pending, result);
            return true;
        }
        if (!pending.isLeftToTcp()) {
            throw new AsynchronousCloseException(); // whoever closed it took the stream
        }
        if (pending.needsTcp()) {
            if (channel.isBlocking()) {
                connectTcpInstead(pending);
                return true;
            }
            transport.startTcpIfDue(pending); // unless decided() was about to, and has
            return false;
        }
        boolean connected = tcpGuard(pending::finishTcp);
        if (connected) {
            connectedTcp(pending);
            transport.keys().refresh();
        }
        return connected;
    }
}
