/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.net;

import java.io.FileDescriptor;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketAddress;
import java.net.SocketImpl;
import java.net.SocketImplFactory;
import java.net.SocketOption;
import java.util.List;
import java.util.Set;

/**
 * The JDK internals that are used, and no others: the platform's {@code SocketImpl} with its protected methods, SOCKS,
 * and three functions of {@code sun.nio.ch}. They are the same on JDK 17 and 25. {@code java.net} and
 * {@code sun.nio.ch} must be {@linkplain SocketFactories#PACKAGES open} to this class.
 */
final class JdkInternals {

    /** Net.POLLIN, which is POLLIN of poll(2) on Linux. */
    private static final short POLLIN = 1;

    static final MethodHandle NEW_PLATFORM;
    static final MethodHandle NEW_SOCKS;
    static final MethodHandle CREATE;
    static final MethodHandle CONNECT;
    static final MethodHandle BIND;
    static final MethodHandle LISTEN;
    static final MethodHandle ACCEPT;
    static final MethodHandle INPUT;
    static final MethodHandle OUTPUT;
    static final MethodHandle AVAILABLE;
    static final MethodHandle CLOSE;
    static final MethodHandle SHUTDOWN_INPUT;
    static final MethodHandle SHUTDOWN_OUTPUT;
    static final MethodHandle FILE_DESCRIPTOR;
    static final MethodHandle ADDRESS;
    static final MethodHandle PORT;
    static final MethodHandle LOCAL_PORT;
    static final MethodHandle SEND_URGENT;
    static final MethodHandle SET_OPTION;
    static final MethodHandle GET_OPTION;
    static final MethodHandle OPTIONS;
    private static final MethodHandle SOCKET_FACTORY;
    private static final MethodHandle SERVER_FACTORY;
    private static final MethodHandle FD_VALUE;
    private static final MethodHandle POLL;
    private static final MethodHandle IPV6;

    static {
        try {
            MethodHandles.Lookup mine = MethodHandles.lookup();
            MethodHandles.Lookup net = MethodHandles.privateLookupIn(SocketImpl.class, mine);
            Class<?> socks = Class.forName("java.net.SocksSocketImpl");
            NEW_PLATFORM = net.unreflect(SocketImpl.class.getDeclaredMethod("createPlatformSocketImpl", boolean.class))
                    .asType(MethodType.methodType(SocketImpl.class, boolean.class));
            NEW_SOCKS = net.findConstructor(socks, MethodType.methodType(void.class, SocketImpl.class))
                    .asType(MethodType.methodType(SocketImpl.class, SocketImpl.class));
            CREATE = method(net, "create", void.class, boolean.class);
            CONNECT = method(net, "connect", void.class, SocketAddress.class, int.class);
            BIND = method(net, "bind", void.class, InetAddress.class, int.class);
            LISTEN = method(net, "listen", void.class, int.class);
            ACCEPT = method(net, "accept", void.class, SocketImpl.class);
            INPUT = method(net, "getInputStream", InputStream.class);
            OUTPUT = method(net, "getOutputStream", OutputStream.class);
            AVAILABLE = method(net, "available", int.class);
            CLOSE = method(net, "close", void.class);
            SHUTDOWN_INPUT = method(net, "shutdownInput", void.class);
            SHUTDOWN_OUTPUT = method(net, "shutdownOutput", void.class);
            FILE_DESCRIPTOR = method(net, "getFileDescriptor", FileDescriptor.class);
            ADDRESS = method(net, "getInetAddress", InetAddress.class);
            PORT = method(net, "getPort", int.class);
            LOCAL_PORT = method(net, "getLocalPort", int.class);
            SEND_URGENT = method(net, "sendUrgentData", void.class, int.class);
            SET_OPTION = method(net, "setOption", void.class, SocketOption.class, Object.class);
            GET_OPTION = method(net, "getOption", Object.class, SocketOption.class);
            OPTIONS = method(net, "supportedOptions", Set.class);
            SOCKET_FACTORY = MethodHandles.privateLookupIn(Socket.class, mine)
                    .findStaticGetter(Socket.class, "factory", SocketImplFactory.class);
            SERVER_FACTORY = MethodHandles.privateLookupIn(ServerSocket.class, mine)
                    .findStaticGetter(ServerSocket.class, "factory", SocketImplFactory.class);
            Class<?> netClass = Class.forName("sun.nio.ch.Net");
            MethodHandles.Lookup nio = MethodHandles.privateLookupIn(netClass, mine);
            POLL = nio.findStatic(
                    netClass, "poll", MethodType.methodType(int.class, FileDescriptor.class, int.class, long.class));
            IPV6 = nio.findStatic(netClass, "isIPv6Available", MethodType.methodType(boolean.class));
            FD_VALUE = nio.findStatic(
                    Class.forName("sun.nio.ch.IOUtil"),
                    "fdVal",
                    MethodType.methodType(int.class, FileDescriptor.class));
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private JdkInternals() {}

    private static MethodHandle method(MethodHandles.Lookup net, String name, Class<?> result, Class<?>... parameters)
            throws ReflectiveOperationException {
        return net.findVirtual(SocketImpl.class, name, MethodType.methodType(result, List.of(parameters)));
    }

    /** Returns whether a factory for Socket or ServerSocket has been installed. */
    static boolean hasFactory() {
        try {
            return (SocketImplFactory) SOCKET_FACTORY.invokeExact() != null
                    || (SocketImplFactory) SERVER_FACTORY.invokeExact() != null;
        } catch (Throwable e) {
            throw unchecked(e);
        }
    }

    /** Returns the number of an open descriptor. */
    static int value(FileDescriptor fd) {
        try {
            return (int) FD_VALUE.invokeExact(fd);
        } catch (Throwable e) {
            throw unchecked(e);
        }
    }

    /** Returns whether a read or accept would not block now; false if the descriptor is closed. */
    static boolean isReadable(FileDescriptor fd) {
        try {
            return (int) POLL.invokeExact(fd, (int) POLLIN, 0L) != 0;
        } catch (IOException e) {
            return true; // a read gets the same error, and reports it
        } catch (Throwable e) {
            throw unchecked(e);
        }
    }

    /** Returns whether the JDK's TCP sockets are IPv6 sockets, which serve IPv4 too. */
    static boolean isIpv6() {
        try {
            return (boolean) IPV6.invokeExact();
        } catch (Throwable e) {
            throw unchecked(e);
        }
    }

    /** Throws what a method handle threw, where no checked exception is declared. */
    private static RuntimeException unchecked(Throwable e) {
        return JdkInternals.<RuntimeException>sneak(e);
    }

    /** Throws what a method handle threw, which is what the method behind it declares. */
    @SuppressWarnings("unchecked")
    static <E extends Throwable> RuntimeException sneak(Throwable e) throws E {
        throw (E) e;
    }
}
