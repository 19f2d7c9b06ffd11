/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.nio;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.nio.channels.SocketChannel;
import org.jrsocket.connect.OutgoingConnection;

/** The inner channel of a socket channel, which connects if RDMA does not. */
final class InnerTcp implements OutgoingConnection.Tcp {
    private final SocketChannel tcp;
    private final SocketAddress address; // as the application gave it

    InnerTcp(SocketChannel tcp, SocketAddress address) {
        this.tcp = tcp;
        this.address = address;
    }

    @Override
    public boolean connect(int millis) throws IOException {
        if (millis > 0 && tcp.isBlocking()) {
            tcp.socket().connect(address, millis);
            return true;
        }
        return tcp.connect(address);
    }

    @Override
    public boolean finish() throws IOException {
        return tcp.finishConnect();
    }

    @Override
    public InetSocketAddress localAddress() throws IOException {
        return (InetSocketAddress) tcp.getLocalAddress();
    }
}
