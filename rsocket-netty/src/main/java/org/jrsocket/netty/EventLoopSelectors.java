/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.netty;

import java.io.IOException;
import java.net.ProtocolFamily;
import java.nio.channels.DatagramChannel;
import java.nio.channels.Pipe;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.channels.spi.AbstractSelector;
import java.nio.channels.spi.SelectorProvider;
import org.jrsocket.nio.RSelectorProvider;

/** The provider that Netty's NIO handler asks for selectors: it opens those of ours that suit event loops. */
final class EventLoopSelectors extends SelectorProvider {

    private final RSelectorProvider provider;

    EventLoopSelectors(RSelectorProvider provider) {
        this.provider = provider;
    }

    @Override
    public AbstractSelector openSelector() throws IOException {
        return provider.openEventLoopSelector();
    }

    @Override
    public DatagramChannel openDatagramChannel() throws IOException {
        return provider.openDatagramChannel();
    }

    @Override
    public DatagramChannel openDatagramChannel(ProtocolFamily family) throws IOException {
        return provider.openDatagramChannel(family);
    }

    @Override
    public Pipe openPipe() throws IOException {
        return provider.openPipe();
    }

    @Override
    public ServerSocketChannel openServerSocketChannel() throws IOException {
        return provider.openServerSocketChannel();
    }

    @Override
    public SocketChannel openSocketChannel() throws IOException {
        return provider.openSocketChannel();
    }
}
