/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.nio;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.ProtocolFamily;
import java.net.Socket;
import java.net.SocketAddress;
import java.net.SocketOption;
import java.nio.channels.SelectionKey;
import java.nio.channels.SocketChannel;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.jrsocket.connect.OutgoingConnection;
import org.jrsocket.connect.TcpConnection;
import org.jrsocket.stream.RdmaStream;

/**
 * A socket channel of ours, with its closing, its options, and what selectors ask. Safe for use by many threads, like
 * the JDK's.
 */
final class RSocketChannel extends DataChannel {

    private Socket socket; // guarded by stateLock
    private volatile boolean closesAtOnce;

    /** Creates an unconnected channel. */
    RSocketChannel(RSelectorProvider provider, SocketChannel tcp, ProtocolFamily family) {
        super(provider, tcp, family);
    }

    /**
     * Returns what a server that listens on both hands out for a connection accepted over TCP: the JDK's channel, to
     * which the kernel can copy files (sendfile), or one of ours, which records its close, if that is recorded.
     */
    static SocketChannel accepted(RSelectorProvider provider, SocketChannel tcp) {
        TcpConnection record =
                TcpConnection.accepted(provider.context(), () -> (InetSocketAddress) tcp.getLocalAddress(), () ->
                        (InetSocketAddress) tcp.getRemoteAddress());
        if (record == null) {
            return tcp;
        }
        RSocketChannel channel = overTcp(provider, tcp);
        channel.recorded = record;
        return channel;
    }

    /** Creates a channel for a connection accepted over TCP. */
    static RSocketChannel overTcp(RSelectorProvider provider, SocketChannel tcp) {
        RSocketChannel channel = new RSocketChannel(provider, tcp, null);
        channel.to(State.TCP);
        return channel;
    }

    /**
     * Creates a channel for a connection accepted over RDMA.
     *
     * @param inherited the options that were set on the listener
     */
    RSocketChannel(RSelectorProvider provider, RdmaStream stream, Map<SocketOption<?>, Object> inherited) {
        super(provider, null, null);
        options.inherit(inherited);
        remote = stream.remoteAddress();
        attachStream(stream);
    }

    // ---- close ----

    @Override
    protected void implCloseSelectableChannel() throws IOException {
        OutgoingConnection pending;
        synchronized (stateLock) {
            to(State.CLOSED);
            pending = connect;
            connect = null;
            stateLock.notifyAll();
        }
        for (RSelectionKey key : keys.all()) {
            key.selection().unwatch(key); // before the descriptor can be reused
        }
        if (pending != null) {
            RdmaStream made = linger() == 0 ? pending.takeStream() : null;
            if (made != null) {
                made.abort();
            }
            pending.cancel();
        }
        RdmaIo rdma = io;
        if (rdma != null) {
            rdma.close(linger(), !closesAtOnce && isSelected());
        }
        options.close();
        TcpConnection.closed(recorded);
    }

    /** Closes as if no selector had the channel: with unread data, the peer sees a reset without the end first. */
    void closeAtOnce() throws IOException {
        closesAtOnce = true;
        close();
    }

    /**
     * Returns how long the close waits, in the terms of SO_LINGER. As with the JDK's channels, a selector's thread does
     * not wait, nor does a thread that closes the channel while another is inside: that one would be told only after
     * the wait.
     */
    private int linger() {
        int seconds = options.linger();
        boolean inside = readLock.isLocked() || writeLock.isLocked();
        return seconds > 0 && (inside || isSelected()) ? -1 : seconds;
    }

    /** Returns whether a selector has it. The JDK then shuts the output, and the next selection does the rest. */
    private boolean isSelected() {
        return !isBlocking() && isRegistered();
    }

    @Override
    protected void implConfigureBlocking(boolean block) throws IOException {
        readLock.lock();
        writeLock.lock();
        try {
            ensureOpen(); // it may have been closed while this thread waited for a reader or writer
            keys.endCancelled();
            if (!configurePending(block) && options.hasTcp()) {
                tcp().configureBlocking(block); // without stateLock: it waits for threads that read or write inside
            }
        } finally {
            writeLock.unlock();
            readLock.unlock();
        }
    }

    /**
     * Changes the mode while a connect is pending. No thread waits in the inner channel then, and the thread that
     * decides on the connect, with stateLock held, must not find the mode changing. Called with both locks held.
     *
     * @return false if no connect is pending
     */
    private boolean configurePending(boolean block) throws IOException {
        assert readLock.isHeldByCurrentThread() && writeLock.isHeldByCurrentThread();
        synchronized (stateLock) {
            OutgoingConnection pending = connect;
            if (pending == null) {
                return false;
            }
            tcp().configureBlocking(block);
            startTcpIfDue(pending);
            return true;
        }
    }

    // ---- addresses and options ----

    @Override
    public SocketAddress getLocalAddress() throws IOException {
        ensureOpen();
        RdmaStream rdma = stream;
        return rdma != null ? rdma.localAddress() : tcp().getLocalAddress();
    }

    @Override
    public SocketAddress getRemoteAddress() throws IOException {
        ensureOpen();
        SocketAddress peer = remote;
        return peer != null ? peer : tcp().getRemoteAddress();
    }

    /** Returns the address for the socket adaptor, which still knows it after the close; null if RDMA was not tried. */
    InetSocketAddress rdmaRemote() {
        return (InetSocketAddress) remote;
    }

    /** Returns the stream, once connected over RDMA. */
    @Override
    public RdmaStream stream() {
        return stream;
    }

    RdmaIo rdma() {
        return io;
    }

    ChannelOptions options() {
        return options;
    }

    @Override
    public <T> SocketChannel setOption(SocketOption<T> name, T value) throws IOException {
        Objects.requireNonNull(name);
        options.set(name, value, stream);
        return this;
    }

    @Override
    public <T> T getOption(SocketOption<T> name) throws IOException {
        Objects.requireNonNull(name);
        return options.get(name, stream);
    }

    @Override
    public Set<SocketOption<?>> supportedOptions() {
        return options.supported();
    }

    @Override
    public Socket socket() {
        synchronized (stateLock) {
            if (socket == null) {
                socket = RSocketAdaptor.of(this);
            }
            return socket;
        }
    }

    // ---- for selectors ----

    @Override
    public void join(RSelectionKey key) {
        synchronized (stateLock) {
            keys.add(key);
            if (state == State.RDMA) {
                key.selection().watch(key, stream);
            } else if (state != State.CLOSED) {
                key.watchTcp(tcp());
            }
        }
    }

    @Override
    public void leave(RSelectionKey key) {
        synchronized (stateLock) {
            // While a close still finds it here: after that the descriptor may have been reused.
            key.selection().unwatch(key);
            keys.remove(key);
        }
    }

    @Override
    public int tcpInterest(int interest) {
        OutgoingConnection pending = connect;
        return switch (state) {
            case UNDECIDED, TCP -> interest;
            case PENDING -> pending != null && pending.waitsForTcp() ? interest : 0;
            default -> 0;
        };
    }

    @Override
    public int readyOps(int interest, boolean poll) {
        RdmaIo rdma = io;
        if (rdma != null) {
            // a closed stream is ready for everything, a closed channel for nothing
            return isOpen() ? rdma.readyOps(interest, poll) : 0;
        }
        OutgoingConnection pending = connect;
        if (pending == null) {
            return 0;
        }
        return pending.failure() != null ? interest : pending.isReady() ? interest & SelectionKey.OP_CONNECT : 0;
    }

    @Override
    public boolean mayBeReady(int interest) {
        RdmaIo rdma = io;
        return rdma == null || rdma.readyOps(interest, false) != 0;
    }

    @Override
    public void eventsTaken(RSelectionKey key) {
        List<RSelectionKey> all = keys.all();
        for (int i = 0; i < all.size(); i++) {
            if (all.get(i) != key) {
                all.get(i).onEventsTaken();
            }
        }
    }

    @Override
    public String toString() {
        StringBuilder text = new StringBuilder(SocketChannel.class.getName()).append('[');
        if (!isOpen()) {
            text.append("closed");
        } else {
            RdmaIo rdma = io;
            text.append(isConnected() ? "connected" : isConnectionPending() ? "connection-pending" : "unconnected");
            boolean inputShut =
                    rdma != null ? rdma.isInputShut() : tcp().socket().isInputShutdown();
            boolean outputShut =
                    rdma != null ? rdma.isOutputShut() : tcp().socket().isOutputShutdown();
            text.append(inputShut ? " ishut" : "").append(outputShut ? " oshut" : "");
            try {
                SocketAddress local = getLocalAddress();
                SocketAddress peer = getRemoteAddress();
                text.append(local == null ? "" : " local=" + local)
                        .append(peer == null ? "" : " remote=" + peer)
                        .append(rdma != null ? " over RDMA" : "");
            } catch (IOException e) {
                text.append(" closed");
            }
        }
        return text.append(']').toString();
    }
}
