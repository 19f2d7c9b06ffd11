/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.nio;

import java.io.IOException;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.net.ProtocolFamily;
import java.nio.channels.Channel;
import java.nio.channels.DatagramChannel;
import java.nio.channels.Pipe;
import java.nio.channels.SelectionKey;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.channels.spi.AbstractSelectableChannel;
import java.nio.channels.spi.AbstractSelector;
import java.nio.channels.spi.AsynchronousChannelProvider;
import java.nio.channels.spi.SelectorProvider;
import java.security.AccessController;
import java.security.PrivilegedAction;
import org.jrsocket.os.NativeLibrary;

/**
 * Everything that is used of {@code sun.nio.ch}, which is the same on JDK 17 and 25. The package must be open to this
 * class: the agent opens it, and without the agent a JVM option does.
 */
final class JdkChannels {

    /** The package of java.base that must be open to this module. */
    static final String PACKAGE = "sun.nio.ch";

    /** The JVM option that opens it to this class, whichever module the class is in. */
    static final String FLAG = "--add-opens java.base/" + PACKAGE + "=" + NativeLibrary.moduleName(JdkChannels.class);

    /** Whether a thread that waits in a datagram channel can be interrupted, as in each that a provider opens. */
    private static final boolean INTERRUPTIBLE = true;

    /** The selectors of the JDK's that are epoll sets. */
    private static final String EPOLL_SELECTOR = "sun.nio.ch.EPollSelectorImpl";

    private static final MethodHandle EPOLL_FD = epollFd(); // null where JDK selectors are not epoll sets
    private static final Throwable FAILURE; // null if the package is open

    private static MethodHandle epollFd() {
        try {
            Class<?> selector = Class.forName(EPOLL_SELECTOR);
            return MethodHandles.privateLookupIn(selector, MethodHandles.lookup())
                    .findGetter(selector, "epfd", int.class)
                    .asType(MethodType.methodType(int.class, AbstractSelector.class));
        } catch (ReflectiveOperationException e) {
            return null; // then the service thread joins the two waits
        }
    }

    static {
        Throwable failure = null;
        try {
            MethodHandles.lookup().ensureInitialized(Internals.class);
        } catch (ExceptionInInitializerError e) {
            failure = e.getCause();
        } catch (IllegalAccessException | LinkageError e) {
            failure = e;
        }
        FAILURE = failure;
    }

    /** What nothing works without. A class of its own, because its initialisation fails if the package is not open. */
    private static final class Internals {

        static final MethodHandle DEFAULT_PROVIDER;
        static final MethodHandle ASYNCHRONOUS_PROVIDER;
        static final MethodHandle REGISTER;
        static final MethodHandle KILL;
        static final MethodHandle DESCRIPTOR;
        static final MethodHandle IPV6;
        static final Class<?> CHANNEL;

        static {
            try {
                Class<?> selector = Class.forName("sun.nio.ch.SelectorImpl");
                CHANNEL = Class.forName("sun.nio.ch.SelChImpl");
                MethodHandles.Lookup nio = MethodHandles.privateLookupIn(selector, MethodHandles.lookup());
                DEFAULT_PROVIDER = nio.unreflect(Class.forName("sun.nio.ch.DefaultSelectorProvider")
                                .getMethod("get"))
                        .asType(MethodType.methodType(SelectorProvider.class));
                ASYNCHRONOUS_PROVIDER = nio.unreflect(Class.forName("sun.nio.ch.DefaultAsynchronousChannelProvider")
                                .getMethod("create"))
                        .asType(MethodType.methodType(AsynchronousChannelProvider.class));
                REGISTER = nio.findVirtual(
                                selector,
                                "register",
                                MethodType.methodType(
                                        SelectionKey.class, AbstractSelectableChannel.class, int.class, Object.class))
                        .asType(MethodType.methodType(
                                SelectionKey.class,
                                AbstractSelector.class,
                                AbstractSelectableChannel.class,
                                int.class,
                                Object.class));
                KILL = nio.findVirtual(CHANNEL, "kill", MethodType.methodType(void.class))
                        .asType(MethodType.methodType(void.class, Channel.class));
                DESCRIPTOR = nio.findVirtual(CHANNEL, "getFDVal", MethodType.methodType(int.class))
                        .asType(MethodType.methodType(int.class, Channel.class));
                IPV6 = nio.findStatic(
                        Class.forName("sun.nio.ch.Net"), "isIPv6Available", MethodType.methodType(boolean.class));
            } catch (ReflectiveOperationException e) {
                throw new ExceptionInInitializerError(e);
            }
        }
    }

    /** The constructors of channels that name a provider, all looked up when the first is needed. */
    private static final class Constructors {

        static final MethodHandle SERVER =
                find("ServerSocketChannelImpl", ServerSocketChannel.class, SelectorProvider.class);
        static final MethodHandle SERVER_OF_FAMILY = find(
                "ServerSocketChannelImpl", ServerSocketChannel.class, SelectorProvider.class, ProtocolFamily.class);
        static final MethodHandle SOCKET_OF_FAMILY =
                find("SocketChannelImpl", SocketChannel.class, SelectorProvider.class, ProtocolFamily.class);
        static final MethodHandle DATAGRAM =
                find("DatagramChannelImpl", DatagramChannel.class, SelectorProvider.class, boolean.class);
        static final MethodHandle DATAGRAM_OF_FAMILY = find(
                "DatagramChannelImpl",
                DatagramChannel.class,
                SelectorProvider.class,
                ProtocolFamily.class,
                boolean.class);
        static final MethodHandle PIPE = find("PipeImpl", Pipe.class, SelectorProvider.class);

        /** Finds one with our rights: under a security manager, the program that opens the first may lack them. */
        @SuppressWarnings("removal") // of JDK 17
        private static MethodHandle find(String name, Class<?> type, Class<?>... parameters) {
            return AccessController.doPrivileged(
                    (PrivilegedAction<MethodHandle>) () -> findWithRights(name, type, parameters));
        }

        private static MethodHandle findWithRights(String name, Class<?> type, Class<?>... parameters) {
            try {
                Class<?> channel = Class.forName(PACKAGE + "." + name, false, null);
                return MethodHandles.privateLookupIn(channel, MethodHandles.lookup())
                        .findConstructor(channel, MethodType.methodType(void.class, parameters))
                        .asType(MethodType.methodType(type, parameters));
            } catch (ReflectiveOperationException e) {
                return null; // then the JDK's provider opens it
            }
        }
    }

    private JdkChannels() {}

    /**
     * Returns whether the agent would help: it opens the package only to its own classes, which come before those of
     * the class path, but before no others.
     */
    private static boolean mayBeTheAgents() {
        return !JdkChannels.class.getModule().isNamed()
                && JdkChannels.class.getClassLoader() == ClassLoader.getSystemClassLoader();
    }

    /** @throws IllegalStateException if the package is not open; the message says what to do */
    static void ensureOpen() {
        if (FAILURE != null) {
            throw new IllegalStateException(
                    "jrsocket's NIO provider needs the JDK's: start with "
                            + (mayBeTheAgents() ? "-javaagent:rsocket.jar, or with " : "")
                            + FLAG,
                    FAILURE);
        }
    }

    /** Returns the JDK's own provider, whatever is set for the system. */
    static SelectorProvider defaultProvider() {
        ensureOpen();
        try {
            return (SelectorProvider) Internals.DEFAULT_PROVIDER.invokeExact();
        } catch (Throwable e) {
            throw sneak(e);
        }
    }

    /**
     * Opens a server channel of the JDK's that names {@code provider} as its own, as do the channels that it accepts.
     *
     * @param family null for the JDK's default
     */
    static ServerSocketChannel openServer(SelectorProvider provider, ProtocolFamily family) throws IOException {
        ensureOpen();
        try {
            if (family == null) {
                return Constructors.SERVER == null
                        ? defaultProvider().openServerSocketChannel()
                        : (ServerSocketChannel) Constructors.SERVER.invokeExact(provider);
            }
            return Constructors.SERVER_OF_FAMILY == null
                    ? defaultProvider().openServerSocketChannel(family)
                    : (ServerSocketChannel) Constructors.SERVER_OF_FAMILY.invokeExact(provider, family);
        } catch (Throwable e) {
            throw sneak(e);
        }
    }

    /** Opens a socket channel of the JDK's that names {@code provider} as its own. */
    static SocketChannel openSocket(SelectorProvider provider, ProtocolFamily family) throws IOException {
        ensureOpen();
        try {
            return Constructors.SOCKET_OF_FAMILY == null
                    ? defaultProvider().openSocketChannel(family)
                    : (SocketChannel) Constructors.SOCKET_OF_FAMILY.invokeExact(provider, family);
        } catch (Throwable e) {
            throw sneak(e);
        }
    }

    /**
     * Opens a datagram channel of the JDK's that names {@code provider} as its own.
     *
     * @param family null for the JDK's default
     */
    static DatagramChannel openDatagram(SelectorProvider provider, ProtocolFamily family) throws IOException {
        ensureOpen();
        try {
            if (family == null) {
                return Constructors.DATAGRAM == null
                        ? defaultProvider().openDatagramChannel()
                        : (DatagramChannel) Constructors.DATAGRAM.invokeExact(provider, INTERRUPTIBLE);
            }
            return Constructors.DATAGRAM_OF_FAMILY == null
                    ? defaultProvider().openDatagramChannel(family)
                    : (DatagramChannel) Constructors.DATAGRAM_OF_FAMILY.invokeExact(provider, family, INTERRUPTIBLE);
        } catch (Throwable e) {
            throw sneak(e);
        }
    }

    /** Opens a pipe of the JDK's whose ends name {@code provider} as their own. */
    static Pipe openPipe(SelectorProvider provider) throws IOException {
        ensureOpen();
        try {
            return Constructors.PIPE == null
                    ? defaultProvider().openPipe()
                    : (Pipe) Constructors.PIPE.invokeExact(provider);
        } catch (Throwable e) {
            throw sneak(e);
        }
    }

    /** Returns a new provider of asynchronous channels, as the JDK creates it when no other is named. */
    static AsynchronousChannelProvider newAsynchronousProvider() {
        ensureOpen();
        try {
            return (AsynchronousChannelProvider) Internals.ASYNCHRONOUS_PROVIDER.invokeExact();
        } catch (Throwable e) {
            throw sneak(e);
        }
    }

    /** Returns whether this is a channel of the JDK's that JDK selectors accept. */
    static boolean isJdkChannel(Channel channel) {
        return Internals.CHANNEL.isInstance(channel);
    }

    /**
     * Registers a channel with a JDK selector, as {@code channel.register} does, but leaves no trace in the channel.
     * The channel knows only the key of the outer selector, so that key alone decides whether it is registered. The
     * outer selector then {@linkplain #release releases} it.
     */
    static SelectionKey register(
            AbstractSelector selector, AbstractSelectableChannel channel, int ops, Object attachment) {
        try {
            return (SelectionKey) Internals.REGISTER.invokeExact(selector, channel, ops, attachment);
        } catch (Throwable e) {
            throw sneak(e);
        }
    }

    /** Releases the descriptor of a channel that was closed while it was registered, and no longer is. */
    static void release(Channel channel) throws IOException {
        try {
            Internals.KILL.invokeExact(channel);
        } catch (Throwable e) {
            throw sneak(e);
        }
    }

    /** Returns the descriptor of an open JDK channel. */
    static int descriptor(Channel channel) {
        try {
            return (int) Internals.DESCRIPTOR.invokeExact(channel);
        } catch (Throwable e) {
            throw sneak(e);
        }
    }

    /** Returns the descriptor of a JDK selector's epoll set, or -1 if it has none. */
    static int epollDescriptor(AbstractSelector selector) {
        if (EPOLL_FD == null || !selector.getClass().getName().equals(EPOLL_SELECTOR)) {
            return -1;
        }
        try {
            return (int) EPOLL_FD.invokeExact(selector);
        } catch (Throwable e) {
            throw sneak(e);
        }
    }

    /** Returns whether the JDK's TCP sockets are IPv6 sockets, which serve IPv4 too. */
    static boolean isIpv6() {
        try {
            return (boolean) Internals.IPV6.invokeExact();
        } catch (Throwable e) {
            throw sneak(e);
        }
    }

    private static RuntimeException sneak(Throwable e) {
        return JdkChannels.<RuntimeException>thrown(e);
    }

    @SuppressWarnings("unchecked")
    private static <E extends Throwable> RuntimeException thrown(Throwable e) throws E {
        throw (E) e;
    }
}
