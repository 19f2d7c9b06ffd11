/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.netty;

import io.netty.channel.IoHandlerFactory;
import io.netty.channel.nio.NioIoHandler;
import java.nio.channels.spi.SelectorProvider;
import org.jrsocket.nio.RSelectorProvider;

/**
 * The event loop's part of the transport: serves RDMA and TCP connections together, polls while that pays, and then
 * sleeps. Give {@link #newFactory} to a {@code MultiThreadIoEventLoopGroup}. Its loops serve {@link RdmaSocketChannel},
 * {@link RdmaServerSocketChannel}, and Netty's NIO channels: they are those of Netty's NIO transport, with selectors of
 * ours.
 */
public final class RdmaIoHandler {

    private RdmaIoHandler() {}

    /**
     * For {@code MultiThreadIoEventLoopGroup}.
     *
     * @throws IllegalStateException a setting cannot be used, or the JDK's internals are not open; the message says
     *     what to do. A host without RDMA is no reason
     */
    public static IoHandlerFactory newFactory() {
        return newFactory(Rdma.provider());
    }

    static IoHandlerFactory newFactory(SelectorProvider provider) {
        return NioIoHandler.newFactory(
                provider instanceof RSelectorProvider ours ? new EventLoopSelectors(ours) : provider);
    }
}
