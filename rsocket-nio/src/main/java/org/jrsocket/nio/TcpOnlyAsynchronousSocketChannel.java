/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.nio;

import java.io.IOException;
import java.net.ConnectException;
import java.net.SocketAddress;
import java.net.SocketOption;
import java.nio.ByteBuffer;
import java.nio.channels.AsynchronousSocketChannel;
import java.nio.channels.CompletionHandler;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.jrsocket.connect.Rules;

/** The JDK's, but it does not connect where only RDMA may be used. */
final class TcpOnlyAsynchronousSocketChannel extends AsynchronousSocketChannel {

    private final RAsynchronousChannelProvider provider;
    private final AsynchronousSocketChannel tcp;

    TcpOnlyAsynchronousSocketChannel(RAsynchronousChannelProvider provider, AsynchronousSocketChannel tcp) {
        super(provider);
        this.provider = provider;
        this.tcp = tcp;
    }

    /** Why it must not be connected, or null. Closes, as the JDK does after a connect that failed. */
    private ConnectException refusal(SocketAddress remote) {
        if (!tcp.isOpen() || !provider.insistsOnRdma(Rules.Action.CONNECT, remote)) {
            return null;
        }
        ConnectException e = new ConnectException("cannot connect over RDMA, which the rules demand for " + remote
                + ": asynchronous channels know TCP only; use SocketChannel, or another rule");
        try {
            tcp.close();
        } catch (IOException suppressed) {
            e.addSuppressed(suppressed);
        }
        return e;
    }

    @Override
    public <A> void connect(SocketAddress remote, A attachment, CompletionHandler<Void, ? super A> handler) {
        ConnectException refusal = handler == null ? null : refusal(remote);
        if (refusal == null) {
            tcp.connect(remote, attachment, handler);
        } else {
            handler.failed(refusal, attachment);
        }
    }

    @Override
    public Future<Void> connect(SocketAddress remote) {
        ConnectException refusal = refusal(remote);
        return refusal == null ? tcp.connect(remote) : CompletableFuture.failedFuture(refusal);
    }

    @Override
    public AsynchronousSocketChannel bind(SocketAddress local) throws IOException {
        tcp.bind(local);
        return this;
    }

    @Override
    public AsynchronousSocketChannel shutdownInput() throws IOException {
        tcp.shutdownInput();
        return this;
    }

    @Override
    public AsynchronousSocketChannel shutdownOutput() throws IOException {
        tcp.shutdownOutput();
        return this;
    }

    @Override
    public SocketAddress getRemoteAddress() throws IOException {
        return tcp.getRemoteAddress();
    }

    @Override
    public SocketAddress getLocalAddress() throws IOException {
        return tcp.getLocalAddress();
    }

    @Override
    public <A> void read(
            ByteBuffer target,
            long timeout,
            TimeUnit unit,
            A attachment,
            CompletionHandler<Integer, ? super A> handler) {
        tcp.read(target, timeout, unit, attachment, handler);
    }

    @Override
    public Future<Integer> read(ByteBuffer target) {
        return tcp.read(target);
    }

    @Override
    public <A> void read(
            ByteBuffer[] targets,
            int offset,
            int length,
            long timeout,
            TimeUnit unit,
            A attachment,
            CompletionHandler<Long, ? super A> handler) {
        tcp.read(targets, offset, length, timeout, unit, attachment, handler);
    }

    @Override
    public <A> void write(
            ByteBuffer source,
            long timeout,
            TimeUnit unit,
            A attachment,
            CompletionHandler<Integer, ? super A> handler) {
        tcp.write(source, timeout, unit, attachment, handler);
    }

    @Override
    public Future<Integer> write(ByteBuffer source) {
        return tcp.write(source);
    }

    @Override
    public <A> void write(
            ByteBuffer[] sources,
            int offset,
            int length,
            long timeout,
            TimeUnit unit,
            A attachment,
            CompletionHandler<Long, ? super A> handler) {
        tcp.write(sources, offset, length, timeout, unit, attachment, handler);
    }

    @Override
    public <T> AsynchronousSocketChannel setOption(SocketOption<T> name, T value) throws IOException {
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
