/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.nio;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.net.SocketException;
import java.net.SocketOption;
import java.nio.channels.AsynchronousServerSocketChannel;
import java.nio.channels.AsynchronousSocketChannel;
import java.nio.channels.CompletionHandler;
import java.util.Set;
import java.util.concurrent.Future;
import org.jrsocket.connect.Rules;

/** The JDK's, but it does not listen where only RDMA may be used. */
final class TcpOnlyAsynchronousServerSocketChannel extends AsynchronousServerSocketChannel {

    private final RAsynchronousChannelProvider provider;
    private final AsynchronousServerSocketChannel tcp;

    TcpOnlyAsynchronousServerSocketChannel(RAsynchronousChannelProvider provider, AsynchronousServerSocketChannel tcp) {
        super(provider);
        this.provider = provider;
        this.tcp = tcp;
    }

    @Override
    public AsynchronousServerSocketChannel bind(SocketAddress local, int backlog) throws IOException {
        if (provider.insistsOnRdma(
                Rules.Action.BIND, local == null ? new InetSocketAddress((InetAddress) null, 0) : local)) {
            throw new SocketException("cannot listen over RDMA, which the rules demand for " + local
                    + ": asynchronous channels know TCP only; use ServerSocketChannel, or another rule");
        }
        tcp.bind(local, backlog);
        return this;
    }

    @Override
    public <A> void accept(A attachment, CompletionHandler<AsynchronousSocketChannel, ? super A> handler) {
        tcp.accept(attachment, handler);
    }

    @Override
    public Future<AsynchronousSocketChannel> accept() {
        return tcp.accept();
    }

    @Override
    public SocketAddress getLocalAddress() throws IOException {
        return tcp.getLocalAddress();
    }

    @Override
    public <T> AsynchronousServerSocketChannel setOption(SocketOption<T> name, T value) throws IOException {
        tcp.setOption(name, value);
        return this;
    }

    @Override
    public <T> T getOption(SocketOption<T> name) throws IOException {
        return tcp.getOption(name);
    }

    @Override
    public Set<SocketOption<?>> supportedOptions() {
        return tcp.supportedOptions();
    }

    @Override
    public boolean isOpen() {
        return tcp.isOpen();
    }

    @Override
    public void close() throws IOException {
        tcp.close();
    }

    @Override
    public String toString() {
        return tcp.toString();
    }
}
