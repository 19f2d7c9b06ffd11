/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.net;

import java.io.IOException;
import java.lang.StackWalker.StackFrame;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketImpl;
import java.net.SocketImplFactory;
import java.util.Iterator;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Stream;
import org.jrsocket.connect.TransportContext;

/** Makes all of the JVM's {@link Socket}s and {@link ServerSocket}s ours. */
public final class SocketFactories {

    /** The packages of java.base that must be open to this class's module before anything else here is used. */
    public static final Set<String> PACKAGES = Set.of("java.net", "sun.nio.ch");

    private static final StackWalker CALLER = StackWalker.getInstance();

    private SocketFactories() {}

    /**
     * Installs both factories, because with only one {@code accept} would fail. Works once in a JVM.
     *
     * @throws IOException if a factory is installed already, by the application or by an earlier call
     * @throws ExceptionInInitializerError if the {@link #PACKAGES} are not open, or this JDK lacks what is used in them
     */
    @SuppressWarnings("deprecation") // there is no other way in
    public static synchronized void install(TransportContext context) throws IOException {
        if (JdkInternals.hasFactory()) {
            throw new IOException("a socket factory is installed already");
        }
        SocketImplFactory server = () -> new RServerSocketImpl(context);
        Socket.setSocketImplFactory(new ClientFactory(context));
        ServerSocket.setSocketFactory(server);
    }

    private static final class ClientFactory implements SocketImplFactory {
        private final TransportContext context;

        ClientFactory(TransportContext context) {
            this.context = context;
        }

        @Override
        public SocketImpl createSocketImpl() {
            return new RSocketImpl(context, !CALLER.walk(CalledByConstructor.INSTANCE));
        }
    }

    /**
     * Tells whether the frame before the first is a constructor's. {@code new Socket(Proxy.NO_PROXY)} is the only one
     * that calls the factory itself, not through a method. Every socket comes here, so this steps through the frames: a
     * stream pipeline would take as long again, and longer before it is compiled.
     */
    private static final class CalledByConstructor implements Function<Stream<StackFrame>, Boolean> {
        static final CalledByConstructor INSTANCE = new CalledByConstructor();

        @Override
        public Boolean apply(Stream<StackFrame> frames) {
            Iterator<StackFrame> steps = frames.iterator();
            steps.next();
            return steps.next().getMethodName().equals("<init>");
        }
    }
}
