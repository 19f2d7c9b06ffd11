/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.nio;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.net.ProtocolFamily;
import java.net.ServerSocket;
import java.net.SocketAddress;
import java.net.SocketOption;
import java.net.SocketTimeoutException;
import java.net.StandardSocketOptions;
import java.nio.channels.AlreadyBoundException;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.IllegalBlockingModeException;
import java.nio.channels.NotYetBoundException;
import java.nio.channels.SelectionKey;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.locks.ReentrantLock;
import org.jrsocket.connect.BufferSizes;
import org.jrsocket.connect.DualListener;
import org.jrsocket.connect.Policy;
import org.jrsocket.connect.Rules;
import org.jrsocket.connect.TcpPort;
import org.jrsocket.stream.RdmaStream;
import org.jrsocket.stream.StreamConfig;

/**
 * A listening channel: one of the JDK's for TCP, which settles the port, and an RDMA listener on the same address and
 * port where policy and devices allow. Without one, the JDK's does everything. Safe for use by many threads, as the
 * JDK's.
 */
final class RServerSocketChannel extends ServerSocketChannel implements RdmaSelectable {

    private static final int DEFAULT_BACKLOG = 50;

    /** Whether a blocking accept sees that the channel is closed before it waits: JDK 25's does, JDK 17's does not. */
    private static final boolean LOOKS_FIRST = Runtime.version().feature() >= 24;

    private final RSelectorProvider provider;
    private final ProtocolFamily family; // null for the JDK's default
    private final ReentrantLock acceptLock = new ReentrantLock();

    private final Object stateLock = new Object();
    // Written under stateLock.
    private volatile ServerSocketChannel tcp; // replaced only by bind
    private volatile KeptPort kept; // where the policy wants no TCP; tcp is unbound then
    private volatile DualListener dual; // null: TCP alone
    private final ChannelKeys keys = new ChannelKeys();
    private final BufferSizes buffers = new BufferSizes();
    private ServerSocket socket;
    private final Accepting accepting = new Accepting();

    RServerSocketChannel(RSelectorProvider provider, ServerSocketChannel tcp, ProtocolFamily family) {
        super(provider);
        this.provider = provider;
        this.tcp = tcp;
        this.family = family;
    }

    private void ensureOpen() throws ClosedChannelException {
        if (!isOpen()) {
            throw new ClosedChannelException();
        }
    }

    ServerSocketChannel tcp() {
        return tcp;
    }

    // ---- binding ----

    @Override
    public ServerSocketChannel bind(SocketAddress local, int backlog) throws IOException {
        boolean listening = true;
        try {
            synchronized (stateLock) {
                if (kept != null) {
                    ensureOpen();
                    throw new AlreadyBoundException();
                }
                DualListener opened = openRdmaAlone(local, backlog);
                if (opened == null) {
                    tcp.bind(local, backlog);
                    listening = false;
                    opened = DualListener.open(
                            provider.stack(), new BoundPort(local, backlog), rdmaBacklog(backlog), config());
                }
                if (opened != null) {
                    listening = false;
                    listenOnBoth(opened);
                }
                listening = true;
            }
        } finally {
            if (!listening) {
                close(); // without stateLock, for which a close by another waits, and this one for that
            }
        }
        keys.refresh();
        return this;
    }

    /**
     * Where the policy wants no TCP nothing ever listens there: a TCP channel that did could not give up its port at
     * once if it is registered. With stateLock.
     *
     * @return null if the policy allows TCP, or TCP has to say what is wrong with the call
     */
    private DualListener openRdmaAlone(SocketAddress wanted, int backlog) throws IOException {
        InetSocketAddress address = wanted == null
                ? new InetSocketAddress(0)
                : wanted instanceof InetSocketAddress internet ? internet : null;
        if (address == null
                || address.isUnresolved()
                || !isOpen()
                || tcp.socket().isBound()
                || !mayBeRdmaAlone(address)) {
            return null;
        }
        KeptPort port = new KeptPort(provider, family, wanted);
        try {
            DualListener opened = isRdmaAlone(port.address())
                    ? DualListener.open(provider.stack(), port, rdmaBacklog(backlog), config())
                    : null;
            if (opened != null && !opened.isRdmaAlone()) {
                opened.close(); // there is no such rule for the port that was free
                opened = null;
            }
            if (opened != null) {
                kept = port;
            }
            return opened;
        } finally {
            if (kept != port) {
                port.close();
            }
        }
    }

    private static int rdmaBacklog(int backlog) {
        return backlog < 1 ? DEFAULT_BACKLOG : backlog;
    }

    /** Of a port that is yet to be chosen a rule may say so. */
    private boolean mayBeRdmaAlone(InetSocketAddress local) {
        return local.getPort() == 0 ? provider.stack().mayUse(Policy.RDMA) : isRdmaAlone(local);
    }

    private boolean isRdmaAlone(InetSocketAddress local) {
        return provider.stack().policy(Rules.Action.BIND, local) == Policy.RDMA;
    }

    private StreamConfig config() {
        return buffers.streamConfig(provider.stack().settings());
    }

    /** The port that TCP listens on; with stateLock. */
    private final class BoundPort implements TcpPort {
        private final InetSocketAddress wanted; // null for any
        private final int backlog;

        BoundPort(SocketAddress wanted, int backlog) {
            this.wanted = (InetSocketAddress) wanted;
            this.backlog = backlog;
        }

        @Override
        public InetSocketAddress address() throws IOException {
            return (InetSocketAddress) tcp.getLocalAddress();
        }

        @Override
        public boolean isAny() {
            return wanted == null || wanted.getPort() == 0;
        }

        @Override
        public void change() throws IOException {
            replaceTcp(fresh -> fresh.bind(wanted, backlog));
        }
    }

    private interface Setup {
        void on(ServerSocketChannel fresh) throws IOException;
    }

    /**
     * Another TCP channel with the same options takes the place of this one, and is set up before this one goes; with
     * stateLock.
     */
    private void replaceTcp(Setup setup) throws IOException {
        ServerSocketChannel last = tcp;
        ServerSocketChannel fresh = provider.openTcpServer(family);
        try {
            for (SocketOption<?> option : last.supportedOptions()) {
                copyOption(option, last, fresh);
            }
            setup.on(fresh);
            fresh.configureBlocking(last.isBlocking());
        } catch (IOException e) {
            fresh.close();
            throw e;
        }
        tcp = fresh;
        for (RSelectionKey key : keys.all()) {
            key.cancelInner();
            key.inner(fresh.register(key.owner().jdk(), 0, key));
        }
        last.close();
    }

    private static <T> void copyOption(SocketOption<T> option, ServerSocketChannel from, ServerSocketChannel to)
            throws IOException {
        T value = from.getOption(option);
        if (!Objects.equals(value, to.getOption(option))) {
            to.setOption(option, value);
        }
    }

    /**
     * With stateLock. Now that connections come from two sides, a blocking accept waits for both, and the TCP channel
     * itself never waits.
     */
    private void listenOnBoth(DualListener opened) throws IOException {
        try {
            if (kept == null && opened.isRdmaAlone()) {
                refuseTcp((InetSocketAddress) tcp.getLocalAddress()); // a rule for the port that TCP chose
            }
            tcp.configureBlocking(false);
        } catch (IOException e) {
            opened.close();
            throw e;
        }
        opened.observe(keys::progressed);
        dual = opened;
    }

    /** TCP clients are refused: a socket that does not listen keeps the port. */
    private void refuseTcp(InetSocketAddress local) throws IOException {
        replaceTcp(fresh -> {});
        kept = new KeptPort(provider, family, local);
    }

    // ---- accepting ----

    @Override
    public SocketChannel accept() throws IOException {
        acceptLock.lock();
        try {
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
     * The socket adaptor's.
     *
     * @param nanos more than 0
     */
    SocketChannel acceptWithTimeout(long nanos) throws IOException {
        acceptLock.lock();
        try {
            if (!isBlocking()) {
                throw new IllegalBlockingModeException();
            }
            DualListener rdma = bound();
            if (rdma == null) {
                tcp.socket().setSoTimeout((int) Math.max(1, nanos / 1_000_000));
                try {
                    return new RSocketChannel(provider, tcp.socket().accept().getChannel());
                } finally {
                    closeWithTcp();
                }
            }
            return acceptBlocking(rdma, nanos);
        } finally {
            acceptLock.unlock();
        }
    }

    /**
     * The RDMA listener, null if TCP listens alone. With acceptLock. Waits for a bind that is under way: whoever was in
     * the TCP channel already would hold up its change of mode, and close with it.
     */
    private DualListener bound() throws IOException {
        assert acceptLock.isHeldByCurrentThread();
        if (LOOKS_FIRST) {
            ensureOpen();
        }
        DualListener current = dual;
        if (current != null) {
            return current;
        }
        boolean isBound;
        synchronized (stateLock) {
            current = dual;
            isBound = current != null || tcp.socket().isBound();
        }
        if (!isBound) {
            refuseUnbound();
        }
        return current;
    }

    /** As the JDK, which closes first if the thread is interrupted. */
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
            SocketChannel accepted = tcp.accept();
            return accepted == null ? null : new RSocketChannel(provider, accepted);
        } finally {
            closeWithTcp();
        }
    }

    /** A thread interrupted in there closes the inner channel: then this one closes too. */
    private void closeWithTcp() throws IOException {
        if (!tcp.isOpen()) {
            close();
        }
    }

    /** Makes channels of what is accepted; with acceptLock. */
    private final class Accepting implements DualListener.Acceptor<SocketChannel> {

        @Override
        public SocketChannel takeTcp() throws IOException {
            SocketChannel accepted = kept != null ? null : tcp.accept();
            return accepted == null ? null : RSocketChannel.accepted(provider, accepted);
        }

        @Override
        public SocketChannel adopt(RdmaStream stream) {
            try {
                Rights.checkAccept(stream.remoteAddress());
            } catch (SecurityException e) {
                stream.close(); // and not reset, as one of TCP's
                throw e;
            }
            return new RSocketChannel(provider, stream);
        }
    }

    /** With acceptLock. */
    private SocketChannel acceptBlocking(DualListener rdma, long nanos) throws IOException {
        assert acceptLock.isHeldByCurrentThread();
        long start = System.nanoTime();
        SocketChannel accepted = null;
        boolean timedOut = false;
        try {
            begin();
            if (isOpen() && kept == null) {
                rdma.watchTcp(JdkChannels.descriptor(tcp));
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

    /** An interrupt takes from the caller what has been accepted already. */
    private void endAccept(SocketChannel accepted, boolean timedOut) throws IOException {
        boolean interrupted = true;
        try {
            end(accepted != null || timedOut && isOpen());
            interrupted = false;
        } finally {
            if (interrupted && accepted != null) {
                accepted.close(); // nobody else knows it
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
            rdma.close(); // first: the service thread watches the other's descriptor for it
        }
        tcp.close();
        if (kept != null) {
            kept.close();
        }
    }

    @Override
    protected void implConfigureBlocking(boolean block) throws IOException {
        acceptLock.lock();
        try {
            synchronized (stateLock) {
                keys.endCancelled();
                ensureOpen(); // closed while this one waited for an accept
                if (dual == null) {
                    // with stateLock, because of bind; it has nobody to wait for, who would hold acceptLock
                    tcp.configureBlocking(block);
                }
            }
        } finally {
            acceptLock.unlock();
        }
    }

    // ---- addresses and options ----

    @Override
    public SocketAddress getLocalAddress() throws IOException {
        return kept != null ? kept.address() : tcp.getLocalAddress();
    }

    /** For the socket adaptor, which still knows it after the close. */
    InetSocketAddress boundAddress() {
        KeptPort port = kept;
        if (port != null) {
            return port.boundAddress();
        }
        ServerSocket inner = tcp.socket();
        return inner.getInetAddress() == null
                ? null
                : new InetSocketAddress(inner.getInetAddress(), inner.getLocalPort());
    }

    @Override
    public <T> ServerSocketChannel setOption(SocketOption<T> name, T value) throws IOException {
        tcp.setOption(name, value);
        if (name == StandardSocketOptions.SO_RCVBUF) {
            buffers.receive((Integer) value);
        }
        return this;
    }

    @Override
    public <T> T getOption(SocketOption<T> name) throws IOException {
        return tcp.getOption(name);
    }

    @Override
    public Set<SocketOption<?>> supportedOptions() {
        return tcp.supportedOptions();
    }

    @Override
    public ServerSocket socket() {
        synchronized (stateLock) {
            if (socket == null) {
                try {
                    socket = new RServerSocketAdaptor(this);
                } catch (IOException e) {
                    throw new UncheckedIOException(e);
                }
            }
            return socket;
        }
    }

    // ---- for selectors ----

    @Override
    public void join(RSelectionKey key) {
        synchronized (stateLock) {
            keys.add(key);
            try {
                key.inner(tcp.register(key.owner().jdk(), 0, key));
            } catch (ClosedChannelException e) {
                // closed inside, soon outside: the key is cancelled then
            }
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
        return kept != null ? 0 : interest; // a socket that does not listen is "ready" all the time: it has hung up
    }

    @Override
    public int readyOps(int interest, boolean poll) {
        DualListener rdma = dual;
        return (interest & SelectionKey.OP_ACCEPT) != 0 && rdma != null && rdma.isReady() ? SelectionKey.OP_ACCEPT : 0;
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
            InetSocketAddress local = boundAddress();
            text.append(local == null ? "unbound" : local);
        }
        return text.append(']').toString();
    }
}
