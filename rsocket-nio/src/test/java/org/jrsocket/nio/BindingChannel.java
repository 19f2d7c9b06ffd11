/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.nio;

import java.io.IOException;
import java.net.ServerSocket;
import java.net.SocketAddress;
import java.net.SocketOption;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.Set;

/** A server channel of the JDK's, with something that is done first when it binds, and so begins to listen. */
class BindingChannel extends ServerSocketChannel {

    interface Action {
        void run() throws IOException;
    }

    private final ServerSocketChannel inner;
    private final Action first;

    BindingChannel(ServerSocketChannel inner, Action first) {
        super(inner.provider());
        this.inner = inner;
        this.first = first;
    }

    @Override
    public ServerSocketChannel bind(SocketAddress local, int backlog) throws IOException {
        first.run();
        inner.bind(local, backlog);
        return this;
    }

    @Override
    public <T> ServerSocketChannel setOption(SocketOption<T> name, T value) throws IOException {
        inner.setOption(name, value);
        return this;
    }

    @Override
    public <T> T getOption(SocketOption<T> name) throws IOException {
        return inner.getOption(name);
    }

    @Override
    public Set<SocketOption<?>> supportedOptions() {
        return inner.supportedOptions();
    }

    @Override
    public ServerSocket socket() {
        return inner.socket();
    }

    @Override
    public SocketChannel accept() throws IOException {
        return inner.accept();
    }

    @Override
    public SocketAddress getLocalAddress() throws IOException {
        return inner.getLocalAddress();
    }

    @Override
    protected void implCloseSelectableChannel() throws IOException {
        inner.close();
    }

    @Override
    protected void implConfigureBlocking(boolean block) throws IOException {
        inner.configureBlocking(block);
    }
}
