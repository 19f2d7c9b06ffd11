/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.net;

import java.io.FileDescriptor;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.net.SocketException;
import java.net.SocketImpl;
import java.net.SocketOption;
import java.net.SocketOptions;
import java.net.StandardSocketOptions;
import java.util.Map;
import java.util.Set;
import org.jrsocket.connect.DeferredOptions;

/**
 * The JDK's own TCP socket implementation, with its protected methods made callable. Each method does what the one of
 * {@link SocketImpl} does, and throws what that throws. As thread-safe as the JDK's.
 *
 * <p>A socket that RDMA carries does not need a TCP socket, which takes the kernel a good part of a connection's time.
 * So one that is {@linkplain #createLater created later} is made only when something needs it, and until then keeps the
 * commonly set options itself.
 */
final class PlatformSocket {

    /** The initial values, on Linux, of the options that need no socket. */
    private static final Map<Integer, Object> DEFAULTS = Map.of(
            SocketOptions.TCP_NODELAY,
            false,
            SocketOptions.SO_KEEPALIVE,
            false,
            SocketOptions.SO_REUSEADDR,
            false,
            SocketOptions.SO_TIMEOUT,
            0,
            SocketOptions.SO_LINGER,
            false,
            SocketOptions.IP_TOS,
            0);

    private final SocketImpl impl;
    private volatile boolean deferred; // written under this
    private DeferredOptions<Integer> kept; // while deferred; guarded by this
    private Map<SocketOption<?>, Object> inherited = Map.of(); // for a socket that is created later

    private PlatformSocket(SocketImpl impl) {
        this.impl = impl;
    }

    /** Returns a socket that is not created yet, as the argument of {@link #accept} has to be. */
    static PlatformSocket client() {
        return make(false);
    }

    static PlatformSocket server() {
        return make(true);
    }

    private static PlatformSocket make(boolean server) {
        try {
            return new PlatformSocket((SocketImpl) JdkInternals.NEW_PLATFORM.invokeExact(server));
        } catch (Throwable e) {
            throw JdkInternals.<RuntimeException>sneak(e);
        }
    }

    /**
     * Returns the same socket with a {@link #connect} that asks the default ProxySelector for SOCKS proxies, as that of
     * {@code new Socket()} does.
     */
    PlatformSocket throughSocks() throws IOException {
        ensureCreated();
        try {
            return new PlatformSocket((SocketImpl) JdkInternals.NEW_SOCKS.invokeExact(impl));
        } catch (Throwable e) {
            throw JdkInternals.<RuntimeException>sneak(e);
        }
    }

    void create(boolean stream) throws IOException {
        try {
            JdkInternals.CREATE.invokeExact(impl, stream);
        } catch (Throwable e) {
            throw JdkInternals.<IOException>sneak(e);
        }
    }

    /** Creates a stream socket as soon as something needs it. */
    synchronized void createLater() {
        kept = new DeferredOptions<>(DEFAULTS, PlatformSocket::simple);
        deferred = true;
    }

    /**
     * Does the same as {@link #createLater()}, for the options of an accepted connection.
     *
     * @param inherited the options that were set on the listener
     */
    synchronized void createLater(Map<SocketOption<?>, Object> inherited) {
        createLater();
        this.inherited = inherited;
        // On a server socket this is on by default.
        kept.inherit(SocketOptions.SO_REUSEADDR, inherited.getOrDefault(StandardSocketOptions.SO_REUSEADDR, true));
        Object typeOfService = inherited.get(StandardSocketOptions.IP_TOS);
        if (typeOfService != null) {
            kept.inherit(SocketOptions.IP_TOS, typeOfService);
        }
    }

    /** Returns whether there is no kernel socket behind this yet. */
    boolean isDeferred() {
        return deferred;
    }

    /** Creates the socket, if that was deferred. */
    private void ensureCreated() throws IOException {
        if (deferred) {
            synchronized (this) {
                if (deferred) {
                    create(true); // if descriptors have run out, it may fail now but not the next time
                    try {
                        for (Map.Entry<SocketOption<?>, Object> option : inherited.entrySet()) {
                            set(option.getKey(), option.getValue());
                        }
                        kept.copyTo(impl::setOption);
                    } finally {
                        deferred = false;
                    }
                }
            }
        }
    }

    private void ensureCreatedForOption() throws SocketException {
        try {
            ensureCreated();
        } catch (SocketException e) {
            throw e;
        } catch (IOException e) {
            throw new SocketException(e.getMessage());
        }
    }

    void connect(SocketAddress remote, int millis) throws IOException {
        ensureCreated();
        try {
            JdkInternals.CONNECT.invokeExact(impl, remote, millis);
        } catch (Throwable e) {
            throw JdkInternals.<IOException>sneak(e);
        }
    }

    void bind(InetAddress host, int port) throws IOException {
        ensureCreated();
        try {
            JdkInternals.BIND.invokeExact(impl, host, port);
        } catch (Throwable e) {
            throw JdkInternals.<IOException>sneak(e);
        }
    }

    void listen(int backlog) throws IOException {
        ensureCreated();
        try {
            JdkInternals.LISTEN.invokeExact(impl, backlog);
        } catch (Throwable e) {
            throw JdkInternals.<IOException>sneak(e);
        }
    }

    void accept(PlatformSocket child) throws IOException {
        try {
            JdkInternals.ACCEPT.invokeExact(impl, child.impl);
        } catch (Throwable e) {
            throw JdkInternals.<IOException>sneak(e);
        }
    }

    InputStream getInputStream() throws IOException {
        try {
            return (InputStream) JdkInternals.INPUT.invokeExact(impl);
        } catch (Throwable e) {
            throw JdkInternals.<IOException>sneak(e);
        }
    }

    OutputStream getOutputStream() throws IOException {
        try {
            return (OutputStream) JdkInternals.OUTPUT.invokeExact(impl);
        } catch (Throwable e) {
            throw JdkInternals.<IOException>sneak(e);
        }
    }

    int available() throws IOException {
        try {
            return (int) JdkInternals.AVAILABLE.invokeExact(impl);
        } catch (Throwable e) {
            throw JdkInternals.<IOException>sneak(e);
        }
    }

    void close() throws IOException {
        if (deferred) {
            synchronized (this) {
                if (deferred) {
                    // first, so that later callers are told that it is closed; there is nothing to wait for
                    closeNow();
                    deferred = false;
                    return;
                }
            }
        }
        closeNow();
    }

    private void closeNow() throws IOException {
        try {
            JdkInternals.CLOSE.invokeExact(impl);
        } catch (Throwable e) {
            throw JdkInternals.<IOException>sneak(e);
        }
    }

    void shutdownInput() throws IOException {
        try {
            JdkInternals.SHUTDOWN_INPUT.invokeExact(impl);
        } catch (Throwable e) {
            throw JdkInternals.<IOException>sneak(e);
        }
    }

    void shutdownOutput() throws IOException {
        try {
            JdkInternals.SHUTDOWN_OUTPUT.invokeExact(impl);
        } catch (Throwable e) {
            throw JdkInternals.<IOException>sneak(e);
        }
    }

    FileDescriptor getFileDescriptor() {
        try {
            return (FileDescriptor) JdkInternals.FILE_DESCRIPTOR.invokeExact(impl);
        } catch (Throwable e) {
            throw JdkInternals.<RuntimeException>sneak(e);
        }
    }

    InetAddress getInetAddress() {
        try {
            return (InetAddress) JdkInternals.ADDRESS.invokeExact(impl);
        } catch (Throwable e) {
            throw JdkInternals.<RuntimeException>sneak(e);
        }
    }

    int getPort() {
        try {
            return (int) JdkInternals.PORT.invokeExact(impl);
        } catch (Throwable e) {
            throw JdkInternals.<RuntimeException>sneak(e);
        }
    }

    int getLocalPort() {
        try {
            return (int) JdkInternals.LOCAL_PORT.invokeExact(impl);
        } catch (Throwable e) {
            throw JdkInternals.<RuntimeException>sneak(e);
        }
    }

    void sendUrgentData(int data) throws IOException {
        try {
            JdkInternals.SEND_URGENT.invokeExact(impl, data);
        } catch (Throwable e) {
            throw JdkInternals.<IOException>sneak(e);
        }
    }

    Set<SocketOption<?>> supportedOptions() {
        try {
            @SuppressWarnings("unchecked") // its declared type
            Set<SocketOption<?>> options = (Set<SocketOption<?>>) (Set<?>) JdkInternals.OPTIONS.invokeExact(impl);
            return options;
        } catch (Throwable e) {
            throw JdkInternals.<RuntimeException>sneak(e);
        }
    }

    void setOption(SocketOption<?> option, Object value) throws IOException {
        ensureCreated();
        set(option, value);
    }

    private void set(SocketOption<?> option, Object value) throws IOException {
        try {
            JdkInternals.SET_OPTION.invokeExact(impl, option, value);
        } catch (Throwable e) {
            throw JdkInternals.<IOException>sneak(e);
        }
    }

    Object getOption(SocketOption<?> option) throws IOException {
        ensureCreated();
        try {
            return JdkInternals.GET_OPTION.invokeExact(impl, option);
        } catch (Throwable e) {
            throw JdkInternals.<IOException>sneak(e);
        }
    }

    void setOption(int option, Object value) throws SocketException {
        if (deferred) {
            synchronized (this) {
                if (deferred && kept.set(option, value)) {
                    return;
                }
            }
        }
        ensureCreatedForOption();
        impl.setOption(option, value);
    }

    /** Returns the value if the JDK is sure to accept it and to give it back; otherwise null. */
    private static Object simple(int option, Object value) {
        boolean accepted =
                switch (option) {
                    case SocketOptions.TCP_NODELAY, SocketOptions.SO_REUSEADDR -> value instanceof Boolean;
                    case SocketOptions.SO_KEEPALIVE -> value.equals(false); // if on, it takes the kernel's times
                    case SocketOptions.SO_TIMEOUT -> value instanceof Integer;
                    case SocketOptions.SO_LINGER -> value instanceof Integer || value.equals(false); // off
                    default -> false;
                };
        return accepted ? value : null;
    }

    Object getOption(int option) throws SocketException {
        if (deferred) {
            synchronized (this) {
                Object value = deferred ? kept.get(option) : null;
                if (value != null) {
                    return value;
                }
            }
        }
        ensureCreatedForOption();
        return impl.getOption(option);
    }

    /** Returns the address to which it is bound. */
    InetSocketAddress localAddress() throws SocketException {
        return new InetSocketAddress((InetAddress) getOption(SocketOptions.SO_BINDADDR), getLocalPort());
    }

    @Override
    public String toString() {
        return impl.toString();
    }
}
