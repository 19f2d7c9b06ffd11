/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.net;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketException;
import java.net.SocketImplFactory;
import org.jrsocket.connect.TransportContext;

/** How the sockets of a behavioural test are made. */
interface SocketKind {

    Socket socket() throws IOException;

    ServerSocket serverSocket() throws IOException;

    /**
     * Whether connections have urgent data. rsocket has none: the byte is dropped, as by a TCP receiver that does not
     * ask for it.
     */
    default boolean hasUrgentData() {
        return true;
    }

    /**
     * Has a connection notice what has arrived. The kernel does so by itself; an RDMA connection while somebody reads
     * or asks, and so a write may succeed that would fail if the same news had come over TCP.
     */
    default void hear(Socket connected) throws IOException {}

    default Factories factories() {
        return new Factories(null, null, ServerSocket::new);
    }

    /** Fails if {@code connected} is carried by something else than this kind promises. */
    default void check(Socket connected) throws ReflectiveOperationException {}

    /**
     * Whatever {@code new Socket()} gives: the reference when nothing is installed; the agent's sockets in a JVM that
     * has it. With {@code -Dorg.jrsocket.test.rdma=true} each connection has to be carried by RDMA.
     */
    SocketKind INSTALLED = new SocketKind() {
        private final boolean rdma = Boolean.getBoolean("org.jrsocket.test.rdma");

        @Override
        public boolean hasUrgentData() {
            return !rdma;
        }

        @Override
        public void check(Socket connected) throws ReflectiveOperationException {
            if (rdma) {
                Field field = Socket.class.getDeclaredField("impl");
                field.setAccessible(true);
                Object impl = field.get(connected);
                Method isRdma = impl.getClass().getDeclaredMethod("isRdma"); // the agent's class, not this class path's
                isRdma.setAccessible(true);
                assertEquals(true, isRdma.invoke(impl), "carried by RDMA");
            }
        }

        @Override
        public Socket socket() {
            return new Socket();
        }

        @Override
        public ServerSocket serverSocket() throws IOException {
            return new ServerSocket();
        }
    };

    /** A socket of ours that lets itself be looked into. */
    final class OurSocket extends Socket {
        private final RSocketImpl impl;

        OurSocket(RSocketImpl impl) throws SocketException {
            super(impl);
            this.impl = impl;
        }

        boolean isRdma() {
            return impl.isRdma();
        }
    }

    /** A server socket of ours, which accepts with sockets of ours. */
    final class OurServerSocket extends ServerSocket {
        private final TransportContext context;

        OurServerSocket(TransportContext context) {
            super(new RServerSocketImpl(context));
            this.context = context;
        }

        /** Made by the factory. */
        OurServerSocket(TransportContext context, int port, int backlog, InetAddress host) throws IOException {
            super(port, backlog, host);
            this.context = context;
        }

        @Override
        public Socket accept() throws IOException {
            if (isClosed()) {
                throw new SocketException("Socket is closed");
            }
            if (!isBound()) {
                throw new SocketException("Socket is not bound yet");
            }
            Socket accepted = ourSocket(context);
            implAccept(accepted);
            return accepted;
        }
    }

    /** A constructor of {@code ServerSocket}. */
    interface Listening {
        ServerSocket open(int port, int backlog, InetAddress host) throws IOException;
    }

    /**
     * What the constructors of {@code Socket} and {@code ServerSocket} that bind or connect are to use.
     *
     * @param client null for the JDK's own, as the next
     * @param listening which does so
     */
    record Factories(SocketImplFactory client, SocketImplFactory server, Listening listening) {}

    /** Ours, without installing them. */
    static SocketKind over(TransportContext context, boolean rdma) {
        return new SocketKind() {
            @Override
            public Socket socket() throws IOException {
                return ourSocket(context);
            }

            @Override
            public ServerSocket serverSocket() {
                return new OurServerSocket(context);
            }

            @Override
            public void hear(Socket connected) throws IOException {
                if (connected instanceof OurSocket our && our.isRdma() && !our.isClosed()) {
                    our.impl.available();
                }
            }

            @Override
            public Factories factories() {
                return new Factories(
                        () -> new RSocketImpl(context, true),
                        () -> new RServerSocketImpl(context),
                        (port, backlog, host) -> new OurServerSocket(context, port, backlog, host));
            }

            @Override
            public boolean hasUrgentData() {
                return !rdma;
            }

            @Override
            public void check(Socket connected) {
                assertEquals(rdma, ((OurSocket) connected).isRdma(), "carried by RDMA");
            }
        };
    }

    private static Socket ourSocket(TransportContext context) throws IOException {
        return new OurSocket(new RSocketImpl(context, true));
    }
}
