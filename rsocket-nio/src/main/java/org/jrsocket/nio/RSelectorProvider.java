/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.nio;

import java.io.IOException;
import java.net.Inet4Address;
import java.net.InetAddress;
import java.net.ProtocolFamily;
import java.net.SocketException;
import java.net.SocketOption;
import java.net.StandardProtocolFamily;
import java.nio.channels.Channel;
import java.nio.channels.DatagramChannel;
import java.nio.channels.Pipe;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.channels.spi.AbstractSelector;
import java.nio.channels.spi.AsynchronousChannelProvider;
import java.nio.channels.spi.SelectorProvider;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jrsocket.connect.ConfigurationException;
import org.jrsocket.connect.Policy;
import org.jrsocket.connect.Settings;
import org.jrsocket.connect.TransportContext;
import org.jrsocket.connect.TransportHolder;
import org.jrsocket.stream.RdmaStream;
import org.jrsocket.verbs.VerbsUnavailableException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Channels and selectors that use RDMA where both ends can, and TCP elsewhere. Set for a whole JVM by
 * {@code -Djava.nio.channels.spi.SelectorProvider} or {@link #install}, or used by itself. Where the process has no
 * RDMA, and no rule insists on it, everything it opens is the JDK's own. Safe for use by many threads.
 */
public final class RSelectorProvider extends SelectorProvider {

    private static final Logger LOG = LoggerFactory.getLogger(RSelectorProvider.class);
    private static final String PROPERTY = "java.nio.channels.spi.SelectorProvider";

    /**
     * What providers made by the no-argument constructor share.
     *
     * @param own whether it was made here, not brought by the agent for example
     */
    private record Shared(TransportContext context, TransportHolder holder, boolean own) {}

    private static Shared shared; // guarded by the class
    /** Whether a warning is due if there is no RDMA: {@code shared} was made here, so no agent has said it. */
    private static final AtomicBoolean WARNING_DUE = new AtomicBoolean();

    private final SelectorProvider jdk;
    private final TransportContext context;
    private final TransportHolder holder;
    private volatile ClientDefaults clientDefaults;
    /** A selector of the JDK's was handed out, which takes no channel of ours: so it stays with TCP, whatever comes. */
    private volatile boolean plainSelectors;

    /**
     * With the settings of the system properties and the environment, unless {@link #share} brought others.
     *
     * @throws IllegalStateException a setting cannot be used, or the JDK's internals are not open; the message says
     *     what to do
     */
    public RSelectorProvider() {
        this(shared());
    }

    private RSelectorProvider(Shared shared) {
        this(shared.context, shared.holder);
    }

    /** @param holder the one that {@code context} uses */
    public RSelectorProvider(TransportContext context, TransportHolder holder) {
        this.jdk = JdkChannels.defaultProvider();
        this.context = context;
        this.holder = holder;
    }

    private static synchronized Shared shared() {
        if (shared == null) {
            TransportHolder holder = TransportHolder.rdmaCore();
            try {
                shared = new Shared(
                        TransportContext.open(Settings.read(null, System.getProperties(), System.getenv()), holder),
                        holder,
                        true);
                WARNING_DUE.set(true);
            } catch (ConfigurationException e) {
                throw new IllegalStateException("jrsocket: " + e.getMessage(), e);
            }
        }
        return shared;
    }

    /** What providers made by the no-argument constructor share from now on. */
    public static synchronized void share(TransportContext context, TransportHolder holder) {
        shared = new Shared(context, holder, false);
    }

    /** The same as if it was made here; for tests. */
    static synchronized void shareAsOwn(TransportContext context, TransportHolder holder) {
        shared = new Shared(context, holder, true);
    }

    /**
     * Closes the RDMA transport of providers made by the no-argument constructor, if it was made here: what
     * {@link #share} brought is somebody else's. Connections over RDMA are reset, what is asked for later uses TCP.
     * Waits for the device to let go; harmless when repeated.
     */
    public static void closeShared() {
        Shared made;
        synchronized (RSelectorProvider.class) {
            made = shared;
        }
        if (made != null && made.own) {
            WARNING_DUE.set(false); // that there is none any more is no news
            made.holder.close();
        }
    }

    /**
     * Makes this the provider of the whole JVM, which works only before anybody has used NIO sockets.
     *
     * @throws IOException another provider is in use already, or the program brings one of its own
     */
    public static synchronized void install(TransportContext context, TransportHolder holder) throws IOException {
        JdkChannels.ensureOpen();
        BroughtProviders.ensureFound(RSelectorProvider.class); // the JDK's own does not survive one that fails
        share(context, holder);
        if (System.getProperty(PROPERTY) == null) {
            BroughtProviders.ensureNone(SelectorProvider.class, "selector provider");
        }
        String before = System.setProperty(PROPERTY, RSelectorProvider.class.getName());
        SelectorProvider current = SelectorProvider.provider();
        if (!(current instanceof RSelectorProvider)) {
            if (before == null) {
                System.clearProperty(PROPERTY);
            } else {
                System.setProperty(PROPERTY, before);
            }
            throw new IOException("another selector provider is in use already: "
                    + current.getClass().getName());
        }
    }

    // ---- what is opened ----

    @Override
    public SocketChannel openSocketChannel() throws IOException {
        SocketChannel tcp = jdk.openSocketChannel();
        return isRdmaUsable() ? new RSocketChannel(this, tcp, null) : tcp;
    }

    /**
     * Families as the JDK's {@code SocketChannel.open(ProtocolFamily)} takes them; UNIX gives a channel of the JDK's.
     */
    @Override
    public SocketChannel openSocketChannel(ProtocolFamily family) throws IOException {
        SocketChannel tcp = jdk.openSocketChannel(family);
        return isInternet(family) && isRdmaUsable() ? new RSocketChannel(this, tcp, family) : tcp;
    }

    @Override
    public ServerSocketChannel openServerSocketChannel() throws IOException {
        return server(jdk.openServerSocketChannel(), null);
    }

    private ServerSocketChannel server(ServerSocketChannel tcp, ProtocolFamily family) throws IOException {
        if (!isRdmaUsable()) {
            return tcp;
        }
        if (clientDefaults == null) {
            // here, where a lack of descriptors is somebody's to hear
            try (SocketChannel client = jdk.openSocketChannel()) {
                clientDefaults = new ClientDefaults(client.supportedOptions(), ChannelOptions.keepIdle(client));
            } catch (IOException e) {
                tcp.close();
                throw e;
            }
        }
        return new RServerSocketChannel(this, tcp, family);
    }

    @Override
    public ServerSocketChannel openServerSocketChannel(ProtocolFamily family) throws IOException {
        ServerSocketChannel tcp = jdk.openServerSocketChannel(family);
        return isInternet(family) ? server(tcp, family) : tcp;
    }

    private static boolean isInternet(ProtocolFamily family) {
        return family == StandardProtocolFamily.INET || family == StandardProtocolFamily.INET6;
    }

    @Override
    public AbstractSelector openSelector() throws IOException {
        return openSelector(false);
    }

    private AbstractSelector openSelector(boolean eventLoop) throws IOException {
        boolean ours = isRdmaUsable();
        AbstractSelector inner = jdk.openSelector();
        if (ours) {
            return eventLoop ? RSelector.forEventLoop(this, inner, Selection.YIELD_NANOS) : new RSelector(this, inner);
        }
        plainSelectors = true; // not if there was no descriptor for it: RDMA may lack nothing else
        return inner;
    }

    @Override
    public DatagramChannel openDatagramChannel() throws IOException {
        return jdk.openDatagramChannel();
    }

    @Override
    public DatagramChannel openDatagramChannel(ProtocolFamily family) throws IOException {
        return jdk.openDatagramChannel(family);
    }

    @Override
    public Pipe openPipe() throws IOException {
        return jdk.openPipe();
    }

    /** What inetd or systemd passed on; a connection of the JDK's, over TCP, that our selectors take too. */
    @Override
    public Channel inheritedChannel() throws IOException {
        return jdk.inheritedChannel();
    }

    // ---- for transports that are built on this provider ----

    /**
     * Asks for RDMA.
     *
     * @throws VerbsUnavailableException the reason why this process has none
     */
    public void ensureRdma() throws VerbsUnavailableException {
        holder.transport();
    }

    /**
     * A selector for an event loop: one thread, which selects again and again, and which alone touches the selected
     * keys. While something is ready at each selection, what the kernel has to tell may be reported by a later one,
     * some microseconds later; and a selected key costs no memory.
     */
    public AbstractSelector openEventLoopSelector() throws IOException {
        return openSelector(true);
    }

    /**
     * The RDMA connection of a channel, for lending memory to it and borrowing from it beside the channel's own reads
     * and writes; null if it is not connected over RDMA. Whoever uses it sees to it that one thread at a time reads,
     * and one writes; the channel closes it. A key of such a channel is ready for OP_CONNECT when
     * {@link RdmaStream#isAcknowledged} says so.
     */
    public static RdmaStream streamOf(SocketChannel channel) {
        return channel instanceof RSocketChannel ours ? ours.stream() : null;
    }

    /**
     * Says how many milliseconds the owner of a channel that does not block gives the connect to come, 0 for no limit:
     * RDMA leaves half of them to TCP, as with the time limit of a socket. To end the connect is the owner's.
     */
    public static void limitConnect(SocketChannel channel, int millis) {
        if (channel instanceof RSocketChannel ours) {
            ours.limitConnect(millis);
        }
    }

    /**
     * What to throw for a write to the {@linkplain #streamOf stream} that failed: what the channel's own write would
     * throw. It is a reset only if nobody has heard of the reset before.
     */
    public static IOException failureOfWrite(SocketChannel channel, SocketException e) {
        RSocketChannel ours = (RSocketChannel) channel;
        return ours.failure(ours.rdma(), e);
    }

    /**
     * Has to be asked for each read of the {@linkplain #streamOf stream} that fails: whether to report the end of the
     * stream instead, because a writer was the first to hear of the reset. If not, the reader counts as told, and later
     * writes fail with a broken pipe.
     */
    public static boolean isTheEndOnly(SocketChannel channel, SocketException e) {
        return ((RSocketChannel) channel).rdma().isTheEndOnly(e);
    }

    // ---- for other packages of this project ----

    /** Closes a channel that a selector has, for one that is no selectable channel itself. */
    public static void closeAtOnce(SocketChannel channel) throws IOException {
        if (channel instanceof RSocketChannel ours) {
            ours.closeAtOnce();
        } else {
            channel.close();
        }
    }

    /** The JDK's own provider of asynchronous channels, whatever is set for the system. */
    public static AsynchronousChannelProvider newJdkAsynchronousProvider() {
        return JdkChannels.newAsynchronousProvider();
    }

    /**
     * Whether channels and selectors of ours are needed. They are even while RDMA is there but cannot be started, for
     * want of a descriptor for example: each connection finds out for itself, and a selector of the JDK's would never
     * take those that have RDMA. They also are while everything is to use TCP, and then nothing is opened to find out:
     * policy and rules can be changed.
     */
    public boolean isRdmaUsable() {
        if (plainSelectors) {
            return false;
        }
        if (!holder.hasVerbs() && !context.mayUseRdma()) {
            return true;
        }
        try {
            holder.transport();
            return true;
        } catch (VerbsUnavailableException e) {
            if (WARNING_DUE.getAndSet(false)) {
                LOG.warn("{}", context.withoutRdma(e));
            }
            // connections that must not use TCP have to fail
            return holder.hasVerbs()
                    || context.mayUse(Policy.RDMA)
                    || context.settings().expectsDevice();
        }
    }

    TransportContext context() {
        return context;
    }

    TransportHolder holder() {
        return holder;
    }

    SocketChannel openTcp(ProtocolFamily family) throws IOException {
        return family == null ? jdk.openSocketChannel() : jdk.openSocketChannel(family);
    }

    ServerSocketChannel openTcpServer(ProtocolFamily family) throws IOException {
        return family == null ? jdk.openServerSocketChannel() : jdk.openServerSocketChannel(family);
    }

    /**
     * Of a client channel of the JDK's.
     *
     * @param keepIdle seconds until the first keep-alive probe
     */
    record ClientDefaults(Set<SocketOption<?>> options, int keepIdle) {}

    /** For accepted channels, so there is a server channel, whose opening saw to it. */
    ClientDefaults clientDefaults() {
        return clientDefaults;
    }

    /**
     * Whether an RDMA connection of a channel of this family can have the address; if not, the JDK says what is wrong
     * with it.
     */
    static boolean fits(ProtocolFamily family, InetAddress address) {
        return address instanceof Inet4Address || family != StandardProtocolFamily.INET && JdkChannels.isIpv6();
    }
}
