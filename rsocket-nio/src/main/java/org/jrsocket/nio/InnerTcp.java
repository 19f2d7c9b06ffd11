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
    private final boolean adaptor;

    /**
     * @param adaptor whether a socket adaptor connects, by itself: the JDK's reports a failure in other words than its
     *     channel
     */
    InnerTcp(SocketChannel tcp, SocketAddress address, boolean adaptor) {
        this.tcp = tcp;
        this.address = address;
        this.adaptor = adaptor;
    }

    @Override
    public boolean connect(int millis) throws IOException {
        if ((adaptor || millis > 0) && tcp.isBlocking()) {
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
