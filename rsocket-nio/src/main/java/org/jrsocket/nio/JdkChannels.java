/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.nio;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.nio.channels.Channel;
import java.nio.channels.SelectionKey;
import java.nio.channels.spi.AbstractSelectableChannel;
import java.nio.channels.spi.AbstractSelector;
import java.nio.channels.spi.AsynchronousChannelProvider;
import java.nio.channels.spi.SelectorProvider;
import org.jrsocket.os.NativeLibrary;

/**
 * All that is used of {@code sun.nio.ch}; the same on JDK 17 and 25. The package must be open to this class: the agent
 * sees to it, without the agent an option of the JVM does.
 */
final class JdkChannels {

    /** The package of java.base that must be open to this module. */
    static final String PACKAGE = "sun.nio.ch";

    /** What opens it to this class, wherever it is. */
    static final String FLAG = "--add-opens java.base/" + PACKAGE + "=" + NativeLibrary.moduleName(JdkChannels.class);

    private static final MethodHandle DEFAULT_PROVIDER;
    private static final MethodHandle ASYNCHRONOUS_PROVIDER;
    private static final MethodHandle REGISTER;
    private static final MethodHandle KILL;
    private static final MethodHandle DESCRIPTOR;
    private static final MethodHandle IPV6;
    private static final Class<?> CHANNEL;
    private static final Class<?> EPOLL_SELECTOR;
    private static final MethodHandle EPOLL_FD; // null where JDK selectors are not epoll sets
    private static final Throwable FAILURE;

    static {
        MethodHandle provider = null;
        MethodHandle asynchronous = null;
        MethodHandle register = null;
        MethodHandle kill = null;
        MethodHandle descriptor = null;
        MethodHandle ipv6 = null;
        MethodHandle epollFd = null;
        Class<?> channel = null;
        Class<?> epollSelector = null;
        Throwable failure = null;
        try {
            Class<?> selector = Class.forName("sun.nio.ch.SelectorImpl");
            channel = Class.forName("sun.nio.ch.SelChImpl");
            MethodHandles.Lookup nio = MethodHandles.privateLookupIn(selector, MethodHandles.lookup());
            provider = nio.unreflect(
                            Class.forName("sun.nio.ch.DefaultSelectorProvider").getMethod("get"))
                    .asType(MethodType.methodType(SelectorProvider.class));
            asynchronous = nio.unreflect(Class.forName("sun.nio.ch.DefaultAsynchronousChannelProvider")
                            .getMethod("create"))
                    .asType(MethodType.methodType(AsynchronousChannelProvider.class));
            register = nio.findVirtual(
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
            kill = nio.findVirtual(channel, "kill", MethodType.methodType(void.class))
                    .asType(MethodType.methodType(void.class, Channel.class));
            descriptor = nio.findVirtual(channel, "getFDVal", MethodType.methodType(int.class))
                    .asType(MethodType.methodType(int.class, Channel.class));
            ipv6 = nio.findStatic(
                    Class.forName("sun.nio.ch.Net"), "isIPv6Available", MethodType.methodType(boolean.class));
        } catch (ReflectiveOperationException | RuntimeException | LinkageError e) {
            failure = e;
        }
        if (failure == null) {
            try {
                epollSelector = Class.forName("sun.nio.ch.EPollSelectorImpl");
                epollFd = MethodHandles.privateLookupIn(epollSelector, MethodHandles.lookup())
                        .findGetter(epollSelector, "epfd", int.class)
                        .asType(MethodType.methodType(int.class, AbstractSelector.class));
            } catch (ReflectiveOperationException e) {
                epollFd = null; // then two waits are joined by the service thread
            }
        }
        DEFAULT_PROVIDER = provider;
        ASYNCHRONOUS_PROVIDER = asynchronous;
        REGISTER = register;
        KILL = kill;
        DESCRIPTOR = descriptor;
        IPV6 = ipv6;
        CHANNEL = channel;
        EPOLL_SELECTOR = epollSelector;
        EPOLL_FD = epollFd;
        FAILURE = failure;
    }

    private JdkChannels() {}

    /** The agent opens the package to its own classes, which come before those of the class path alone. */
    private static boolean mayBeTheAgents() {
        return !JdkChannels.class.getModule().isNamed()
                && JdkChannels.class.getClassLoader() == ClassLoader.getSystemClassLoader();
    }

    /** @throws IllegalStateException the package is not open; the message says what to do */
    static void ensureOpen() {
        if (FAILURE != null) {
            throw new IllegalStateException(
                    "jrsocket's NIO provider needs the JDK's: start with "
                            + (mayBeTheAgents() ? "-javaagent:rsocket.jar, or with " : "")
                            + FLAG,
                    FAILURE);
        }
    }

    /** The JDK's own provider, whatever is set for the system. */
    static SelectorProvider defaultProvider() {
        ensureOpen();
        try {
            return (SelectorProvider) DEFAULT_PROVIDER.invokeExact();
        } catch (Throwable e) {
            throw sneak(e);
        }
    }

    /** A provider of asynchronous channels as the JDK makes it when nobody names another. */
    static AsynchronousChannelProvider newAsynchronousProvider() {
        ensureOpen();
        try {
            return (AsynchronousChannelProvider) ASYNCHRONOUS_PROVIDER.invokeExact();
        } catch (Throwable e) {
            throw sneak(e);
        }
    }

    /** Whether it is a channel of the JDK's that JDK selectors take. */
    static boolean isJdkChannel(Channel channel) {
        return CHANNEL.isInstance(channel);
    }

    /**
     * Registers with a JDK selector, as {@code channel.register} does, but leaves no trace in the channel: the channel
     * knows only the key of the selector around it, so what it thinks of its registration is what that key says. That
     * selector then {@linkplain #release releases} it.
     */
    static SelectionKey register(
            AbstractSelector selector, AbstractSelectableChannel channel, int ops, Object attachment) {
        try {
            return (SelectionKey) REGISTER.invokeExact(selector, channel, ops, attachment);
        } catch (Throwable e) {
            throw sneak(e);
        }
    }

    /** Releases the descriptor of a channel that was closed while it was registered, and is registered no more. */
    static void release(Channel channel) {
        try {
            KILL.invokeExact(channel);
        } catch (Throwable e) {
            throw sneak(e);
        }
    }

    /** The descriptor of an open JDK channel. */
    static int descriptor(Channel channel) {
        try {
            return (int) DESCRIPTOR.invokeExact(channel);
        } catch (Throwable e) {
            throw sneak(e);
        }
    }

    /** The descriptor of a JDK selector's epoll set, or -1 if it has none. */
    static int epollDescriptor(AbstractSelector selector) {
        if (EPOLL_FD == null || !EPOLL_SELECTOR.isInstance(selector)) {
            return -1;
        }
        try {
            return (int) EPOLL_FD.invokeExact(selector);
        } catch (Throwable e) {
            throw sneak(e);
        }
    }

    /** Whether the JDK's TCP sockets are IPv6 sockets, which serve IPv4 too. */
    static boolean isIpv6() {
        try {
            return (boolean) IPV6.invokeExact();
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
