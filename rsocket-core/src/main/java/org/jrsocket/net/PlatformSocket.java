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
import java.util.Set;

/**
 * The JDK's own TCP socket implementation, its protected methods made callable. Each method does what the one of {@link SocketImpl} does, and throws
 * what that throws. As safe for threads as the JDK's.
 */
final class PlatformSocket {

    private final SocketImpl impl;

    private PlatformSocket(SocketImpl impl) {
        this.impl = impl;
    }

    /** Not created yet, as the argument of {@link #accept} has to be. */
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

    /** The same socket, whose {@link #connect} asks the default ProxySelector for SOCKS proxies, as one of {@code new Socket()} does. */
    PlatformSocket throughSocks() {
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

    void connect(SocketAddress remote, int millis) throws IOException {
        try {
            JdkInternals.CONNECT.invokeExact(impl, remote, millis);
        } catch (Throwable e) {
            throw JdkInternals.<IOException>sneak(e);
        }
    }

    void bind(InetAddress host, int port) throws IOException {
        try {
            JdkInternals.BIND.invokeExact(impl, host, port);
        } catch (Throwable e) {
            throw JdkInternals.<IOException>sneak(e);
        }
    }

    void listen(int backlog) throws IOException {
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

    boolean supportsUrgentData() {
        try {
            return (boolean) JdkInternals.SUPPORTS_URGENT.invokeExact(impl);
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
        try {
            JdkInternals.SET_OPTION.invokeExact(impl, option, value);
        } catch (Throwable e) {
            throw JdkInternals.<IOException>sneak(e);
        }
    }

    Object getOption(SocketOption<?> option) throws IOException {
        try {
            return JdkInternals.GET_OPTION.invokeExact(impl, option);
        } catch (Throwable e) {
            throw JdkInternals.<IOException>sneak(e);
        }
    }

    void setOption(int option, Object value) throws SocketException {
        impl.setOption(option, value);
    }

    Object getOption(int option) throws SocketException {
        return impl.getOption(option);
    }

    /** Where it is bound. */
    InetSocketAddress localAddress() throws SocketException {
        return new InetSocketAddress((InetAddress) getOption(SocketOptions.SO_BINDADDR), getLocalPort());
    }

    @Override
    public String toString() {
        return impl.toString();
    }
}
