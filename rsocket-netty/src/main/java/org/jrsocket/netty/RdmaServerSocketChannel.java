/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.netty;

import io.netty.channel.socket.nio.NioServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.channels.spi.SelectorProvider;
import java.util.List;

/**
 * Listens on a port over RDMA and TCP at once; each connection that it accepts is an {@link RdmaSocketChannel}.
 *
 * <p>That it is an NIO channel may change: rely on {@code ServerSocketChannel} alone.
 */
public final class RdmaServerSocketChannel extends NioServerSocketChannel {

    /**
     * Not bound.
     *
     * @throws IllegalStateException as {@link RdmaIoHandler#newFactory}
     */
    public RdmaServerSocketChannel() {
        this(Rdma.provider());
    }

    RdmaServerSocketChannel(SelectorProvider provider) {
        super(provider);
    }

    @Override
    protected int doReadMessages(List<Object> accepted) throws Exception {
        SocketChannel connection = javaChannel().accept();
        if (connection == null) {
            return 0;
        }
        try {
            accepted.add(new RdmaSocketChannel(this, connection));
            return 1;
        } catch (RuntimeException | Error e) {
            connection.close();
            throw e;
        }
    }
}
