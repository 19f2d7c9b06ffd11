/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.net;

import java.io.FileDescriptor;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.lang.ref.Cleaner;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.net.SocketException;
import java.net.SocketImpl;
import java.net.SocketOption;
import java.net.SocketOptions;
import java.net.SocketTimeoutException;
import java.net.StandardSocketOptions;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import org.jrsocket.connect.BufferSizes;
import org.jrsocket.connect.DualListener;
import org.jrsocket.connect.InheritedOptions;
import org.jrsocket.connect.TcpConnection;
import org.jrsocket.connect.TcpPort;
import org.jrsocket.connect.TransportContext;
import org.jrsocket.stream.RdmaStream;
import org.jrsocket.stream.StreamConfig;

/**
 * The implementation of a {@link java.net.ServerSocket}: a TCP listener of the JDK's, which determines the port, and
 * beside it an RDMA listener at the same address and port if policy and devices allow it. Without that, the JDK does
 * everything. Safe for use by many threads, like the JDK's.
 */
final class RServerSocketImpl extends SocketImpl {

    /** The factory of the local management socket, which listens in that socket's constructor. */
    private static final String LOCAL_MANAGEMENT = "sun.management.jmxremote.LocalRMIServerSocketFactory";

    private final TransportContext context;
    private final ReentrantLock acceptLock = new ReentrantLock();
    private volatile PlatformSocket platform = PlatformSocket.server(); // replaced only between bind and listen
    private volatile DualListener dual; // set by listen; null: TCP alone
    private FileDescriptor tcpDescriptor; // written by listen, before dual; null: RDMA alone
    private volatile int timeout; // milliseconds; with dual, the platform's own is not the application's
    private final BufferSizes buffers = new BufferSizes();
    private final InheritedOptions inherited = new InheritedOptions();
    private InetAddress boundHost;
    private int boundPort; // as asked for: 0 lets TCP choose
    private final Object closeLock = new Object();
    private boolean closed; // guarded by closeLock
    private volatile Cleaner.Cleanable cleanable; // set with dual

    RServerSocketImpl(TransportContext context) {
        this.context = context;
    }

    // ---- listening ----

    @Override
    protected void create(boolean stream) throws IOException {
        platform.create(stream);
    }

    @Override
    protected void bind(InetAddress host, int port) throws IOException {
        platform.bind(host, port);
        boundHost = host;
        boundPort = port;
    }

    @Override
    protected void listen(int backlog) throws IOException {
        DualListener listener = boundHost == null || isOfLocalManagement()
                ? null
                : DualListener.open(context, new BoundPort(), backlog, config());
        if (listener == null) {
            platform.listen(backlog);
            return;
        }
        try {
            if (!listener.isRdmaAlone()) {
                platform.listen(backlog);
                platform.setOption(SocketOptions.SO_TIMEOUT, 1); // so an accept after the wait does not wait again
                tcpDescriptor = platform.getFileDescriptor();
            }
            synchronized (closeLock) {
                if (closed) {
                    throw new SocketException("Socket closed");
                }
                if (!listener.isRdmaAlone()) { // locked, so that close ends the watch before the fd is reused
                    listener.watchTcp(JdkInternals.value(tcpDescriptor));
                }
                dual = listener;
                cleanable = LostOwners.watch(this, new Cleanup(listener, platform));
            }
        } catch (IOException | RuntimeException | Error e) {
            listener.close();
            throw e;
        }
    }

    /**
     * Returns whether this is the JVM's own socket for management by attaching, which {@code ctl}, jcmd and jconsole
     * ask for. It checks its clients' addresses, to serve this host alone, and the address that an RDMA client gives
     * proves nothing. Nor could tools without the agent reach the socket under {@code policy=rdma}.
     */
    private static boolean isOfLocalManagement() {
        return StackWalker.getInstance()
                .walk(frames -> frames.anyMatch(frame -> frame.getClassName().equals(LOCAL_MANAGEMENT)));
    }

    /**
     * What is left of a server socket that nothing refers to any more, and that is closed then, as the JDK closes its
     * own. It includes the TCP listener, because its descriptor is watched and must not be closed on its own before the
     * watch ends.
     */
    private record Cleanup(DualListener dual, PlatformSocket platform) implements Runnable {

        @Override
        public void run() {
            dual.close();
            try {
                platform.close();
            } catch (IOException e) {
                // there is no caller to tell
            }
        }
    }

    private final class BoundPort implements TcpPort {

        /** Returns the address as the JDK binds it: its wildcard sockets are IPv6 sockets that serve both families. */
        @Override
        public InetSocketAddress address() throws IOException {
            InetAddress host = boundHost.isAnyLocalAddress() && JdkInternals.isIpv6()
                    ? InetAddress.getByAddress(new byte[16])
                    : boundHost;
            return new InetSocketAddress(host, platform.getLocalPort());
        }

        @Override
        public boolean isAny() {
            return boundPort == 0;
        }

        @Override
        public boolean isShared() throws IOException {
            return platform.supportedOptions().contains(StandardSocketOptions.SO_REUSEPORT)
                    && Boolean.TRUE.equals(platform.getOption(StandardSocketOptions.SO_REUSEPORT));
        }

        @Override
        public void change() throws IOException {
            bindAgain();
        }
    }

    /** Makes another TCP socket with the same options, on another port of TCP's choice. */
    private void bindAgain() throws IOException {
        PlatformSocket next = PlatformSocket.server();
        next.create(true);
        try {
            for (SocketOption<?> option : platform.supportedOptions()) {
                Object value = platform.getOption(option);
                if (!value.equals(next.getOption(option))) {
                    next.setOption(option, value);
                }
            }
            next.setOption(SocketOptions.SO_TIMEOUT, timeout); // not among the supported options
            next.bind(boundHost, 0);
        } catch (IOException | RuntimeException | Error e) {
            next.close();
            throw e;
        }
        PlatformSocket last = platform;
        synchronized (closeLock) {
            if (closed) {
                next.close();
                throw new SocketException("Socket closed");
            }
            platform = next;
        }
        last.close(); // after the new one is bound, so that the port is a different one
    }

    private StreamConfig config() throws IOException {
        return buffers.streamConfig(context.settings())
                .withTypeOfService((int) platform.getOption(SocketOptions.IP_TOS));
    }

    // ---- accepting ----

    @Override
    protected void accept(SocketImpl s) throws IOException {
        if (!(s instanceof RSocketImpl child)) {
            throw new IOException(
                    "An instance of " + getClass() + " cannot accept a connection with an instance of " + s.getClass());
        }
        DualListener listener = dual;
        if (listener == null) {
            PlatformSocket connection = PlatformSocket.client();
            platform.accept(connection);
            handOver(connection, child, null);
        } else {
            accept(listener, child);
        }
    }

    private static void handOver(PlatformSocket connection, RSocketImpl child, TcpConnection record)
            throws IOException {
        try {
            child.accepted(connection, record);
        } catch (IOException e) {
            connection.close(); // the socket it was for has been closed
            throw e;
        }
    }

    private void accept(DualListener listener, RSocketImpl child) throws IOException {
        long nanos = TimeUnit.MILLISECONDS.toNanos(timeout);
        if (nanos == 0) {
            acceptLock.lock();
        } else {
            nanos = Locks.lock(acceptLock, nanos);
            if (nanos <= 0) {
                throw new SocketTimeoutException("Accept timed out");
            }
        }
        try {
            listener.accept(new AcceptTarget(child), nanos);
        } finally {
            acceptLock.unlock();
        }
    }

    /** Turns what is accepted into the child. */
    private final class AcceptTarget implements DualListener.Acceptor<RSocketImpl> {
        private final RSocketImpl child;

        AcceptTarget(RSocketImpl child) {
            this.child = child;
        }

        @Override
        public RSocketImpl takeTcp() throws IOException {
            if (tcpDescriptor == null || !JdkInternals.isReadable(tcpDescriptor)) {
                return null;
            }
            PlatformSocket connection = PlatformSocket.client();
            try {
                platform.accept(connection);
            } catch (SocketTimeoutException e) {
                return null; // the connection was gone again
            }
            handOver(
                    connection,
                    child,
                    TcpConnection.accepted(
                            context.counts(),
                            connection::localAddress,
                            () -> new InetSocketAddress(connection.getInetAddress(), connection.getPort())));
            return child;
        }

        @Override
        public RSocketImpl adopt(RdmaStream stream) throws IOException {
            child.accepted(stream, inherited.values());
            return child;
        }
    }

    @Override
    protected void close() throws IOException {
        synchronized (closeLock) {
            if (closed) {
                return;
            }
            closed = true;
        }
        if (dual != null) {
            dual.close(); // first, because it watches the TCP listener's descriptor
        }
        platform.close();
        if (cleanable != null) {
            cleanable.clean();
        }
    }

    // ---- addresses and options ----

    @Override
    protected FileDescriptor getFileDescriptor() {
        return platform.getFileDescriptor();
    }

    @Override
    protected InetAddress getInetAddress() {
        return platform.getInetAddress();
    }

    @Override
    protected int getPort() {
        return platform.getPort();
    }

    @Override
    protected int getLocalPort() {
        return platform.getLocalPort();
    }

    @Override
    protected Set<SocketOption<?>> supportedOptions() {
        return platform.supportedOptions();
    }

    @Override
    protected <T> void setOption(SocketOption<T> option, T value) throws IOException {
        platform.setOption(option, value);
        inherited.set(option, platform.getOption(option));
        if (option.name().equals("SO_RCVBUF")) {
            buffers.receive((int) (Object) value);
        }
    }

    @Override
    @SuppressWarnings("unchecked") // the value of an option has the option's type
    protected <T> T getOption(SocketOption<T> option) throws IOException {
        return (T) platform.getOption(option);
    }

    @Override
    public void setOption(int option, Object value) throws SocketException {
        if (option == SocketOptions.SO_TIMEOUT && dual != null) {
            platform.getOption(option); // throws if it is closed
            timeout = (int) value;
            return;
        }
        platform.setOption(option, value);
        switch (option) {
            case SocketOptions.SO_TIMEOUT -> timeout = (int) value;
            case SocketOptions.SO_RCVBUF -> buffers.receive((int) value);
            case SocketOptions.SO_REUSEADDR -> inherited.set(StandardSocketOptions.SO_REUSEADDR, value);
            default -> {}
        }
    }

    @Override
    public Object getOption(int option) throws SocketException {
        Object value = platform.getOption(option);
        return option == SocketOptions.SO_TIMEOUT ? (Object) timeout : value;
    }

    // ---- what a listening socket does not do ----

    private static SocketException notConnected() {
        return new SocketException("Not connected");
    }

    @Override
    protected void connect(String host, int port) throws IOException {
        throw notConnected();
    }

    @Override
    protected void connect(InetAddress address, int port) throws IOException {
        throw notConnected();
    }

    @Override
    protected void connect(SocketAddress address, int millis) throws IOException {
        throw notConnected();
    }

    @Override
    protected InputStream getInputStream() throws IOException {
        throw notConnected();
    }

    @Override
    protected OutputStream getOutputStream() throws IOException {
        throw notConnected();
    }

    @Override
    protected int available() throws IOException {
        throw notConnected();
    }

    @Override
    protected void sendUrgentData(int data) throws IOException {
        throw notConnected();
    }
}
