/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.netty;

import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.IoHandlerFactory;
import io.netty.channel.ServerChannel;
import java.nio.channels.spi.SelectorProvider;
import org.jrsocket.nio.NettyBehaviours;

/** Ours, for Netty's suite. */
record TransportUnderTest(SelectorProvider provider, boolean lendReceives) implements NettyBehaviours.Transport {

    @Override
    public IoHandlerFactory newHandlerFactory() {
        return RdmaIoHandler.newFactory(provider);
    }

    @Override
    public Channel newChannel() {
        RdmaSocketChannel channel = new RdmaSocketChannel(provider);
        channel.config().setLendReceives(lendReceives);
        return channel;
    }

    @Override
    public ServerChannel newServerChannel() {
        return new RdmaServerSocketChannel(provider);
    }

    @Override
    public void configure(ServerBootstrap server) {
        server.childOption(RdmaChannelOption.LEND_RECEIVES, lendReceives);
    }
}
