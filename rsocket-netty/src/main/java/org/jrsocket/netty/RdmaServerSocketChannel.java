/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.netty;

import io.netty.channel.ChannelPromise;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.channels.spi.SelectorProvider;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A channel that listens on a port over RDMA and TCP at once. Each connection that it accepts is an
 * {@link RdmaSocketChannel}.
 *
 * <p>It may cease to be an NIO channel: rely only on {@code ServerSocketChannel}.
 */
public final class RdmaServerSocketChannel extends NioServerSocketChannel {

    private static final Logger LOG = LoggerFactory.getLogger(RdmaServerSocketChannel.class);

    /**
     * Creates an unbound channel.
     *
     * @throws IllegalStateException as from {@link RdmaIoHandler#newFactory}
     */
    public RdmaServerSocketChannel() {
        this(Rdma.provider());
    }

    RdmaServerSocketChannel(SelectorProvider provider) {
        super(provider);
    }

    @Override
    protected void doRegister(ChannelPromise promise) {
        super.doRegister(Rdma.explaining(promise));
    }

    @Override
    protected int doReadMessages(List<Object> accepted) throws Exception {
        SocketChannel connection = javaChannel().accept();
        return connection == null ? 0 : add(connection, accepted);
    }

    /** Adds a channel for a connection, or if that fails closes it: an exception would close this channel. */
    private int add(SocketChannel connection, List<Object> accepted) {
        try {
            accepted.add(new RdmaSocketChannel(this, connection));
            return 1;
        } catch (Throwable e) {
            LOG.warn("closing {}, because no channel can be created for it", connection, e);
            try {
                connection.close();
            } catch (Throwable second) {
                LOG.warn("cannot close a connection that has no channel", second);
            }
            return 0;
        }
    }
}
