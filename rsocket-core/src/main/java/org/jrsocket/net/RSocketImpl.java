/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.net;

import java.io.FileDescriptor;
import java.io.IOException;
import java.io.InputStream;
import java.io.InterruptedIOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.net.SocketException;
import java.net.SocketImpl;
import java.net.SocketOption;
import java.net.SocketOptions;
import java.net.SocketTimeoutException;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import org.jrsocket.connect.BufferSizes;
import org.jrsocket.connect.OutgoingConnection;
import org.jrsocket.connect.TcpConnection;
import org.jrsocket.connect.TransportContext;
import org.jrsocket.stream.RdmaStream;
import org.jrsocket.stream.StreamConfig;

/**
 * The implementation of a {@link java.net.Socket}. Until it is connected it is a TCP socket of the JDK's, bound and
 * with its options as the application wants, although the kernel is told of it only when it must be. Connecting, or
 * being accepted, decides whether it stays one or becomes an {@link RdmaSocket}.
 *
 * <pre>
 *                 create            connect: TCP, or no RDMA
 *   (new) -------------> undecided -------------------------> TCP   : platform does everything
 *     |                      \------ connect: RDMA ---------> RDMA  : rdma is set; platform keeps options and the bound
 *     port \---- being accepted: to TCP or RDMA at once                    close leads from each to closed
 * </pre>
 *
 * Safe for use by many threads, like the JDK's.
 */
final class RSocketImpl extends SocketImpl {

    private final TransportContext context;
    private final boolean proxied;
    private final ReentrantLock connectLock = new ReentrantLock();

    private final Object stateLock = new Object();
    private volatile PlatformSocket platform = PlatformSocket.client(); // replaced when accepted; under stateLock
    private volatile RdmaSocket rdma; // set once, under stateLock
    private OutgoingConnection connecting; // guarded by stateLock; while connecting over RDMA
    private volatile TcpConnection recorded; // null unless TCP carries it and events are recorded
    private boolean closed; // guarded by stateLock

    private final BufferSizes buffers = new BufferSizes();
    private volatile boolean created;
    private volatile boolean bound;
    private volatile boolean datagrams; // made by Socket's deprecated constructors; never uses RDMA

    /** @param proxied whether SOCKS proxies apply, as to any socket but {@code new Socket(Proxy.NO_PROXY)} */
    RSocketImpl(TransportContext context, boolean proxied) {
        this.context = context;
        this.proxied = proxied;
    }

    /** Returns whether RDMA carries it. */
    boolean isRdma() {
        return rdma != null;
    }

    // ---- connecting ----

    @Override
    protected void create(boolean stream) throws IOException {
        datagrams = !stream;
        if (stream) {
            platform.createLater();
        } else {
            platform.create(false);
        }
        created = true;
    }

    @Override
    protected void bind(InetAddress host, int port) throws IOException {
        platform.bind(host, port);
        bound = true;
    }

    @Override
    protected void connect(String host, int port) throws IOException {
        connect(new InetSocketAddress(host, port), 0);
    }

    @Override
    protected void connect(InetAddress address, int port) throws IOException {
        connect(new InetSocketAddress(address, port), 0);
    }

    @Override
    protected void connect(SocketAddress remote, int millis) throws IOException {
        if (!(remote instanceof InetSocketAddress address)) {
            throw new IOException("Unsupported address type");
        }
        connectLock.lock();
        try {
            if (rdma != null) {
                throw new SocketException("Already connected");
            }
            if (proxied && Proxies.mayUseSocks(address)) {
                OutgoingConnection connection = context.connector()
                        .connectThroughProxy(address, TimeUnit.MILLISECONDS.toNanos(millis), new Platform(address));
                platform = platform.throughSocks();
                connection.connectTcp();
                recorded = connection.record();
            } else if (address.isUnresolved() || address.getPort() == 0 || datagrams || !isFresh()) {
                platform.connect(address, millis); // connects a datagram socket, else says what is wrong
            } else {
                connectDirectly(address, millis);
            }
        } finally {
            connectLock.unlock();
        }
    }

    /** Returns whether this is neither connected nor closed. Called with connectLock held. */
    private boolean isFresh() {
        assert connectLock.isHeldByCurrentThread();
        synchronized (stateLock) {
            return !closed && platform.getPort() == 0;
        }
    }

    private void connectDirectly(InetSocketAddress address, int millis) throws IOException {
        InetSocketAddress target = address.getAddress().isAnyLocalAddress()
                ? new InetSocketAddress(InetAddress.getLocalHost(), address.getPort())
                : address; // as the JDK does
        OutgoingConnection connection;
        try {
            connection = context.connector()
                    .connect(
                            bound ? platform.localAddress() : null,
                            target,
                            config(),
                            TimeUnit.MILLISECONDS.toNanos(millis),
                            new Platform(address));
            RdmaStream stream = connection.isTcp() ? null : await(connection);
            if (stream != null) {
                become(stream, target.getAddress());
                return;
            }
        } catch (IOException e) {
            close();
            if (e instanceof InterruptedIOException && !(e instanceof SocketTimeoutException)) {
                throw new SocketException("Closed by interrupt"); // the thread stays interrupted, as with the JDK
            }
            throw e;
        }
        connection.connectTcp();
        recorded = connection.record();
    }

    /** The platform's socket, which connects if RDMA does not. */
    private final class Platform implements OutgoingConnection.Tcp {
        private final InetSocketAddress remote;

        Platform(InetSocketAddress remote) {
            this.remote = remote;
        }

        @Override
        public boolean connect(int millis) throws IOException {
            platform.connect(remote, millis);
            return true;
        }

        @Override
        public InetSocketAddress localAddress() throws IOException {
            return platform.localAddress();
        }
    }

    private StreamConfig config() throws SocketException {
        return buffers.streamConfig(context.settings())
                .withTypeOfService((int) platform.getOption(SocketOptions.IP_TOS));
    }

    private RdmaStream await(OutgoingConnection connection) throws IOException {
        synchronized (stateLock) {
            if (closed) {
                connection.cancel();
            }
            connecting = connection;
        }
        try {
            return connection.awaitRdma();
        } finally {
            synchronized (stateLock) {
                connecting = null;
            }
        }
    }

    /** Makes {@code stream} the connection of this socket. */
    private void become(RdmaStream stream, InetAddress remote) throws IOException {
        synchronized (stateLock) {
            if (!closed) {
                // Set before rdma: threads that see a connection there read these without a lock.
                address = remote;
                port = stream.remoteAddress().getPort();
                localport = stream.localAddress().getPort();
                try {
                    rdma = new RdmaSocket(this, stream, platform);
                } catch (IOException | RuntimeException | Error e) {
                    stream.abort();
                    throw e;
                }
                return;
            }
        }
        stream.abort();
        throw new SocketException("Socket closed");
    }

    // ---- being accepted ----

    /**
     * Makes {@code stream}, which a server accepted, the connection of this socket.
     *
     * @param inherited the options that were set on the server socket
     */
    void accepted(RdmaStream stream, Map<SocketOption<?>, Object> inherited) throws IOException {
        synchronized (stateLock) {
            address = stream.remoteAddress().getAddress();
            port = stream.remoteAddress().getPort();
            localport = stream.localAddress().getPort();
            rdma = new RdmaSocket(this, stream, inherited, dropPlatform()); // last, as above
        }
    }

    /** Makes {@code connection}, which a server accepted, the connection of this socket. */
    void accepted(PlatformSocket connection, TcpConnection record) throws IOException {
        recorded = record;
        synchronized (stateLock) {
            int timeout = dropPlatform();
            if (timeout != 0) {
                connection.setOption(SocketOptions.SO_TIMEOUT, timeout);
            }
            platform = connection;
            fd = connection.getFileDescriptor();
            address = connection.getInetAddress();
            port = connection.getPort();
            localport = connection.getLocalPort();
        }
    }

    /** Closes the previous socket and returns its SO_TIMEOUT, which survives as with the JDK; stateLock is held. */
    private int dropPlatform() throws IOException {
        assert Thread.holdsLock(stateLock);
        if (!created) {
            return 0;
        }
        int timeout = (int) platform.getOption(SocketOptions.SO_TIMEOUT);
        platform.close();
        return timeout;
    }

    @Override
    protected void listen(int backlog) throws IOException {
        platform.listen(backlog);
    }

    @Override
    protected void accept(SocketImpl s) throws IOException {
        throw new SocketException("Not a server socket");
    }

    // ---- data ----

    @Override
    protected InputStream getInputStream() throws IOException {
        RdmaSocket r = rdma;
        return r != null ? r.input(this::close) : platform.getInputStream();
    }

    @Override
    protected OutputStream getOutputStream() throws IOException {
        RdmaSocket r = rdma;
        return r != null ? r.output(this::close) : platform.getOutputStream();
    }

    @Override
    protected int available() throws IOException {
        RdmaSocket r = rdma;
        return r != null ? r.available() : platform.available();
    }

    @Override
    protected void shutdownInput() throws IOException {
        RdmaSocket r = rdma;
        if (r != null) {
            r.shutdownInput();
        } else {
            platform.shutdownInput();
        }
    }

    @Override
    protected void shutdownOutput() throws IOException {
        RdmaSocket r = rdma;
        if (r != null) {
            r.shutdownOutput();
        } else {
            platform.shutdownOutput();
        }
    }

    @Override
    protected boolean supportsUrgentData() {
        return true;
    }

    @Override
    protected void sendUrgentData(int data) throws IOException {
        RdmaSocket r = rdma;
        if (r != null) {
            r.sendUrgentData();
        } else {
            platform.sendUrgentData(data);
        }
    }

    @Override
    protected void close() throws IOException {
        RdmaSocket connected;
        OutgoingConnection pending;
        synchronized (stateLock) {
            closed = true;
            connected = rdma;
            pending = connecting;
        }
        if (pending != null) {
            pending.cancel();
        }
        if (connected != null) {
            connected.close();
        } else {
            platform.close();
            TcpConnection.closed(recorded);
        }
    }

    // ---- addresses and options ----

    @Override
    protected FileDescriptor getFileDescriptor() {
        return rdma != null ? fd : platform.getFileDescriptor();
    }

    @Override
    protected InetAddress getInetAddress() {
        return rdma != null ? address : platform.getInetAddress();
    }

    @Override
    protected int getPort() {
        return rdma != null ? port : platform.getPort();
    }

    @Override
    protected int getLocalPort() {
        return rdma != null ? localport : platform.getLocalPort();
    }

    @Override
    protected Set<SocketOption<?>> supportedOptions() {
        return platform.supportedOptions();
    }

    @Override
    protected <T> void setOption(SocketOption<T> option, T value) throws IOException {
        RdmaSocket r = rdma;
        if (r != null) {
            r.setOption(option, value);
            return;
        }
        platform.setOption(option, value);
        switch (option.name()) {
            case "SO_SNDBUF" -> buffers.send((int) (Object) value);
            case "SO_RCVBUF" -> buffers.receive((int) (Object) value);
            default -> {}
        }
    }

    @Override
    @SuppressWarnings("unchecked") // the value of an option has the option's type
    protected <T> T getOption(SocketOption<T> option) throws IOException {
        RdmaSocket r = rdma;
        return (T) (r != null ? r.getOption(option) : platform.getOption(option));
    }

    @Override
    public void setOption(int option, Object value) throws SocketException {
        RdmaSocket r = rdma;
        if (r != null) {
            r.setOption(option, value);
            return;
        }
        platform.setOption(option, value);
        switch (option) {
            case SocketOptions.SO_SNDBUF -> buffers.send((int) value);
            case SocketOptions.SO_RCVBUF -> buffers.receive((int) value);
            default -> {}
        }
    }

    @Override
    public Object getOption(int option) throws SocketException {
        RdmaSocket r = rdma;
        return r != null ? r.getOption(option) : platform.getOption(option);
    }
}
