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
import java.nio.ByteBuffer;
import java.nio.channels.AlreadyBoundException;
import java.nio.channels.ConnectionPendingException;
import java.nio.channels.SelectionKey;
import java.nio.channels.SocketChannel;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.jrsocket.connect.OutgoingConnection;
import org.jrsocket.connect.TcpConnection;
import org.jrsocket.stream.RdmaStream;

/**
 * A socket channel of ours, with its closing, its options, and what selectors ask. Its {@link ChannelTransport} knows
 * whether it is TCP or RDMA, {@link Connecting} makes it one of them, and {@link ChannelIo} reads and writes. Safe for
 * use by many threads, like the JDK's.
 */
final class RSocketChannel extends InterruptibleSocketChannel implements RSelectionKey.RdmaSelectable {

    private final ChannelOptions options;
    private final ChannelTransport transport;
    private final ChannelIo io;
    private final Connecting connecting;
    private volatile boolean closesAtOnce;

    private final Object socketLock = new Object();
    private Socket socket; // guarded by socketLock

    /**
     * Creates an unconnected channel.
     *
     * @param tcp null for a channel that is about to get a stream
     * @param family null for the JDK's default
     */
    RSocketChannel(ProviderServices services, SocketChannel tcp, ProtocolFamily family) {
        super(services.provider());
        options = new ChannelOptions(services, tcp);
        transport = new ChannelTransport(options);
        io = new ChannelIo(this, transport);
        connecting = new Connecting(this, transport, io, services, family);
    }

    /**
     * Returns what a server that listens on both hands out for a connection accepted over TCP: the JDK's channel, to
     * which the kernel can copy files (sendfile), or one of ours, which records its close, if that is recorded.
     */
    static SocketChannel accepted(ProviderServices services, SocketChannel tcp) {
        TcpConnection record = TcpConnection.accepted(
                services.context().counts(), () -> (InetSocketAddress) tcp.getLocalAddress(), () ->
                        (InetSocketAddress) tcp.getRemoteAddress());
        if (record == null) {
            return tcp;
        }
        RSocketChannel channel = overTcp(services, tcp);
        channel.transport.record(record);
        return channel;
    }

    /** Creates a channel for a connection accepted over TCP. */
    static RSocketChannel overTcp(ProviderServices services, SocketChannel tcp) {
        RSocketChannel channel = new RSocketChannel(services, tcp, null);
        channel.transport.becomeTcp();
        return channel;
    }

    /**
     * Creates a channel for a connection accepted over RDMA.
     *
     * @param inherited the options that were set on the listener
     */
    static RSocketChannel overRdma(
            ProviderServices services, RdmaStream stream, Map<SocketOption<?>, Object> inherited) {
        RSocketChannel channel = new RSocketChannel(services, null, null);
        channel.options.inherit(inherited);
        channel.transport.accepted(stream);
        return channel;
    }

    // ---- binding, connecting ----

    @Override
    public SocketChannel bind(SocketAddress local) throws IOException {
        io.lockBoth(); // as the JDK does: waits for a connect in progress
        try {
            switch (transport.state()) {
                case PENDING -> throw new ConnectionPendingException();
                case RDMA -> throw new AlreadyBoundException();
                default -> {
                    transport.ensureInner();
                    transport.tcp().bind(local);
                }
            }
        } finally {
            io.unlockBoth();
        }
        return this;
    }

    @Override
    public boolean connect(SocketAddress address) throws IOException {
        return connecting.connect(address);
    }

    @Override
    public boolean finishConnect() throws IOException {
        return connecting.finishConnect();
    }

    @Override
    public boolean isConnected() {
        return transport.isConnected();
    }

    @Override
    public boolean isConnectionPending() {
        return transport.isConnectionPending();
    }

    /** Returns what connects, for those who need more than the JDK's methods. */
    Connecting connecting() {
        return connecting;
    }

    // ---- reading, writing ----

    @Override
    public int read(ByteBuffer target) throws IOException {
        return io.read(target);
    }

    @Override
    public long read(ByteBuffer[] targets, int offset, int length) throws IOException {
        return io.read(targets, offset, length);
    }

    @Override
    public int write(ByteBuffer source) throws IOException {
        return io.write(source);
    }

    @Override
    public long write(ByteBuffer[] sources, int offset, int length) throws IOException {
        return io.write(sources, offset, length);
    }

    @Override
    public SocketChannel shutdownInput() throws IOException {
        io.shutdownInput();
        return this;
    }

    @Override
    public SocketChannel shutdownOutput() throws IOException {
        io.shutdownOutput();
        return this;
    }

    /** Returns what reads and writes, for those who need more than the JDK's methods. */
    ChannelIo io() {
        return io;
    }

    // ---- close ----

    @Override
    protected void implCloseSelectableChannel() throws IOException {
        OutgoingConnection pending = transport.close();
        for (RSelectionKey key : transport.keys().all()) {
            key.unwatch(); // before the descriptor can be reused
        }
        if (pending != null) {
            RdmaStream made = linger() == 0 ? pending.takeStream() : null;
            if (made != null) {
                made.abort();
            }
            pending.cancel();
        }
        RdmaIo rdma = rdma();
        if (rdma != null) {
            rdma.close(linger(), !closesAtOnce && isSelected());
        }
        transport.closeTcp();
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
        return seconds > 0 && (io.isInUse() || isSelected()) ? -1 : seconds;
    }

    /** Returns whether a selector has it. The JDK then shuts the output, and the next selection does the rest. */
    private boolean isSelected() {
        return !isBlocking() && isRegistered();
    }

    @Override
    protected void implConfigureBlocking(boolean block) throws IOException {
        io.lockBoth();
        try {
            ensureOpen(); // it may have been closed while this thread waited for a reader or writer
            transport.keys().endCancelled();
            if (!transport.configurePending(block) && options.hasTcp()) {
                // without the state lock: it waits for threads that read or write inside
                transport.tcp().configureBlocking(block);
            }
        } finally {
            io.unlockBoth();
        }
    }

    // ---- addresses and options ----

    @Override
    public SocketAddress getLocalAddress() throws IOException {
        ensureOpen();
        RdmaStream rdma = stream();
        return rdma != null ? rdma.localAddress() : transport.tcp().getLocalAddress();
    }

    @Override
    public SocketAddress getRemoteAddress() throws IOException {
        ensureOpen();
        SocketAddress peer = transport.remote();
        return peer != null ? peer : transport.tcp().getRemoteAddress();
    }

    /** Returns the stream, once connected over RDMA. */
    @Override
    public RdmaStream stream() {
        return transport.stream();
    }

    RdmaIo rdma() {
        return transport.rdma();
    }

    /** For tests. */
    ChannelOptions options() {
        return options;
    }

    @Override
    public <T> SocketChannel setOption(SocketOption<T> name, T value) throws IOException {
        Objects.requireNonNull(name);
        options.set(name, value, stream());
        return this;
    }

    @Override
    public <T> T getOption(SocketOption<T> name) throws IOException {
        Objects.requireNonNull(name);
        return options.get(name, stream());
    }

    @Override
    public Set<SocketOption<?>> supportedOptions() {
        return options.supported();
    }

    @Override
    public Socket socket() {
        synchronized (socketLock) {
            if (socket == null) {
                socket = RSocketAdaptor.of(this, transport, io, connecting);
            }
            return socket;
        }
    }

    // ---- for selectors ----

    @Override
    public void join(RSelectionKey key) {
        transport.join(key);
    }

    @Override
    public void leave(RSelectionKey key) {
        transport.leave(key);
    }

    @Override
    public int tcpInterest(int interest) {
        return transport.tcpInterest(interest);
    }

    @Override
    public int readyOps(int interest, boolean poll) {
        RdmaIo rdma = rdma();
        if (rdma != null) {
            // a closed stream is ready for everything, a closed channel for nothing
            return isOpen() ? rdma.readyOps(interest, poll) : 0;
        }
        OutgoingConnection pending = connecting.pending();
        if (pending == null) {
            return 0;
        }
        return pending.failure() != null ? interest : pending.isReady() ? interest & SelectionKey.OP_CONNECT : 0;
    }

    @Override
    public boolean mayBeReady(int interest) {
        RdmaIo rdma = rdma();
        return rdma == null || rdma.readyOps(interest, false) != 0;
    }

    @Override
    public void eventsTaken(RSelectionKey key) {
        transport.keys().eventsTaken(key);
    }

    @Override
    public String toString() {
        StringBuilder text = new StringBuilder(SocketChannel.class.getName()).append('[');
        if (!isOpen()) {
            text.append("closed");
        } else {
            RdmaIo rdma = rdma();
            text.append(isConnected() ? "connected" : isConnectionPending() ? "connection-pending" : "unconnected");
            boolean inputShut =
                    rdma != null ? rdma.isInputShut() : transport.tcp().socket().isInputShutdown();
            boolean outputShut = rdma != null
                    ? rdma.isOutputShut()
                    : transport.tcp().socket().isOutputShutdown();
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
