/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.nio;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketAddress;
import java.net.SocketException;
import java.net.SocketOption;
import java.net.StandardSocketOptions;
import java.net.UnknownHostException;
import java.nio.channels.SocketChannel;
import java.nio.channels.UnresolvedAddressException;
import java.security.AccessController;
import java.security.PrivilegedActionException;
import java.security.PrivilegedExceptionAction;
import java.util.Set;

/**
 * The socket that {@link SocketChannel#socket()} of our channels returns. Over TCP, it asks the inner channel's own
 * adaptor. Safe for use by many threads.
 */
@SuppressWarnings("UnsynchronizedOverridesSynchronized") // the channel has locks of its own, as the JDK's adaptor does
final class RSocketAdaptor extends Socket {

    /** Whether the adaptor itself checks for an unresolved address, and closes if there is one, as in later JDKs. */
    private static final boolean CLOSES_WHEN_UNRESOLVED = JdkVersion.AT_LEAST_24;

    private final SocketChannel channel;
    private final ChannelTransport transport;
    private final ChannelIo io;
    private final Connecting connecting;
    private volatile int timeout; // milliseconds

    private RSocketAdaptor(SocketChannel channel, ChannelTransport transport, ChannelIo io, Connecting connecting)
            throws SocketException {
        super(new NoSocketImpl());
        this.channel = channel;
        this.transport = transport;
        this.io = io;
        this.connecting = connecting;
    }

    /** Creates an adaptor. The caller needs no permission, though {@code Socket} demands one for another kind. */
    @SuppressWarnings("removal") // of the security manager: JDK 17 has one
    static RSocketAdaptor of(SocketChannel channel, ChannelTransport transport, ChannelIo io, Connecting connecting) {
        try {
            return AccessController.doPrivileged((PrivilegedExceptionAction<RSocketAdaptor>)
                    () -> new RSocketAdaptor(channel, transport, io, connecting));
        } catch (PrivilegedActionException e) {
            throw new UncheckedIOException((IOException) e.getException());
        }
    }

    private Socket tcp() {
        return transport.tcp().socket();
    }

    // ---- connecting ----

    @Override
    public void connect(SocketAddress remote) throws IOException {
        connect(remote, 0);
    }

    @Override
    public void connect(SocketAddress remote, int millis) throws IOException {
        if (remote == null) {
            throw new IllegalArgumentException("connect: The address can't be null");
        }
        if (CLOSES_WHEN_UNRESOLVED && remote instanceof InetSocketAddress address && address.isUnresolved()) {
            connectUnresolved(address);
        }
        if (millis < 0) {
            throw new IllegalArgumentException("connect: timeout can't be negative");
        }
        try {
            connecting.connect(remote, millis);
        } catch (Exception e) {
            throw SocketErrors.io(e);
        }
    }

    private void connectUnresolved(InetSocketAddress address) throws IOException {
        if (!channel.isOpen()) {
            throw new SocketException("Socket is closed");
        }
        if (channel.isConnected()) {
            throw new SocketException("Already connected");
        }
        try {
            tcp().connect(address); // fails, with the JDK's message
            throw new UnknownHostException(address.toString());
        } finally {
            close();
        }
    }

    @Override
    public void bind(SocketAddress local) throws IOException {
        try {
            channel.bind(local);
        } catch (UnresolvedAddressException e) {
            throw SocketErrors.socket(e); // not as for a connect
        } catch (Exception e) {
            throw SocketErrors.io(e);
        }
    }

    // ---- addresses ----

    /** Returns the address of the peer, which is known after the close, too; null if RDMA was not tried. */
    private InetSocketAddress rdmaRemote() {
        return (InetSocketAddress) transport.remote();
    }

    @Override
    public InetAddress getInetAddress() {
        InetSocketAddress remote = rdmaRemote();
        return remote == null ? tcp().getInetAddress() : remote.getAddress();
    }

    @Override
    public InetAddress getLocalAddress() {
        if (transport.stream() == null) {
            return tcp().getLocalAddress();
        }
        return channel.isOpen()
                ? transport.stream().localAddress().getAddress()
                : new InetSocketAddress(0).getAddress();
    }

    @Override
    public int getPort() {
        InetSocketAddress remote = rdmaRemote();
        return remote == null ? tcp().getPort() : remote.getPort();
    }

    @Override
    public int getLocalPort() {
        return transport.stream() == null
                ? tcp().getLocalPort()
                : transport.stream().localAddress().getPort();
    }

    @Override
    public SocketAddress getRemoteSocketAddress() {
        InetSocketAddress remote = rdmaRemote();
        return remote == null ? tcp().getRemoteSocketAddress() : remote;
    }

    @Override
    public SocketAddress getLocalSocketAddress() {
        return transport.stream() == null
                ? tcp().getLocalSocketAddress()
                : transport.stream().localAddress();
    }

    @Override
    public SocketChannel getChannel() {
        return channel;
    }

    // ---- streams ----

    @Override
    public InputStream getInputStream() throws IOException {
        ensureConnected();
        if (isInputShutdown()) {
            throw new SocketException("Socket input is shutdown");
        }
        return AdaptorStreams.input(
                channel, io, transport.rdma() == null ? tcp().getInputStream() : null, () -> timeout);
    }

    @Override
    public OutputStream getOutputStream() throws IOException {
        ensureConnected();
        if (isOutputShutdown()) {
            throw new SocketException("Socket output is shutdown");
        }
        return AdaptorStreams.output(channel, io, transport.rdma() == null ? tcp().getOutputStream() : null);
    }

    private void ensureConnected() throws SocketException {
        ensureOpen();
        if (!channel.isConnected()) {
            throw new SocketException("Socket is not connected");
        }
    }

    private void ensureOpen() throws SocketException {
        if (!channel.isOpen()) {
            throw new SocketException("Socket is closed");
        }
    }

    /**
     * Sends urgent data over TCP. rsocket has none, so over RDMA the byte is dropped, as a receiver does by default
     * (SO_OOBINLINE off). A program that sends it to learn whether the connection is alive gets the answer.
     */
    @Override
    public void sendUrgentData(int data) throws IOException {
        if (transport.rdma() == null) {
            tcp().sendUrgentData(data);
        } else {
            io.probe();
        }
    }

    @Override
    public void shutdownInput() throws IOException {
        try {
            channel.shutdownInput();
        } catch (Exception e) {
            throw SocketErrors.io(e);
        }
    }

    @Override
    public void shutdownOutput() throws IOException {
        try {
            channel.shutdownOutput();
        } catch (Exception e) {
            throw SocketErrors.io(e);
        }
    }

    @Override
    public void close() throws IOException {
        channel.close();
    }

    // ---- state ----

    @Override
    public boolean isConnected() {
        return channel.isConnected();
    }

    @Override
    public boolean isBound() {
        return transport.stream() != null || tcp().isBound();
    }

    @Override
    public boolean isClosed() {
        return !channel.isOpen();
    }

    @Override
    public boolean isInputShutdown() {
        return transport.rdma() == null
                ? tcp().isInputShutdown()
                : transport.rdma().isInputShut();
    }

    @Override
    public boolean isOutputShutdown() {
        return transport.rdma() == null
                ? tcp().isOutputShutdown()
                : transport.rdma().isOutputShut();
    }

    @Override
    public String toString() {
        return channel.isConnected()
                ? "Socket[addr=" + getInetAddress() + ",port=" + getPort() + ",localport=" + getLocalPort() + "]"
                : "Socket[unconnected]";
    }

    // ---- options ----

    private <T> void set(SocketOption<T> name, T value) throws SocketException {
        try {
            channel.setOption(name, value);
        } catch (IOException e) {
            throw SocketErrors.socket(e);
        }
    }

    private <T> T get(SocketOption<T> name) throws SocketException {
        try {
            return channel.getOption(name);
        } catch (IOException e) {
            throw SocketErrors.socket(e);
        }
    }

    @Override
    public void setTcpNoDelay(boolean on) throws SocketException {
        set(StandardSocketOptions.TCP_NODELAY, on);
    }

    @Override
    public boolean getTcpNoDelay() throws SocketException {
        return get(StandardSocketOptions.TCP_NODELAY);
    }

    @Override
    public void setSoLinger(boolean on, int seconds) throws SocketException {
        set(StandardSocketOptions.SO_LINGER, on ? seconds : -1);
    }

    @Override
    public int getSoLinger() throws SocketException {
        return get(StandardSocketOptions.SO_LINGER);
    }

    @Override
    public void setOOBInline(boolean on) throws SocketException {
        try {
            transport.options().open().socket().setOOBInline(on);
        } catch (IOException e) {
            throw SocketErrors.socket(e);
        }
    }

    @Override
    public boolean getOOBInline() throws SocketException {
        try {
            return transport.options().open().socket().getOOBInline();
        } catch (IOException e) {
            throw SocketErrors.socket(e);
        }
    }

    @Override
    public void setSoTimeout(int millis) throws SocketException {
        ensureOpen();
        if (millis < 0) {
            throw new IllegalArgumentException("timeout < 0");
        }
        timeout = millis;
        if (transport.stream() == null) {
            tcp().setSoTimeout(millis);
        }
    }

    @Override
    public int getSoTimeout() throws SocketException {
        ensureOpen();
        return timeout;
    }

    @Override
    public void setSendBufferSize(int size) throws SocketException {
        if (size <= 0) {
            throw new IllegalArgumentException("Invalid send size");
        }
        set(StandardSocketOptions.SO_SNDBUF, size);
    }

    @Override
    public int getSendBufferSize() throws SocketException {
        return get(StandardSocketOptions.SO_SNDBUF);
    }

    @Override
    public void setReceiveBufferSize(int size) throws SocketException {
        if (size <= 0) {
            throw new IllegalArgumentException("Invalid receive size");
        }
        set(StandardSocketOptions.SO_RCVBUF, size);
    }

    @Override
    public int getReceiveBufferSize() throws SocketException {
        return get(StandardSocketOptions.SO_RCVBUF);
    }

    @Override
    public void setKeepAlive(boolean on) throws SocketException {
        set(StandardSocketOptions.SO_KEEPALIVE, on);
    }

    @Override
    public boolean getKeepAlive() throws SocketException {
        return get(StandardSocketOptions.SO_KEEPALIVE);
    }

    @Override
    public void setTrafficClass(int tc) throws SocketException {
        set(StandardSocketOptions.IP_TOS, tc);
    }

    @Override
    public int getTrafficClass() throws SocketException {
        return get(StandardSocketOptions.IP_TOS);
    }

    @Override
    public void setReuseAddress(boolean on) throws SocketException {
        set(StandardSocketOptions.SO_REUSEADDR, on);
    }

    @Override
    public boolean getReuseAddress() throws SocketException {
        return get(StandardSocketOptions.SO_REUSEADDR);
    }

    @Override
    public void setPerformancePreferences(int connectionTime, int latency, int bandwidth) {
        // does nothing, as in the JDK
    }

    @Override
    public <T> Socket setOption(SocketOption<T> name, T value) throws IOException {
        channel.setOption(name, value);
        return this;
    }

    @Override
    public <T> T getOption(SocketOption<T> name) throws IOException {
        return channel.getOption(name);
    }

    @Override
    public Set<SocketOption<?>> supportedOptions() {
        return channel.supportedOptions();
    }
}
