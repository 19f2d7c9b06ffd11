/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.nio;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.ProtocolFamily;
import java.net.ServerSocket;
import java.net.SocketAddress;
import java.net.SocketException;
import java.net.SocketOption;
import java.net.SocketTimeoutException;
import java.net.StandardSocketOptions;
import java.nio.channels.AlreadyBoundException;
import java.nio.channels.AsynchronousCloseException;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.IllegalBlockingModeException;
import java.nio.channels.NotYetBoundException;
import java.nio.channels.SelectionKey;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.Set;
import java.util.concurrent.locks.ReentrantLock;
import org.jrsocket.connect.BufferSizes;
import org.jrsocket.connect.DualListener;
import org.jrsocket.connect.InheritedOptions;
import org.jrsocket.stream.RdmaStream;
import org.jrsocket.stream.StreamConfig;

/**
 * A listening channel: a channel of the JDK's for TCP, which determines the port ({@link ServerPort}), and an RDMA
 * listener on the same address and port where policy and devices allow one. Without it, the JDK's channel does
 * everything. Safe for use by many threads, like the JDK's.
 */
final class RServerSocketChannel extends ServerSocketChannel implements RSelectionKey.RdmaSelectable {

    /** Whether a blocking accept without a time limit checks for a close before it waits, as in later JDKs. */
    private static final boolean LOOKS_FIRST = JdkVersion.AT_LEAST_24;

    private final ProviderServices services;
    private final ReentrantLock acceptLock = new ReentrantLock();

    private final Object stateLock = new Object();
    private final ChannelKeys keys = new ChannelKeys();
    private final ServerPort port;
    private volatile DualListener dual; // null if TCP listens alone; written with stateLock held
    private final BufferSizes buffers = new BufferSizes();
    private final InheritedOptions inherited = new InheritedOptions();
    private ServerSocket socket;
    private final Accepting accepting = new Accepting();

    RServerSocketChannel(ProviderServices services, ServerSocketChannel tcp, ProtocolFamily family) {
        super(services.provider());
        this.services = services;
        this.port = new ServerPort(services, tcp, family, stateLock, keys);
    }

    private void ensureOpen() throws ClosedChannelException {
        if (!isOpen()) {
            throw new ClosedChannelException();
        }
    }

    // ---- binding ----

    @Override
    public ServerSocketChannel bind(SocketAddress local, int backlog) throws IOException {
        boolean harmed = false;
        try {
            synchronized (stateLock) {
                ensureOpen(); // a close in progress has seen no listener yet
                if (port.refusesTcp()) {
                    throw new AlreadyBoundException();
                }
                boolean wasBound = port.isBound();
                boolean listening = false;
                try {
                    DualListener opened = port.bind(local, backlog, config());
                    if (opened != null) {
                        listenOnBoth(opened);
                    }
                    listening = true;
                } finally {
                    harmed = !listening && !wasBound && port.isBound();
                }
            }
        } finally {
            if (harmed) {
                close(); // without stateLock: a close by another thread waits for it, and this one for that close
            }
        }
        keys.refresh();
        return this;
    }

    private StreamConfig config() {
        return buffers.streamConfig(services.context().settings());
    }

    /**
     * Listens on both transports. Connections come from two sides now, so a blocking accept waits for both, and the TCP
     * channel itself never waits. Called with stateLock held.
     */
    private void listenOnBoth(DualListener opened) throws IOException {
        try {
            if (!port.refusesTcp() && opened.isRdmaAlone()) {
                port.refuseTcp(); // there is a rule for the port that TCP chose
            }
            port.tcp().configureBlocking(false);
        } catch (IOException | RuntimeException | Error e) {
            opened.close();
            throw e;
        }
        opened.observe(keys.progress());
        dual = opened;
    }

    // ---- accepting ----

    @Override
    public SocketChannel accept() throws IOException {
        acceptLock.lock();
        try {
            if (LOOKS_FIRST) {
                ensureOpen();
            }
            DualListener rdma = bound();
            if (rdma == null) {
                return acceptTcpAlone();
            }
            if (!isBlocking()) {
                ensureOpen();
                return rdma.acceptNow(accepting);
            }
            return acceptBlocking(rdma, 0);
        } finally {
            acceptLock.unlock();
        }
    }

    /**
     * Accepts for the socket adaptor.
     *
     * @param nanos more than 0
     */
    private SocketChannel acceptWithTimeout(long nanos) throws IOException {
        acceptLock.lock();
        try {
            if (!isBlocking()) {
                throw new IllegalBlockingModeException();
            }
            DualListener rdma = bound();
            if (rdma == null) {
                return acceptTcpAlone((int) Math.max(1, nanos / 1_000_000));
            }
            return acceptBlocking(rdma, nanos);
        } finally {
            acceptLock.unlock();
        }
    }

    /**
     * Returns the RDMA listener, null if TCP listens alone. Waits for a bind in progress: a thread already in the TCP
     * channel would hold up the change of its mode, and with that a close. Called with acceptLock held.
     *
     * @throws NotYetBoundException if nothing is bound
     * @throws ClosedChannelException if nothing was bound before the close
     */
    private DualListener bound() throws IOException {
        assert acceptLock.isHeldByCurrentThread();
        DualListener current = dual;
        if (current != null) {
            return current;
        }
        boolean isBound;
        synchronized (stateLock) {
            current = dual;
            isBound = current != null || port.tcp().socket().isBound();
        }
        if (!isBound) {
            refuseUnbound();
        }
        return current;
    }

    /** Refuses an accept on an unbound channel, and like the JDK closes first if the thread is interrupted. */
    private void refuseUnbound() throws IOException {
        boolean blocking = isBlocking();
        try {
            if (blocking) {
                begin();
            }
            ensureOpen();
            throw new NotYetBoundException();
        } finally {
            if (blocking) {
                end(false);
            }
        }
    }

    private SocketChannel acceptTcpAlone() throws IOException {
        try {
            return port.tcp().accept();
        } finally {
            closeWithTcp();
        }
    }

    private SocketChannel acceptTcpAlone(int millis) throws IOException {
        ServerSocket inner = port.tcp().socket();
        try {
            inner.setSoTimeout(millis);
        } catch (SocketException e) {
            throw isOpen() ? e : new AsynchronousCloseException();
        }
        try {
            return inner.accept().getChannel();
        } finally {
            closeWithTcp();
        }
    }

    /** Closes this channel if a thread that was interrupted in the inner channel has closed that. */
    private void closeWithTcp() throws IOException {
        if (!port.tcp().isOpen()) {
            close();
        }
    }

    /** Makes channels of accepted connections. Used with acceptLock held. */
    private final class Accepting implements DualListener.Acceptor<SocketChannel> {

        @Override
        public SocketChannel takeTcp() throws IOException {
            SocketChannel accepted = port.refusesTcp() ? null : port.tcp().accept();
            return accepted == null ? null : RSocketChannel.accepted(services, accepted);
        }

        @Override
        public SocketChannel adopt(RdmaStream stream) {
            try {
                PermissionChecks.checkAccept(stream.remoteAddress());
            } catch (SecurityException e) {
                stream.close(); // and not reset, as with TCP
                throw e;
            }
            return RSocketChannel.overRdma(services, stream, inherited.values());
        }
    }

    /** Waits for a connection. Called with acceptLock held. */
    private SocketChannel acceptBlocking(DualListener rdma, long nanos) throws IOException {
        assert acceptLock.isHeldByCurrentThread();
        long start = System.nanoTime();
        SocketChannel accepted = null;
        boolean timedOut = false;
        try {
            begin();
            if (isOpen() && !port.refusesTcp()) {
                rdma.watchTcp(JdkChannels.descriptor(port.tcp()));
            }
            while (isOpen()) {
                accepted = rdma.acceptNow(accepting);
                long left = nanos == 0 ? 0 : nanos - (System.nanoTime() - start);
                timedOut = nanos > 0 && left <= 0;
                if (accepted != null || timedOut) {
                    break;
                }
                rdma.await(left);
            }
        } catch (ClosedChannelException e) {
            if (isOpen()) {
                throw e;
            }
        } finally {
            endAccept(accepted, timedOut);
        }
        if (timedOut && accepted == null) {
            throw new SocketTimeoutException("Accept timed out");
        }
        return accepted;
    }

    /** Ends a blocking accept. If it was interrupted, a connection already accepted is closed. */
    private void endAccept(SocketChannel accepted, boolean timedOut) throws IOException {
        boolean interrupted = true;
        try {
            end(accepted != null || timedOut && isOpen());
            interrupted = false;
        } finally {
            if (interrupted && accepted != null) {
                accepted.close(); // nothing else refers to it
            }
        }
    }

    @Override
    protected void implCloseSelectableChannel() throws IOException {
        DualListener rdma;
        synchronized (stateLock) {
            rdma = dual;
        }
        if (rdma != null) {
            rdma.close(); // first: the service thread watches the descriptor of the port for it
        }
        port.close();
    }

    @Override
    protected void implConfigureBlocking(boolean block) throws IOException {
        acceptLock.lock();
        try {
            synchronized (stateLock) {
                keys.endCancelled();
                ensureOpen(); // it may have been closed while this thread waited for an accept
                if (dual == null) {
                    // with stateLock, because of bind; it waits for no other thread, which would have to hold
                    // acceptLock
                    port.tcp().configureBlocking(block);
                }
            }
        } finally {
            acceptLock.unlock();
        }
    }

    // ---- addresses and options ----

    @Override
    public SocketAddress getLocalAddress() throws IOException {
        return port.address();
    }

    @Override
    public <T> ServerSocketChannel setOption(SocketOption<T> name, T value) throws IOException {
        port.tcp().setOption(name, value);
        inherited.set(name, port.tcp().getOption(name));
        if (name == StandardSocketOptions.SO_RCVBUF) {
            buffers.receive((Integer) value);
        }
        return this;
    }

    @Override
    public <T> T getOption(SocketOption<T> name) throws IOException {
        return port.tcp().getOption(name);
    }

    @Override
    public Set<SocketOption<?>> supportedOptions() {
        return port.tcp().supportedOptions();
    }

    @Override
    public ServerSocket socket() {
        synchronized (stateLock) {
            if (socket == null) {
                socket = RServerSocketAdaptor.of(this, port, this::acceptWithTimeout);
            }
            return socket;
        }
    }

    // ---- for selectors ----

    @Override
    public void join(RSelectionKey key) {
        synchronized (stateLock) {
            keys.add(key);
            key.watchTcp(port.tcp());
        }
    }

    @Override
    public void leave(RSelectionKey key) {
        synchronized (stateLock) {
            keys.remove(key);
        }
    }

    @Override
    public int tcpInterest(int interest) {
        // a socket that does not listen is always "ready", as one that has hung up
        return port.refusesTcp() ? 0 : interest;
    }

    @Override
    public int readyOps(int interest, boolean poll) {
        DualListener rdma = dual;
        return (interest & SelectionKey.OP_ACCEPT) != 0 && rdma != null && rdma.fetch() ? SelectionKey.OP_ACCEPT : 0;
    }

    @Override
    public RdmaStream stream() {
        return null;
    }

    @Override
    public String toString() {
        StringBuilder text = new StringBuilder(ServerSocketChannel.class.getName()).append('[');
        if (!isOpen()) {
            text.append("closed");
        } else {
            InetSocketAddress local = port.boundAddress();
            text.append(local == null ? "unbound" : local);
        }
        return text.append(']').toString();
    }
}
