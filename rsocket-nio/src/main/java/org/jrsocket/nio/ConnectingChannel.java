/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.nio;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.Inet4Address;
import java.net.InetSocketAddress;
import java.net.ProtocolFamily;
import java.net.SocketAddress;
import java.nio.channels.AlreadyBoundException;
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
import org.jrsocket.stream.RdmaStream;

/** The part of a socket channel that binds it and connects it over RDMA or else over TCP, blocking or not. */
abstract class ConnectingChannel extends DualChannel {

    /** Whether a connect without a time limit checks for a close before it begins, as in later JDKs. */
    private static final boolean LOOKS_FIRST = JdkVersion.AT_LEAST_24;

    private volatile OutgoingConnection connectingTcp; // an attempt without RDMA, until it is connected

    private volatile long limitNanos; // set by the owner, for connects without a limit of their own; 0 is none

    ConnectingChannel(RSelectorProvider provider, SocketChannel tcp, ProtocolFamily family) {
        super(provider, tcp, family);
    }

    @Override
    public SocketChannel bind(SocketAddress local) throws IOException {
        readLock.lock(); // as the JDK does: waits for a connect in progress, without stateLock
        writeLock.lock();
        try {
            if (state == State.PENDING) {
                throw new ConnectionPendingException();
            }
            if (state == State.RDMA) {
                throw new AlreadyBoundException();
            }
            ensureInner();
            tcp().bind(local);
        } finally {
            writeLock.unlock();
            readLock.unlock();
        }
        return this;
    }

    @Override
    public boolean connect(SocketAddress address) throws IOException {
        check(address);
        readLock.lock();
        writeLock.lock();
        try {
            if (LOOKS_FIRST) {
                ensureOpen();
            }
            InetSocketAddress target = rdmaTarget(address);
            OutgoingConnection connection = target == null
                    ? null
                    : connection(target, ownersLimit(target), new InnerTcp(tcp(), address, false));
            if (connection == null || connection.isTcp()) {
                boolean connected =
                        connectTcp(connection == null ? () -> tcp().connect(address) : connection::connectTcp);
                if (!connected) {
                    keys.refresh();
                }
                return connected;
            }
            if (isBlocking()) {
                connectBlocking(connection);
                return true;
            }
            return connectLater(connection);
        } finally {
            writeLock.unlock();
            readLock.unlock();
        }
    }

    /** Sets the owner's time limit; see {@link ChannelAccess#limitConnect}. */
    final void limitConnect(int millis) {
        limitNanos = TimeUnit.MILLISECONDS.toNanos(millis);
    }

    /**
     * Returns the owner's time limit, or 0 if it does not matter: where TCP is not tried after RDMA, no time has to be
     * left for it, and the owner ends the connect and reports that in its own way.
     */
    private long ownersLimit(InetSocketAddress target) {
        long limit = limitNanos;
        return limit == 0 || provider.context().policy(Rules.Action.CONNECT, target) == Policy.RDMA ? 0 : limit;
    }

    /** Connects for the socket adaptor: blocking, with a time limit; 0 means none. */
    void connect(SocketAddress address, int millis) throws IOException {
        check(address);
        readLock.lock();
        writeLock.lock();
        try {
            if (!isBlocking()) {
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
            writeLock.unlock();
            readLock.unlock();
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
        if (!RSelectorProvider.fits(family, internet.getAddress())) {
            throw new UnsupportedAddressTypeException();
        }
    }

    /** Returns the address to try over RDMA; null if the JDK's channel is to connect, or to report what is wrong. */
    private InetSocketAddress rdmaTarget(SocketAddress address) throws IOException {
        if (state == State.RDMA) {
            throw refused(new AlreadyConnectedException());
        }
        if (state == State.PENDING) {
            throw refused(new ConnectionPendingException());
        }
        if (state == State.CLOSED) { // the inner channel, if there is one, may have another mode
            throw isBlocking() ? new AsynchronousCloseException() : new ClosedChannelException();
        }
        InetSocketAddress target = (InetSocketAddress) address;
        if (state != State.UNDECIDED || tcp().isConnected() || tcp().isConnectionPending() || target.getPort() == 0) {
            return null;
        }
        if (isBoundToAnotherFamily(target)) {
            return null;
        }
        PermissionChecks.checkConnect(target);
        heedInterrupt(); // otherwise a server would accept a connection that no one gets
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
            OutgoingConnection made = provider.context()
                    .connector()
                    .connect((InetSocketAddress) tcp().getLocalAddress(), target, options.streamConfig(), nanos, inner);
            connectingTcp = made.isTcp() ? made : null;
            return made;
        } catch (IOException e) {
            close();
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
            closeWithTcp();
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
        synchronized (stateLock) {
            if (state != State.CLOSED && state != State.TCP) { // TCP if finished more than once
                connect = null;
                to(State.TCP);
            }
        }
        if (connection != null) {
            recorded = connection.record();
        }
    }

    private void connectBlocking(OutgoingConnection pending) throws IOException {
        boolean done = false;
        RdmaStream result = null;
        try {
            begin();
            begin(pending);
            result = pending.awaitRdma();
            done = true;
        } catch (IOException | RuntimeException | Error e) { // or it would stay pending, and nobody would decide it
            done = isOpen();
            close();
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
            end(done);
            interrupted = false;
        } finally {
            if (interrupted && connected != null) {
                connected.close(); // nothing else refers to it
            }
        }
    }

    private void begin(OutgoingConnection pending) throws ClosedChannelException {
        synchronized (stateLock) {
            if (state == State.CLOSED) {
                pending.cancel();
                throw new ClosedChannelException();
            }
            to(State.PENDING);
            connect = pending;
            remote = pending.remote();
        }
    }

    private void connectedRdma(OutgoingConnection pending, RdmaStream result) throws IOException {
        try {
            synchronized (stateLock) {
                if (state == State.PENDING && connect == pending) {
                    attachStream(result);
                    keys.refresh();
                    return;
                }
            }
        } catch (UncheckedIOException e) { // a selector has no descriptor left to watch it with
            close();
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
            close();
            throw e;
        }
        connectedTcp(pending);
    }

    private boolean connectLater(OutgoingConnection pending) throws IOException {
        begin(pending);
        try {
            keys.refresh(); // the JDK's selector must not report the idle TCP socket
            pending.start(() -> decided(pending));
        } catch (UncheckedIOException e) { // a selector that has no descriptor left
            close();
            throw e.getCause();
        } catch (RuntimeException | Error e) { // as above
            close();
            throw e;
        }
        return false;
    }

    /** Called when RDMA has an outcome, by the service thread, which must not be held up, or the one that connects. */
    private void decided(OutgoingConnection pending) {
        synchronized (stateLock) {
            if (state != State.PENDING || connect != pending) {
                pending.discard();
            } else {
                startTcpIfDue(pending);
            }
            stateLock.notifyAll();
        }
        keys.refresh();
    }

    /**
     * Starts TCP if RDMA has failed. A blocking inner channel is left to the thread that finishes the connect. Called
     * with stateLock held.
     */
    final void startTcpIfDue(OutgoingConnection pending) {
        assert Thread.holdsLock(stateLock);
        if (pending.needsTcp() && !tcp().isBlocking()) {
            pending.startTcp();
        }
    }

    @Override
    public boolean finishConnect() throws IOException {
        readLock.lock();
        writeLock.lock();
        try {
            OutgoingConnection pending = connect;
            if (state == State.RDMA) {
                return true;
            }
            if (pending == null) {
                if (!isOpen()) { // a close in progress has left the inner channel, which never connected, open
                    throw isBlocking() && !LOOKS_FIRST
                            ? new AsynchronousCloseException()
                            : new ClosedChannelException();
                }
                ensureInner();
                OutgoingConnection direct = connectingTcp;
                return connectTcp(direct == null ? tcp()::finishConnect : direct::finishTcp);
            }
            if (isBlocking()) {
                awaitDecision(pending);
            }
            return pending.isDecided() && finish(pending);
        } finally {
            writeLock.unlock();
            readLock.unlock();
        }
    }

    private void awaitDecision(OutgoingConnection pending) throws IOException {
        boolean interrupted = false;
        try {
            begin();
            synchronized (stateLock) {
                while (!pending.isDecided() && state == State.PENDING) {
                    try {
                        stateLock.wait();
                    } catch (InterruptedException e) {
                        interrupted = true; // begin() makes the interrupt close the channel
                    }
                }
            }
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
            end(state == State.PENDING);
        }
    }

    /** Finishes the connect. Called with both locks held, except by tests. */
    boolean finish(OutgoingConnection pending) throws IOException {
        IOException failure = pending.failure();
        if (failure != null) {
            boolean closed = !isOpen(); // by another thread, which has ended the attempt
            close();
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
            if (isBlocking()) {
                connectTcpInstead(pending);
                return true;
            }
            synchronized (stateLock) {
                startTcpIfDue(pending); // unless decided() was about to, and has
            }
            return false;
        }
        boolean connected = tcpGuard(pending::finishTcp);
        if (connected) {
            connectedTcp(pending);
            keys.refresh();
        }
        return connected;
    }
}
