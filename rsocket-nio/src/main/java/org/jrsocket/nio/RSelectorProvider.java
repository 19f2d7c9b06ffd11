/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.nio;

import java.io.IOException;
import java.net.ProtocolFamily;
import java.net.StandardProtocolFamily;
import java.nio.channels.Channel;
import java.nio.channels.DatagramChannel;
import java.nio.channels.Pipe;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.channels.spi.AbstractSelector;
import java.nio.channels.spi.SelectorProvider;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jrsocket.connect.ConfigurationException;
import org.jrsocket.connect.Policy;
import org.jrsocket.connect.Settings;
import org.jrsocket.connect.TransportContext;
import org.jrsocket.connect.TransportHolder;
import org.jrsocket.verbs.VerbsProvider;
import org.jrsocket.verbs.VerbsUnavailableException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A provider of channels and selectors that use RDMA where both ends can, and TCP elsewhere. It is set for a whole JVM
 * by {@code -Djava.nio.channels.spi.SelectorProvider} or {@link #install}, or used by itself. If the process has no
 * RDMA, and no rule insists on it, everything the provider opens is the JDK's own. Safe for use by many threads.
 *
 * <p>Programs may use the constructor without arguments, {@link #useVerbs}, and what {@link SelectorProvider} has. The
 * other methods are for the other modules, and may change with any version.
 */
public final class RSelectorProvider extends SelectorProvider {

    private static final Logger LOG = LoggerFactory.getLogger(RSelectorProvider.class);
    private static final String PROPERTY = "java.nio.channels.spi.SelectorProvider";

    /**
     * The objects shared by providers that the no-argument constructor created.
     *
     * @param own whether they were created here, and not passed in, by the agent for example
     */
    private record Shared(TransportContext context, TransportHolder holder, boolean own) {}

    private static Shared shared; // guarded by the class's monitor
    /** Whether a warning is due if there is no RDMA: {@code shared} was created here, so no agent has given it. */
    private static final AtomicBoolean WARNING_DUE = new AtomicBoolean();

    private final SelectorProvider jdk;
    private final TransportContext context;
    private final TransportHolder holder;
    private final ProviderServices services;
    /** Whether a JDK selector was handed out, which takes no channel of ours: only TCP is used from then on. */
    private volatile boolean plainSelectors;

    /**
     * Creates a provider with the settings of the system properties and the environment, unless {@link #share} gave
     * others.
     *
     * @throws IllegalStateException if a setting cannot be used, or the JDK's internals are not open; the message says
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
        this.services = new ProviderServices(this, jdk, context, holder);
    }

    private static synchronized Shared shared() {
        if (shared == null) {
            shared = own(TransportHolder.rdmaCore());
            WARNING_DUE.set(true);
        }
        return shared;
    }

    /** Returns what is created here, with the settings of the process. */
    private static Shared own(TransportHolder holder) {
        try {
            Settings settings = Settings.read(null, System.getProperties(), System.getenv());
            return new Shared(TransportContext.open(settings, holder), holder, true);
        } catch (ConfigurationException e) {
            throw new IllegalStateException("jrsocket: " + e.getMessage(), e);
        }
    }

    /**
     * Has the providers that the no-argument constructor creates, and with them the Netty transport, use these verbs in
     * place of the host's devices: for tests, with {@code LoopbackProvider} of {@code jrsocket-testkit}. The settings
     * are those that the constructor would read. It has to be called before the first such provider is created, and
     * before the first event loop or channel of the Netty transport.
     *
     * @throws IllegalStateException if they have verbs already, also from the agent; or if a setting cannot be used
     */
    public static synchronized void useVerbs(VerbsProvider verbs) {
        Objects.requireNonNull(verbs, "verbs");
        if (shared != null) {
            throw new IllegalStateException(
                    "jrsocket: the verbs are chosen already; call useVerbs before anything else");
        }
        shared = own(TransportHolder.opening(() -> verbs));
    }

    /** Sets what providers created by the no-argument constructor share from now on. */
    public static synchronized void share(TransportContext context, TransportHolder holder) {
        shared = new Shared(context, holder, false);
    }

    /** Does the same as if the arguments had been created here. For tests. */
    static synchronized void shareAsOwn(TransportContext context, TransportHolder holder) {
        shared = new Shared(context, holder, true);
    }

    /**
     * Closes the RDMA transport of providers created by the no-argument constructor, if it was created here: what was
     * passed to {@link #share} belongs to its caller. Connections over RDMA are reset, and later ones use TCP. Waits
     * until the device has let go; harmless when repeated.
     */
    public static void closeShared() {
        Shared made;
        synchronized (RSelectorProvider.class) {
            made = shared;
        }
        if (made != null && made.own) {
            WARNING_DUE.set(false); // that RDMA is now gone needs no warning
            made.holder.close();
        }
    }

    /**
     * Makes this the provider of the whole JVM. That works only before NIO sockets are used for the first time.
     *
     * @throws IOException if another provider is in use already, or the program brings one of its own
     */
    public static synchronized void install(TransportContext context, TransportHolder holder) throws IOException {
        JdkChannels.ensureOpen();
        ProgramProviders.ensureFound(RSelectorProvider.class); // one that fails takes the JDK's own with it
        share(context, holder);
        if (System.getProperty(PROPERTY) == null) {
            ProgramProviders.ensureNone(SelectorProvider.class, "selector provider");
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

    // ---- opening ----

    // Programs open a selector for each provider that their channels name, so all name this one. Whether they do is
    // decided by RDMA, so that even a pipe opens the transport: later is too late.

    @Override
    public SocketChannel openSocketChannel() throws IOException {
        SocketChannel tcp = jdk.openSocketChannel();
        return isRdmaUsable() ? new RSocketChannel(services, tcp, null) : tcp;
    }

    /**
     * Opens a socket channel of a family that the JDK's {@code SocketChannel.open(ProtocolFamily)} accepts; UNIX gives
     * a channel of the JDK's.
     */
    @Override
    public SocketChannel openSocketChannel(ProtocolFamily family) throws IOException {
        if (isInternet(family)) {
            SocketChannel tcp = jdk.openSocketChannel(family);
            return isRdmaUsable() ? new RSocketChannel(services, tcp, family) : tcp;
        }
        return isUnix(family) && isRdmaUsable() ? JdkChannels.openSocket(this, family) : jdk.openSocketChannel(family);
    }

    @Override
    public ServerSocketChannel openServerSocketChannel() throws IOException {
        return isRdmaUsable() ? server(null) : jdk.openServerSocketChannel();
    }

    private ServerSocketChannel server(ProtocolFamily family) throws IOException {
        ServerSocketChannel tcp = services.openTcpServer(family);
        try {
            services.findClientDefaults(); // here, where the caller can be told of a lack of descriptors
        } catch (IOException e) {
            tcp.close();
            throw e;
        }
        return new RServerSocketChannel(services, tcp, family);
    }

    @Override
    public ServerSocketChannel openServerSocketChannel(ProtocolFamily family) throws IOException {
        if (isInternet(family)) {
            return isRdmaUsable() ? server(family) : jdk.openServerSocketChannel(family);
        }
        return isUnix(family) && isRdmaUsable()
                ? JdkChannels.openServer(this, family)
                : jdk.openServerSocketChannel(family);
    }

    private static boolean isInternet(ProtocolFamily family) {
        return family == StandardProtocolFamily.INET || family == StandardProtocolFamily.INET6;
    }

    private static boolean isUnix(ProtocolFamily family) {
        return family == StandardProtocolFamily.UNIX;
    }

    @Override
    public AbstractSelector openSelector() throws IOException {
        return openSelector(false);
    }

    private AbstractSelector openSelector(boolean eventLoop) throws IOException {
        boolean ours = isRdmaUsable();
        AbstractSelector inner = jdk.openSelector();
        if (ours) {
            return eventLoop
                    ? RSelector.forEventLoop(services, inner, Selection.YIELD_NANOS)
                    : new RSelector(services, inner);
        }
        plainSelectors = true; // not if there was no descriptor for it: RDMA may lack nothing else
        return inner;
    }

    @Override
    public DatagramChannel openDatagramChannel() throws IOException {
        return isRdmaUsable() ? JdkChannels.openDatagram(this, null) : jdk.openDatagramChannel();
    }

    @Override
    public DatagramChannel openDatagramChannel(ProtocolFamily family) throws IOException {
        return family != null && isRdmaUsable()
                ? JdkChannels.openDatagram(this, family)
                : jdk.openDatagramChannel(family);
    }

    @Override
    public Pipe openPipe() throws IOException {
        return isRdmaUsable() ? JdkChannels.openPipe(this) : jdk.openPipe();
    }

    /** Returns what inetd or systemd passed on: a connection of the JDK's, over TCP, which our selectors accept too. */
    @Override
    public Channel inheritedChannel() throws IOException {
        return jdk.inheritedChannel();
    }

    // ---- for transports that are built on this provider ----

    /**
     * Makes sure that this process has RDMA.
     *
     * @throws VerbsUnavailableException if it has none; the exception says why
     */
    public void ensureRdma() throws VerbsUnavailableException {
        holder.transport();
    }

    /**
     * Opens a selector for an event loop: one thread, which selects again and again, and which alone touches the
     * selected keys. While each selection finds something ready, what the kernel reports may be left to a later one,
     * some microseconds later. A selected key costs no memory.
     */
    public AbstractSelector openEventLoopSelector() throws IOException {
        return openSelector(true);
    }

    // ---- for other packages of this project ----

    /**
     * Returns whether channels and selectors of ours are needed. They are even while RDMA is present but cannot be
     * started, for lack of a descriptor for example: each connection finds out for itself, and a selector of the JDK's
     * would never accept those that have RDMA. They are also needed while everything is to use TCP, because policy and
     * rules can be changed; nothing is opened then to find out.
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
            return holder.hasVerbs() || context.mayUse(Policy.RDMA) || context.expectsRdma(e);
        }
    }

    ProviderServices services() {
        return services;
    }
}
