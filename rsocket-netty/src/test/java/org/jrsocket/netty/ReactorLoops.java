/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.netty;

import io.netty.channel.Channel;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.socket.ServerSocketChannel;
import io.netty.channel.socket.SocketChannel;
import io.netty.channel.socket.nio.NioDatagramChannel;
import reactor.netty.resources.LoopResources;

/** Our transport for reactor-netty, as docs/netty.md shows it. */
@SuppressWarnings("unchecked")
final class ReactorLoops implements LoopResources {

    private final FrameworkBehaviours.Site site;

    ReactorLoops(FrameworkBehaviours.Site site) {
        this.site = site;
    }

    @Override
    public EventLoopGroup onServer(boolean useNative) {
        return site.loops();
    }

    @Override
    public <C extends Channel> Class<? extends C> onChannelClass(Class<C> type, EventLoopGroup group) {
        return (Class<? extends C>)
                (type.equals(ServerSocketChannel.class)
                        ? RdmaServerSocketChannel.class
                        : type.equals(SocketChannel.class) ? RdmaSocketChannel.class : NioDatagramChannel.class);
    }

    @Override
    public <C extends Channel> C onChannel(Class<C> type, EventLoopGroup group) {
        return (C)
                (type.equals(ServerSocketChannel.class)
                        ? site.servers().newChannel()
                        : type.equals(SocketChannel.class) ? site.clients().newChannel() : new NioDatagramChannel());
    }
}
