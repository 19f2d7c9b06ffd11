/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.nio;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.net.ProtocolFamily;
import java.net.SocketAddress;
import java.nio.channels.AlreadyBoundException;
import java.nio.channels.AlreadyConnectedException;
import java.nio.channels.AsynchronousCloseException;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.ConnectionPendingException;
import java.nio.channels.SocketChannel;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import org.jrsocket.connect.ConnectAttempt;
import org.jrsocket.connect.TcpConnection;
import org.jrsocket.stream.RdmaStream;

/**
 * How a socket channel comes to its connection, which makes it TCP or RDMA. Until then, and over TCP, a channel of the
 * JDK's inside does everything.
 *
 * <pre>
 *              connect: RDMA is not tried
 *   UNDECIDED ------------------------------------------> TCP : the inner channel says whether it is connected
 *       | \------ connect: RDMA ------> PENDING ----------^
 *       |                                  \-- finishConnect --> RDMA : a stream; the inner channel keeps options and
 *       port \---- accepted: TCP or RDMA at once                       close leads from each to CLOSED
 * </pre>
 *
 * Safe for use by many threads, as the JDK's: readers take turns, so do writers. Locks, in this order: read, write,
 * state.
 */
abstract class ConnectingChannel extends SocketChannel implements RdmaSelectable {

    enum State {
        UNDECIDED,
        PENDING,
        TCP,
        RDMA,
        CLOSED
    }

    final RSelectorProvider provider;
    final ProtocolFamily family; // null for the JDK's default
    final ReentrantLock readLock = new ReentrantLock();
    final ReentrantLock writeLock = new ReentrantLock();
    final ChannelOptions options;

    final Object stateLock = new Object(); // nothing that waits is called with it
    volatile State state = State.UNDECIDED; // written under stateLock, as all of these
    volatile RdmaConnect connect; // while PENDING
    volatile RdmaStream stream;
    volatile RdmaIo io;
    volatile SocketAddress remote; // of an RDMA connection, as the application gave it
    volatile List<RSelectionKey> keys = List.of();
    private volatile ConnectAttempt tried; // until connected over TCP
    volatile TcpConnection recorded; // null unless TCP carries it and events are recorded

    /** Not connected. @param tcp null for one that is about to {@link #attachStream} a stream */
    ConnectingChannel(RSelectorProvider provider, SocketChannel tcp, ProtocolFamily family) {
        super(provider);
        this.provider = provider;
        this.family = family;
        this.options = new ChannelOptions(provider, tcp);
    }

    /** With stateLock, or before anybody else knows this channel. */
    void attachStream(RdmaStream connected) {
        stream = connected;
        io = new RdmaIo(connected);
        connect = null;
        state = State.RDMA;
        options.apply(connected);
        connected.observe(this::progressed);
        for (RSelectionKey key : keys) {
            key.owner().watch(key, connected);
        }
    }

    void progressed() {
        List<RSelectionKey> all = keys;
        for (int i = 0; i < all.size(); i++) {
            all.get(i).onProgress();
        }
    }

    SocketChannel tcp() {
        return options.tcp();
    }

    // ---- connecting ----

    @Override
    public SocketChannel bind(SocketAddress local) throws IOException {
        readLock.lock(); // as the JDK: it waits for a connect that is under way, and does so without stateLock
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
        readLock.lock();
        writeLock.lock();
        try {
            InetSocketAddress target = rdmaTarget(address);
            ConnectAttempt attempt = target == null ? null : attempt(target, 0);
            if (attempt == null) {
                return connectTcp(address);
            }
            if (isBlocking()) {
                connectBlocking(attempt, target, address, 0);
                return true;
            }
            return connectLater(attempt, target, address);
        } finally {
            writeLock.unlock();
            readLock.unlock();
        }
    }

    /** The socket adaptor's: blocking, with a time limit; 0 is none. */
    void connect(SocketAddress address, int millis) throws IOException {
        long start = System.nanoTime();
        readLock.lock();
        writeLock.lock();
        try {
            InetSocketAddress target = isBlocking() ? rdmaTarget(address) : null;
            ConnectAttempt attempt = target == null ? null : attempt(target, TimeUnit.MILLISECONDS.toNanos(millis));
            if (attempt != null) {
                connectBlocking(attempt, target, address, millis);
                return;
            }
            int left = millis == 0
                    ? 0
                    : (int) Math.max(1, millis - TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - start));
            tcpGuard(() -> {
                ensureNotRdma();
                tcp().socket().connect(address, left);
            });
            connectedTcp();
        } finally {
            writeLock.unlock();
            readLock.unlock();
        }
    }

    /** The address to try over RDMA; null if the JDK is to answer, or to say what is wrong. */
    private InetSocketAddress rdmaTarget(SocketAddress address) throws ClosedChannelException {
        ensureNotRdma();
        if (state != State.UNDECIDED || tcp().isConnected() || tcp().isConnectionPending()) {
            return null;
        }
        if (!(address instanceof InetSocketAddress target)
                || target.isUnresolved()
                || target.getPort() == 0
                || !RSelectorProvider.fits(family, target.getAddress())) {
            return null;
        }
        return target.getAddress().isAnyLocalAddress() ? RdmaConnect.loopback(target) : target;
    }

    private void ensureNotRdma() throws ClosedChannelException {
        switch (state) {
            case RDMA -> throw new AlreadyConnectedException();
            case PENDING -> throw new ConnectionPendingException();
            default -> ensureInner();
        }
    }

    /** What was accepted over RDMA, and is closed, has no inner channel that would say so. */
    private void ensureInner() throws ClosedChannelException {
        if (!options.hasTcp()) {
            throw new ClosedChannelException();
        }
    }

    private ConnectAttempt attempt(InetSocketAddress target, long nanos) throws IOException {
        try {
            ConnectAttempt made = provider.stack()
                    .connector()
                    .attempt(RdmaConnect.local(tcp(), target), target, options.streamConfig(), nanos);
            tried = made;
            return made.isTcp() ? null : made;
        } catch (IOException e) {
            close();
            throw e;
        }
    }

    private boolean connectTcp(SocketAddress address) throws IOException {
        boolean[] connected = new boolean[1];
        tcpGuard(() -> connected[0] = tcp().connect(address));
        if (connected[0]) {
            connectedTcp();
        } else {
            keys.forEach(RSelectionKey::refresh);
        }
        return connected[0];
    }

    private void connectedTcp() {
        synchronized (stateLock) {
            if (state != State.CLOSED) {
                connect = null;
                state = State.TCP;
            }
        }
        ConnectAttempt before = tried;
        if (before != null) {
            tried = null;
            before.reportTcpOutcome(null);
            recorded = TcpConnection.connected(before, () -> (InetSocketAddress) tcp().getLocalAddress());
        }
    }

    private void connectBlocking(ConnectAttempt attempt, InetSocketAddress target, SocketAddress address, int millis)
            throws IOException {
        long start = System.nanoTime();
        RdmaConnect pending = new RdmaConnect(attempt, address, target);
        boolean done = false;
        RdmaStream result = null;
        try {
            begin();
            begin(pending);
            result = attempt.await();
            done = true;
        } catch (IOException e) {
            done = isOpen();
            close();
            throw e;
        } finally {
            endAttempt(done, result);
        }
        if (result != null) {
            connectedRdma(pending, result);
            return;
        }
        int left =
                millis == 0 ? 0 : (int) Math.max(1, millis - TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - start));
        connectTcpInstead(pending, left);
    }

    /** An interrupt takes from the channel what has been connected already. */
    private void endAttempt(boolean done, RdmaStream connected) throws AsynchronousCloseException {
        boolean interrupted = true;
        try {
            end(done);
            interrupted = false;
        } finally {
            if (interrupted && connected != null) {
                connected.abort(); // nobody else knows it
            }
        }
    }

    private void begin(RdmaConnect pending) throws ClosedChannelException {
        synchronized (stateLock) {
            if (state == State.CLOSED) {
                pending.cancel();
                throw new ClosedChannelException();
            }
            state = State.PENDING;
            connect = pending;
        }
    }

    private void connectedRdma(RdmaConnect pending, RdmaStream result) throws IOException {
        try {
            synchronized (stateLock) {
                if (state == State.PENDING && connect == pending) {
                    remote = pending.target();
                    attachStream(result);
                    keys.forEach(RSelectionKey::refresh);
                    return;
                }
            }
        } catch (UncheckedIOException e) { // a selector that has no descriptor left to watch it with
            close();
            throw e.getCause();
        }
        result.abort();
        throw new AsynchronousCloseException();
    }

    /** Blocking, after RDMA came to nothing. @param millis 0 is no limit */
    private void connectTcpInstead(RdmaConnect pending, int millis) throws IOException {
        IOException failure = null;
        try {
            tcpGuard(() -> {
                if (millis > 0) {
                    tcp().socket().connect(pending.address(), millis);
                } else {
                    tcp().connect(pending.address());
                }
            });
            connectedTcp();
        } catch (IOException e) {
            failure = e;
            throw e;
        } finally {
            pending.reportTcpOutcome(failure);
        }
    }

    private boolean connectLater(ConnectAttempt attempt, InetSocketAddress target, SocketAddress address)
            throws IOException {
        RdmaConnect pending = new RdmaConnect(attempt, address, target);
        begin(pending);
        keys.forEach(RSelectionKey::refresh); // the JDK's selector must not report the idle TCP socket
        pending.start(() -> decided(pending));
        return false;
    }

    /** RDMA has an outcome; on the service thread, which must not be held up, or on the one that connects. */
    private void decided(RdmaConnect pending) {
        synchronized (stateLock) {
            if (state != State.PENDING || connect != pending) {
                pending.discard();
            } else if (pending.needsTcp() && !tcp().isBlocking()) {
                pending.startTcp(tcp());
            }
            stateLock.notifyAll();
        }
        keys.forEach(RSelectionKey::refresh);
    }

    @Override
    public boolean finishConnect() throws IOException {
        readLock.lock();
        writeLock.lock();
        try {
            RdmaConnect pending = connect;
            if (state == State.RDMA) {
                return true;
            }
            if (pending == null) {
                ensureOpen(); // a close that is under way has left the inner channel, which never connected, open
                ensureInner();
                boolean[] connected = new boolean[1];
                tcpGuard(() -> connected[0] = tcp().finishConnect());
                if (connected[0]) {
                    connectedTcp();
                }
                return connected[0];
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

    private void awaitDecision(RdmaConnect pending) throws IOException {
        boolean interrupted = false;
        try {
            begin();
            synchronized (stateLock) {
                while (!pending.isDecided() && state == State.PENDING) {
                    try {
                        stateLock.wait();
                    } catch (InterruptedException e) {
                        interrupted = true; // begin() has seen to the closing
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

    private boolean finish(RdmaConnect pending) throws IOException {
        IOException failure = pending.failure();
        if (failure != null) {
            close();
            throw failure;
        }
        RdmaStream result = pending.takeStream();
        if (result != null) {
            connectedRdma(pending, result);
            return true;
        }
        if (!pending.isLeftToTcp()) {
            throw new AsynchronousCloseException(); // by whom the stream was taken
        }
        if (!pending.isTcpStarted()) {
            if (isBlocking()) {
                connectTcpInstead(pending, 0);
                return true;
            }
            synchronized (stateLock) {
                if (pending.needsTcp()) { // else whoever decided was about to start it, and has
                    pending.startTcp(tcp());
                }
            }
            return false;
        }
        boolean connected = pending.isTcpConnected();
        IOException tcpFailure = null;
        try {
            if (!connected) {
                boolean[] done = new boolean[1];
                tcpGuard(() -> done[0] = tcp().finishConnect());
                connected = done[0];
            }
        } catch (IOException e) {
            tcpFailure = e;
            throw e;
        } finally {
            if (connected || tcpFailure != null) {
                pending.reportTcpOutcome(tcpFailure);
            }
        }
        if (connected) {
            connectedTcp();
            keys.forEach(RSelectionKey::refresh);
        }
        return connected;
    }

    @Override
    public boolean isConnected() {
        return switch (state) {
            case RDMA -> true;
            case UNDECIDED, TCP -> tcp().isConnected();
            default -> false;
        };
    }

    @Override
    public boolean isConnectionPending() {
        return switch (state) {
            case PENDING -> true;
            case UNDECIDED -> tcp().isConnectionPending();
            default -> false;
        };
    }

    // ---- the inner channel ----

    private interface TcpCall {
        void run() throws IOException;
    }

    /**
     * When the inner channel closes itself, because the calling thread was interrupted or connecting failed, so does
     * this one.
     */
    private void tcpGuard(TcpCall call) throws IOException {
        try {
            call.run();
        } finally {
            closeWithTcp();
        }
    }

    /** If the inner channel has closed itself. */
    void closeWithTcp() throws IOException {
        if (!tcp().isOpen()) {
            close();
        }
    }

    void ensureOpen() throws ClosedChannelException {
        if (!isOpen()) {
            throw new ClosedChannelException();
        }
    }
}
