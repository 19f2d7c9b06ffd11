/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.bench.netty;

import io.netty.buffer.ByteBufAllocator;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.IoHandlerFactory;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.ServerSocketChannel;
import io.netty.channel.socket.SocketChannel;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.channel.socket.nio.NioSocketChannel;
import io.netty.util.concurrent.DefaultThreadFactory;
import java.util.Optional;
import org.jrsocket.netty.RdmaByteBufAllocator;
import org.jrsocket.netty.RdmaIoHandler;
import org.jrsocket.netty.RdmaServerSocketChannel;
import org.jrsocket.netty.RdmaSocketChannel;

/** What a program names to choose what carries its channels. */
enum Transport {
    /** Netty's own: TCP, or whatever an agent makes of NIO. */
    NIO(NioSocketChannel.class, NioServerSocketChannel.class) {
        @Override
        IoHandlerFactory handlers() {
            return NioIoHandler.newFactory();
        }

        @Override
        Optional<ByteBufAllocator> allocator() {
            return Optional.empty();
        }
    },
    /** Ours. */
    RDMA(RdmaSocketChannel.class, RdmaServerSocketChannel.class) {
        @Override
        IoHandlerFactory handlers() {
            return RdmaIoHandler.newFactory();
        }

        @Override
        Optional<ByteBufAllocator> allocator() {
            return Optional.of(RdmaByteBufAllocator.DEFAULT);
        }
    };

    final Class<? extends SocketChannel> channel;
    final Class<? extends ServerSocketChannel> serverChannel;

    Transport(Class<? extends SocketChannel> channel, Class<? extends ServerSocketChannel> serverChannel) {
        this.channel = channel;
        this.serverChannel = serverChannel;
    }

    abstract IoHandlerFactory handlers();

    /** The one that frameworks with an allocator of their own are to be given. */
    abstract Optional<ByteBufAllocator> allocator();

    /** One event loop: more than one with work would compete with the other process for the guest's CPUs. */
    EventLoopGroup newLoop() {
        return new MultiThreadIoEventLoopGroup(1, new DefaultThreadFactory("loop", true), handlers());
    }
}
