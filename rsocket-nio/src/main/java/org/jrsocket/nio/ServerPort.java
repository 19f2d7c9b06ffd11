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
import java.net.SocketOption;
import java.net.StandardSocketOptions;
import java.nio.channels.ServerSocketChannel;
import java.util.Objects;
import org.jrsocket.connect.DualListener;
import org.jrsocket.connect.Policy;
import org.jrsocket.connect.Rules;
import org.jrsocket.connect.TcpPort;
import org.jrsocket.stream.StreamConfig;

/**
 * The TCP side of a server channel, which determines its port: a channel of the JDK's and, where the policy excludes
 * TCP, a {@link ReservedPort}. Either may have to be replaced while the server channel binds, because RDMA needs
 * another port or TCP clients are to be refused. Modified with the server channel's state lock held; read without it.
 */
final class ServerPort {

    /** The backlog if none is given, or one below 1; the same as in the JDK. */
    static final int DEFAULT_BACKLOG = 50;

    private final ProviderServices services;
    private final ProtocolFamily family; // null for the JDK's default
    private final Object stateLock; // the server channel's, like the keys
    private final ChannelKeys keys;
    private volatile ServerSocketChannel tcp; // replaced only by bind
    private volatile ReservedPort kept; // set where the policy excludes TCP; tcp is unbound then

    ServerPort(
            ProviderServices services,
            ServerSocketChannel tcp,
            ProtocolFamily family,
            Object stateLock,
            ChannelKeys keys) {
        this.services = services;
        this.tcp = tcp;
        this.family = family;
        this.stateLock = stateLock;
        this.keys = keys;
    }

    /** Returns the JDK's channel, which has the options; never bound where TCP is {@linkplain #refusesTcp refused}. */
    ServerSocketChannel tcp() {
        return tcp;
    }

    /** Returns whether RDMA listens alone, and TCP clients are refused. */
    boolean refusesTcp() {
        return kept != null;
    }

    boolean isBound() {
        return kept != null || tcp.socket().isBound();
    }

    SocketAddress address() throws IOException {
        return kept != null ? kept.address() : tcp.getLocalAddress();
    }

    /** Returns the same address, also after the close; null if unbound. */
    InetSocketAddress boundAddress() {
        ReservedPort port = kept;
        if (port != null) {
            return port.boundAddress();
        }
        ServerSocket inner = tcp.socket();
        return inner.getInetAddress() == null
                ? null
                : new InetSocketAddress(inner.getInetAddress(), inner.getLocalPort());
    }

    /**
     * Binds the port: TCP listens, or is {@linkplain #refusesTcp refused}, and RDMA listens where it can. Called with
     * stateLock held, for an open channel.
     *
     * @param wanted null for any port
     * @param backlog as the application gave it
     * @return null if TCP listens alone
     * @throws IOException as from the JDK's channel; if TCP is bound by then, the channel has to be closed
     */
    DualListener bind(SocketAddress wanted, int backlog, StreamConfig config) throws IOException {
        assert Thread.holdsLock(stateLock);
        int rdmaBacklog = backlog < 1 ? DEFAULT_BACKLOG : backlog;
        InetSocketAddress address = wanted == null
                ? new InetSocketAddress(0)
                : wanted instanceof InetSocketAddress internet ? internet : null;
        if (address != null && !address.isUnresolved() && !tcp.socket().isBound()) {
            DualListener opened = mayBeRdmaAlone(address) ? openRdmaAlone(wanted, rdmaBacklog, config) : null;
            ReservedPort reserved = opened == null ? reserve(address) : null;
            if (reserved != null) {
                opened = openBeforeTcp(reserved, wanted, backlog, rdmaBacklog, config);
            }
            if (opened != null || reserved != null) {
                return opened;
            }
        }
        tcp.bind(wanted, backlog);
        return DualListener.open(services.context(), new BoundPort(wanted, backlog), rdmaBacklog, config);
    }

    /**
     * Opens an RDMA listener that has its port to itself, where the policy excludes TCP. TCP never listens there: a
     * registered channel that did could not give up its port at once.
     *
     * @return null if the policy allows TCP
     */
    private DualListener openRdmaAlone(SocketAddress wanted, int backlog, StreamConfig config) throws IOException {
        ReservedPort port = new ReservedPort(services, family, wanted, false);
        try {
            DualListener opened =
                    isRdmaAlone(port.address()) ? DualListener.open(services.context(), port, backlog, config) : null;
            if (opened != null && !opened.isRdmaAlone()) {
                opened.close(); // there is no such rule for the free port that was found
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

    /**
     * Keeps a port that was asked for, without listening, until both transports can listen. Clients of a restarted
     * server wait for such a port, and use whichever answers first.
     *
     * @return null if no port was asked for, or only TCP is to listen there, or TCP has to report what is wrong
     */
    private ReservedPort reserve(InetSocketAddress wanted) {
        if (wanted.getPort() == 0 || services.context().policy(Rules.Action.BIND, wanted) == Policy.TCP) {
            return null;
        }
        try {
            // without this option, no other socket may be bound to the port
            return tcp.getOption(StandardSocketOptions.SO_REUSEADDR)
                    ? new ReservedPort(services, family, wanted, isShared())
                    : null;
        } catch (IOException | RuntimeException e) {
            return null;
        }
    }

    /** Lets RDMA listen first: clients that it refused while TCP already listened would connect to TCP and stay. */
    private DualListener openBeforeTcp(
            ReservedPort reserved, SocketAddress wanted, int backlog, int rdmaBacklog, StreamConfig config)
            throws IOException {
        DualListener opened = null;
        boolean listening = false;
        try {
            opened = DualListener.open(services.context(), reserved, rdmaBacklog, config);
            tcp.bind(wanted, backlog);
            reserved.close();
            listening = true;
            return opened;
        } finally {
            if (!listening) {
                if (opened != null) {
                    opened.close();
                }
                reserved.close();
            }
        }
    }

    /** Returns whether the policy may exclude TCP: for a port that is yet to be chosen, some rule may do so. */
    private boolean mayBeRdmaAlone(InetSocketAddress local) {
        return local.getPort() == 0 ? services.context().mayUse(Policy.RDMA) : isRdmaAlone(local);
    }

    private boolean isRdmaAlone(InetSocketAddress local) {
        return services.context().policy(Rules.Action.BIND, local) == Policy.RDMA;
    }

    private boolean isShared() throws IOException {
        return tcp.supportedOptions().contains(StandardSocketOptions.SO_REUSEPORT)
                && tcp.getOption(StandardSocketOptions.SO_REUSEPORT);
    }

    /** The port that TCP listens on, for an RDMA listener beside it. Used with stateLock held. */
    final class BoundPort implements TcpPort {
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
        public boolean isShared() throws IOException {
            return ServerPort.this.isShared();
        }

        @Override
        public void change() throws IOException {
            replaceTcp(fresh -> fresh.bind(wanted, backlog));
        }
    }

    /** Refuses TCP clients from now on: a socket that does not listen keeps the port. Called with stateLock held. */
    void refuseTcp() throws IOException {
        InetSocketAddress local = (InetSocketAddress) tcp.getLocalAddress();
        replaceTcp(fresh -> {});
        kept = new ReservedPort(services, family, local, false);
    }

    private interface Setup {
        void on(ServerSocketChannel fresh) throws IOException;
    }

    /**
     * Replaces the TCP channel by another with the same options, which is set up before the old one is closed. Called
     * with stateLock held.
     */
    private void replaceTcp(Setup setup) throws IOException {
        assert Thread.holdsLock(stateLock);
        ServerSocketChannel last = tcp;
        ServerSocketChannel fresh = services.openTcpServer(family);
        try {
            for (SocketOption<?> option : last.supportedOptions()) {
                copyOption(option, last, fresh);
            }
            setup.on(fresh);
            fresh.configureBlocking(last.isBlocking());
        } catch (IOException | RuntimeException | Error e) {
            fresh.close();
            throw e;
        }
        tcp = fresh;
        for (RSelectionKey key : keys.all()) {
            key.cancelInner();
            key.watchTcp(fresh);
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

    void close() throws IOException {
        tcp.close();
        if (kept != null) {
            kept.close();
        }
    }
}
