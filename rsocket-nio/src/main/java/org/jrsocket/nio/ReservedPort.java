/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.nio;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.ProtocolFamily;
import java.net.SocketAddress;
import java.net.StandardSocketOptions;
import java.nio.channels.SocketChannel;
import org.jrsocket.connect.TcpPort;

/**
 * A port on which TCP does not listen, or not yet: a bound TCP socket keeps it, and TCP clients are refused. Guarded by
 * a lock of its owner.
 */
final class ReservedPort implements TcpPort {

    private final ProviderServices services;
    private final ProtocolFamily family; // null for the JDK's default
    private final SocketAddress wanted; // null for any
    private final boolean shared;
    private volatile SocketChannel socket; // written under the owner's lock

    /** @param shared whether other sockets that allow it too may be bound to the port ({@code SO_REUSEPORT}) */
    ReservedPort(ProviderServices services, ProtocolFamily family, SocketAddress wanted, boolean shared)
            throws IOException {
        this.services = services;
        this.family = family;
        this.wanted = wanted;
        this.shared = shared;
        this.socket = bind();
    }

    private SocketChannel bind() throws IOException {
        SocketChannel fresh = services.openTcp(family);
        try {
            fresh.setOption(StandardSocketOptions.SO_REUSEADDR, true);
            if (shared) {
                fresh.setOption(StandardSocketOptions.SO_REUSEPORT, true);
            }
            fresh.bind(wanted);
        } catch (IOException | RuntimeException e) {
            fresh.close();
            throw e;
        }
        return fresh;
    }

    @Override
    public InetSocketAddress address() throws IOException {
        return (InetSocketAddress) socket.getLocalAddress();
    }

    /** Returns the same address, also after the close. */
    InetSocketAddress boundAddress() {
        return (InetSocketAddress) socket.socket().getLocalSocketAddress();
    }

    @Override
    public boolean isAny() {
        return wanted == null || ((InetSocketAddress) wanted).getPort() == 0;
    }

    @Override
    public boolean isShared() {
        return shared;
    }

    @Override
    public void change() throws IOException {
        SocketChannel last = socket;
        socket = bind();
        last.close();
    }

    void close() throws IOException {
        socket.close();
    }
}
