/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.net;

import java.io.IOException;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketImplFactory;
import java.util.Set;
import org.jrsocket.connect.TransportContext;

/** Makes all of a JVM's {@link Socket}s and {@link ServerSocket}s ours. */
public final class SocketFactories {

    /** The packages of java.base that must be open to this class's module before anything else here is used. */
    public static final Set<String> PACKAGES = Set.of("java.net", "sun.nio.ch");

    private static final StackWalker CALLER = StackWalker.getInstance();

    private SocketFactories() {}

    /**
     * Installs both factories; with one alone, {@code accept} would fail. It works once in a JVM.
     *
     * @throws IOException the application has installed a factory of its own, or the JDK's internals are not open
     */
    @SuppressWarnings("deprecation") // there is no other way in
    public static synchronized void install(TransportContext stack) throws IOException {
        if (JdkInternals.hasFactory()) {
            throw new IOException("a socket factory is installed already");
        }
        SocketImplFactory client = () -> new RSocketImpl(stack, !calledBySocketWithProxy());
        SocketImplFactory server = () -> new RServerSocketImpl(stack);
        Socket.setSocketImplFactory(client);
        ServerSocket.setSocketFactory(server);
    }

    /**
     * Whether it is {@code new Socket(Proxy.NO_PROXY)}: the one constructor that asks the factory itself, and not by a
     * method.
     */
    private static boolean calledBySocketWithProxy() {
        return CALLER.walk(
                frames -> frames.dropWhile(frame -> frame.getClassName().startsWith(SocketFactories.class.getName()))
                        .findFirst()
                        .map(frame -> frame.getMethodName().equals("<init>"))
                        .orElse(false));
    }
}
