/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.nio;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketAddress;
import java.net.SocketException;
import java.net.SocketOption;
import java.net.StandardSocketOptions;
import java.nio.channels.IllegalBlockingModeException;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.channels.UnresolvedAddressException;
import java.security.AccessController;
import java.security.PrivilegedAction;
import java.util.Set;
import java.util.concurrent.TimeUnit;

/** What {@link ServerSocketChannel#socket()} returns for our channels. Safe for use by many threads. */
@SuppressWarnings("UnsynchronizedOverridesSynchronized") // the channel has locks of its own, as the JDK's adaptor does
final class RServerSocketAdaptor extends ServerSocket {

    /** Accepts a connection within a time. */
    interface TimedAccept {
        SocketChannel accept(long nanos) throws IOException;
    }

    private final ServerSocketChannel channel;
    private final ServerPort port;
    private final TimedAccept timedAccept;
    private volatile int timeout; // milliseconds

    private RServerSocketAdaptor(ServerSocketChannel channel, ServerPort port, TimedAccept timedAccept) {
        super(new NoSocketImpl());
        this.channel = channel;
        this.port = port;
        this.timedAccept = timedAccept;
    }

    /** Creates an adaptor; see {@link RSocketAdaptor#of}. */
    @SuppressWarnings("removal") // of the security manager: JDK 17 has one
    static RServerSocketAdaptor of(ServerSocketChannel channel, ServerPort port, TimedAccept timedAccept) {
        return AccessController.doPrivileged(
                (PrivilegedAction<RServerSocketAdaptor>) () -> new RServerSocketAdaptor(channel, port, timedAccept));
    }

    @Override
    public void bind(SocketAddress local) throws IOException {
        bind(local, ServerPort.DEFAULT_BACKLOG);
    }

    @Override
    public void bind(SocketAddress local, int backlog) throws IOException {
        try {
            channel.bind(local == null ? new InetSocketAddress(0) : local, backlog);
        } catch (UnresolvedAddressException e) {
            throw SocketErrors.socket(e);
        } catch (Exception e) {
            throw SocketErrors.io(e);
        }
    }

    @Override
    public InetAddress getInetAddress() {
        InetSocketAddress local = port.boundAddress();
        return local == null ? null : local.getAddress();
    }

    @Override
    public int getLocalPort() {
        InetSocketAddress local = port.boundAddress();
        return local == null ? -1 : local.getPort();
    }

    /** Accepts a connection; on a non-blocking channel, only if one is waiting. */
    @Override
    public Socket accept() throws IOException {
        try {
            int millis = timeout;
            SocketChannel accepted =
                    millis > 0 ? timedAccept.accept(TimeUnit.MILLISECONDS.toNanos(millis)) : channel.accept();
            if (accepted == null) {
                throw new IllegalBlockingModeException();
            }
            return accepted.socket();
        } catch (Exception e) {
            throw SocketErrors.io(e);
        }
    }

    @Override
    public void close() throws IOException {
        channel.close();
    }

    @Override
    public ServerSocketChannel getChannel() {
        return channel;
    }

    @Override
    public boolean isBound() {
        return port.boundAddress() != null;
    }

    @Override
    public boolean isClosed() {
        return !channel.isOpen();
    }

    private void ensureOpen() throws SocketException {
        if (!channel.isOpen()) {
            throw new SocketException("Socket is closed");
        }
    }

    @Override
    public void setSoTimeout(int millis) throws SocketException {
        ensureOpen();
        if (millis < 0) {
            throw new IllegalArgumentException("timeout < 0");
        }
        timeout = millis;
    }

    @Override
    public int getSoTimeout() throws SocketException {
        ensureOpen();
        return timeout;
    }

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
    public void setReuseAddress(boolean on) throws SocketException {
        set(StandardSocketOptions.SO_REUSEADDR, on);
    }

    @Override
    public boolean getReuseAddress() throws SocketException {
        return get(StandardSocketOptions.SO_REUSEADDR);
    }

    @Override
    public void setReceiveBufferSize(int size) throws SocketException {
        if (size <= 0) {
            throw new IllegalArgumentException("size cannot be 0 or negative");
        }
        set(StandardSocketOptions.SO_RCVBUF, size);
    }

    @Override
    public int getReceiveBufferSize() throws SocketException {
        return get(StandardSocketOptions.SO_RCVBUF);
    }

    @Override
    public void setPerformancePreferences(int connectionTime, int latency, int bandwidth) {
        // does nothing, as in the JDK
    }

    @Override
    public String toString() {
        return isBound()
                ? "ServerSocket[addr=" + getInetAddress() + ",localport=" + getLocalPort() + "]"
                : "ServerSocket[unbound]";
    }

    @Override
    public <T> ServerSocket setOption(SocketOption<T> name, T value) throws IOException {
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
