/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.netty;

import io.netty.channel.IoHandle;
import io.netty.channel.IoHandler;
import io.netty.channel.IoHandlerContext;
import io.netty.channel.IoHandlerFactory;
import io.netty.channel.IoRegistration;
import io.netty.channel.nio.NioIoHandler;
import io.netty.util.concurrent.ThreadAwareExecutor;
import java.nio.channels.spi.SelectorProvider;
import org.jrsocket.nio.RSelectorProvider;

/**
 * The event loop's part of the transport: it serves RDMA and TCP connections together, polls while that pays, and then
 * sleeps. Pass {@link #newFactory} to a {@code MultiThreadIoEventLoopGroup}. Its loops serve {@link RdmaSocketChannel},
 * {@link RdmaServerSocketChannel}, and Netty's NIO channels: all work is done by Netty's own handler for NIO, with
 * selectors of ours. It is a class of its own so that a program can ask a group which transport it has
 * ({@code isIoType}), as with Netty's others.
 */
public final class RdmaIoHandler implements IoHandler {

    private final IoHandler nio;

    private RdmaIoHandler(IoHandler nio) {
        this.nio = nio;
    }

    /**
     * Returns a factory for {@code MultiThreadIoEventLoopGroup}.
     *
     * @throws IllegalStateException if a setting cannot be used, the JDK's internals are not open, or the transport was
     *     {@linkplain Rdma#shutdown shut down}; the message says what to do. It is not thrown on a host without RDMA
     */
    public static IoHandlerFactory newFactory() {
        return newFactory(Rdma.provider());
    }

    static IoHandlerFactory newFactory(SelectorProvider provider) {
        IoHandlerFactory nio = NioIoHandler.newFactory(
                provider instanceof RSelectorProvider ours ? new EventLoopSelectors(ours) : provider);
        return new IoHandlerFactory() {
            @Override
            public IoHandler newHandler(ThreadAwareExecutor executor) {
                return new RdmaIoHandler(nio.newHandler(executor));
            }

            @Override
            public boolean isChangingThreadSupported() {
                return nio.isChangingThreadSupported();
            }
        };
    }

    @Override
    public void initialize() {
        nio.initialize();
    }

    @Override
    public int run(IoHandlerContext context) {
        return nio.run(context);
    }

    @Override
    public void prepareToDestroy() {
        nio.prepareToDestroy();
    }

    @Override
    public void destroy() {
        nio.destroy();
    }

    @Override
    public IoRegistration register(IoHandle handle) throws Exception {
        return nio.register(handle);
    }

    @Override
    public void wakeup() {
        nio.wakeup();
    }

    @Override
    public boolean isCompatible(Class<? extends IoHandle> handleType) {
        return nio.isCompatible(handleType);
    }
}
