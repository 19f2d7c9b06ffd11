/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.agent;

import java.io.IOException;
import java.lang.instrument.Instrumentation;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jrsocket.agent.InstalledSockets.Kind;
import org.jrsocket.aio.RAsynchronousChannelProvider;
import org.jrsocket.connect.ConfigurationException;
import org.jrsocket.connect.LogLevel;
import org.jrsocket.connect.Policy;
import org.jrsocket.connect.Settings;
import org.jrsocket.connect.TransportContext;
import org.jrsocket.connect.TransportHolder;
import org.jrsocket.net.SocketFactories;
import org.jrsocket.nio.RSelectorProvider;
import org.jrsocket.os.NativeLibrary;
import org.jrsocket.verbs.VerbsProvider;
import org.jrsocket.verbs.VerbsUnavailableException;

/**
 * The work of the agent: it makes a JVM's sockets ours if the host has RDMA. If the host has none, the agent says so in
 * one line and leaves the JVM alone. Only a configuration that cannot be used stops the JVM, and only a JVM that is
 * starting: nothing ends a program that is running.
 */
final class Installation {

    private static final String NET = "org.jrsocket.net.RSocketImpl";
    private static final String NIO = "org.jrsocket.nio.RSelectorProvider";
    private static final String NET_PROPERTY = "java.net.SocketImpl";
    private static final String NIO_PROPERTY = "java.nio.channels.spi.SelectorProvider";

    /**
     * The class that is loaded when the first server socket is created. The JDK lets none of its own server sockets
     * accept with a Socket that is based on a factory's SocketImpl, as TLS servers do.
     */
    private static final String SERVER_SOCKET = "java.net.ServerSocket";

    private static final String IN_USE =
            "the agent was not attached: this program already uses jrsocket from its own class path, and the JVM has "
                    + "put the agent's classes before it, which breaks its connections; restart the program";

    private static final String HAS_SERVERS = "the agent was attached after the JVM's first server socket, "
            + "which might no longer accept connections; start the JVM with -javaagent";

    /** Classes that may first be used under an application's security manager, and so are loaded before (JDK 17). */
    private static final List<String> NEEDED_LATER = List.of(
            "org.jrsocket.net.RSocketImpl",
            "org.jrsocket.net.RServerSocketImpl",
            "org.jrsocket.net.RdmaSocket",
            "org.jrsocket.net.LostOwners",
            "org.jrsocket.net.PlatformSocket",
            "org.jrsocket.net.Proxies",
            "org.jrsocket.aio.Handlers",
            "org.jrsocket.connect.DualListener",
            "org.jrsocket.connect.OutgoingConnection",
            "org.jrsocket.connect.ConnectAttempt",
            "org.jrsocket.stream.RdmaStream",
            "org.jrsocket.threads.Threads");

    private static final AtomicBoolean STARTED = new AtomicBoolean();

    private final TransportContext context;
    private final TransportHolder holder;
    private final Instrumentation instrumentation;
    private final boolean attached; // to a program that is running

    private Installation(
            TransportContext context, TransportHolder holder, Instrumentation instrumentation, boolean attached) {
        this.context = context;
        this.holder = holder;
        this.instrumentation = instrumentation;
        this.attached = attached;
    }

    /** Starts the agent before {@code main}. */
    static void begin(String arguments, Instrumentation instrumentation) {
        String warning = BootPath.wrongJarWarning();
        if (warning != null) {
            Notices.say(warning);
        }
        start(arguments, instrumentation, TransportHolder.rdmaCore());
    }

    /** Starts the agent when it is attached. */
    static void attach(String arguments, Instrumentation instrumentation) {
        if (Installation.class.getClassLoader() == null && BootPath.isInUse(instrumentation)) {
            Notices.say(IN_USE);
        } else {
            attach(arguments, instrumentation, TransportHolder.rdmaCore());
        }
    }

    static void start(String arguments, Instrumentation instrumentation, TransportHolder holder) {
        try {
            run(arguments, instrumentation, holder, false);
        } catch (ConfigurationException e) {
            Notices.say(e.getMessage());
            // a program that runs differently from what it was told is worse than one that does not run
            Runtime.getRuntime().halt(1);
        }
    }

    /** Starts an attached agent. Sockets made before stay as they are, and have to go on working. */
    static void attach(String arguments, Instrumentation instrumentation, TransportHolder holder) {
        try {
            run(arguments, instrumentation, holder, true);
        } catch (ConfigurationException e) {
            Notices.say("the agent was not attached: " + e.getMessage());
        }
    }

    private static void run(String arguments, Instrumentation instrumentation, TransportHolder holder, boolean attached)
            throws ConfigurationException {
        LogLevel level = LogLevel.WARN;
        Installation installation = null;
        try {
            Settings settings = Settings.read(arguments, System.getProperties(), System.getenv());
            level = settings.log();
            installation = new Installation(TransportContext.open(settings, holder), holder, instrumentation, attached);
            if (STARTED.getAndSet(true)) {
                Notices.warn(
                        level, "the agent was started already, by another -javaagent or attached; it stays as it is");
                holder.close(); // nothing of this one goes on in the background
                return;
            }
            StderrLogger.level(level);
            installation.install();
        } catch (ConfigurationException e) {
            throw e;
        } catch (Throwable e) { // whatever is wrong with RDMA, the JVM must go on
            if (installation != null) {
                installation.tcpOnly(null, e.toString());
            } else {
                Notices.warn(level, "TCP only: " + e);
            }
            if (level.compareTo(LogLevel.DEBUG) >= 0) {
                e.printStackTrace();
            }
        }
    }

    private void install() throws Exception {
        boolean net = wantsSockets(System.getProperty(NET_PROPERTY), System.getProperty(NIO_PROPERTY));
        boolean nio = wantsChannels(System.getProperty(NET_PROPERTY), System.getProperty(NIO_PROPERTY));
        // For what a program names itself, such as the Netty transport: it works wherever it is, with these settings.
        open();
        NativeLibrary.enableNativeAccess(instrumentation);
        RSelectorProvider.share(context, holder);
        InstalledSockets.choose(context);
        try {
            // Nothing of RDMA is opened if all is left to TCP, until policy or rules change at run time. On another
            // system than Linux no change would help, and our sockets have not been tried there: so look at once.
            if (context.mayUseRdma() || !NativeLibrary.isSystemKnown()) {
                sayMissing(holder.provider());
            }
        } catch (VerbsUnavailableException e) {
            Notices.warn(context.settings().log(), context.withoutRdma(e));
            if (!context.mayUse(Policy.RDMA) && !context.expectsRdma(e)) {
                InstalledSockets.jdks("there was no RDMA when the agent started");
                Management.register(context, holder, instrumentation);
                return;
            }
        }
        NativeLibrary.OS.keep();
        if (net && attached && LoadedClasses.contain(Object.class.getModule(), SERVER_SOCKET, instrumentation)) {
            tcpOnly(Kind.SOCKETS, HAS_SERVERS);
            net = false;
        }
        Management.register(context, holder, instrumentation);
        if (net) {
            installNet();
        }
        if (nio) {
            installNio();
        }
        InstalledSockets.jdks("as -D" + NET_PROPERTY + " and -D" + NIO_PROPERTY + " require");
        for (String name : NEEDED_LATER) {
            Class.forName(name);
        }
    }

    /** Warns of missing devices, as a misspelt one would go unnoticed. Looking takes time: only for named devices. */
    private void sayMissing(VerbsProvider provider) {
        if (!context.namesDevices()) {
            return;
        }
        try {
            String missing = context.withoutDevices(provider.devices());
            if (missing != null) {
                Notices.warn(context.settings().log(), missing);
            }
        } catch (IOException | RuntimeException e) {
            // each connection finds out for itself
        }
    }

    private void open() {
        Map<String, Set<Module>> opens = new HashMap<>();
        for (String name : SocketFactories.PACKAGES) {
            opens.put(name, Set.of(Installation.class.getModule()));
        }
        instrumentation.redefineModule(Object.class.getModule(), Set.of(), Map.of(), opens, Set.of(), Map.of());
    }

    // Naming one side by its property chooses it alone; naming none, or both, chooses both.

    static boolean wantsSockets(String net, String nio) throws ConfigurationException {
        if (net != null && !net.equals(NET)) {
            throw new ConfigurationException(
                    "-D" + NET_PROPERTY, "\"" + net + "\" is unknown; the only value is " + NET);
        }
        return net != null || !NIO.equals(nio);
    }

    static boolean wantsChannels(String net, String nio) {
        return nio == null ? net == null : nio.equals(NIO);
    }

    private void installNet() throws ConfigurationException {
        try {
            SocketFactories.install(context);
            InstalledSockets.ours(Kind.SOCKETS);
        } catch (IOException e) {
            tcpOnly(Kind.SOCKETS, e.getMessage());
        }
    }

    private void installNio() throws ConfigurationException {
        try {
            RSelectorProvider.install(context, holder);
            NettyBypass bypass = new NettyBypass(context.settings().log());
            instrumentation.addTransformer(bypass);
            if (attached) { // too late for the properties that are set next
                bypass.look(instrumentation.getAllLoadedClasses());
            }
            NettyNatives.leaveOut(System.getProperties());
            InstalledSockets.ours(Kind.CHANNELS);
        } catch (IOException e) {
            tcpOnly(Kind.CHANNELS, e.getMessage());
            InstalledSockets.jdks(Kind.ASYNCHRONOUS_CHANNELS, "NIO channels are");
            return;
        }
        try {
            RAsynchronousChannelProvider.install();
            InstalledSockets.ours(Kind.ASYNCHRONOUS_CHANNELS);
        } catch (IOException e) {
            tcpOnly(Kind.ASYNCHRONOUS_CHANNELS, e.getMessage());
        }
    }

    /**
     * Reports that some sockets of this JVM cannot be ours.
     *
     * @param kind which sockets; null for all
     * @throws ConfigurationException if some connection must use RDMA, and would use TCP unnoticed
     */
    private void tcpOnly(Kind kind, String reason) throws ConfigurationException {
        String what = kind == null ? "TCP only" : "TCP only for " + kind.text;
        if (kind == null) {
            InstalledSockets.jdks(reason);
        } else {
            InstalledSockets.jdks(kind, reason);
        }
        if (!context.mayUse(Policy.RDMA)) {
            Notices.warn(context.settings().log(), what + ": " + reason);
        } else if (attached) { // nothing ends a program that is running, but it is told
            Notices.say(what + ", and connections that must use RDMA do not fail: " + reason);
        } else {
            throw new ConfigurationException(
                    what, reason + "; policy or rules require RDMA, so this JVM does not start");
        }
    }
}
