/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.aio;

import java.io.IOException;
import java.net.SocketAddress;
import java.net.SocketOption;
import java.nio.channels.AcceptPendingException;
import java.nio.channels.AsynchronousCloseException;
import java.nio.channels.AsynchronousServerSocketChannel;
import java.nio.channels.AsynchronousSocketChannel;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.CompletionHandler;
import java.nio.channels.NotYetBoundException;
import java.nio.channels.SelectionKey;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.ShutdownChannelGroupException;
import java.nio.channels.SocketChannel;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.Future;
import org.jrsocket.nio.ChannelAccess;

/**
 * A listening channel over a non-blocking one of ours, which accepts connections over RDMA and TCP. Safe for use by
 * many threads.
 *
 * <p>The lock is its {@link Readiness}.
 */
@SuppressWarnings("FutureReturnValueIgnored") // where there is a handler there is no future
final class RAsynchronousServerSocketChannel extends AsynchronousServerSocketChannel implements Readiness.Handler {

    private final RAsynchronousChannelGroup group;
    private final ServerSocketChannel channel;
    private final Readiness readiness;

    // Written with readiness held.
    private volatile boolean closed;
    private boolean killed;
    private boolean busy; // an accept is in progress
    private WaitingOperation<AsynchronousSocketChannel> accepting; // null unless an accept waits

    private RAsynchronousServerSocketChannel(RAsynchronousChannelGroup group, ServerSocketChannel channel) {
        super(group.provider());
        this.group = group;
        this.channel = channel;
        this.readiness = new Readiness(group.loop().selector(), channel, this);
    }

    /**
     * Creates a channel over {@code channel}, which is closed if this fails.
     *
     * @throws ShutdownChannelGroupException if the group takes no more channels
     */
    static RAsynchronousServerSocketChannel over(ServerSocketChannel channel, RAsynchronousChannelGroup group)
            throws IOException {
        boolean done = false;
        try {
            channel.configureBlocking(false);
            RAsynchronousServerSocketChannel made = new RAsynchronousServerSocketChannel(group, channel);
            group.add(made);
            done = true;
            return made;
        } finally {
            if (!done) {
                channel.close();
            }
        }
    }

    private void ensureOpen() throws ClosedChannelException {
        if (closed) {
            throw new ClosedChannelException();
        }
    }

    @Override
    public AsynchronousServerSocketChannel bind(SocketAddress local, int backlog) throws IOException {
        if (local != null) {
            Addresses.checked(local);
        }
        ensureOpen();
        channel.bind(local, backlog);
        return this;
    }

    // ---- accepting ----

    @Override
    public Future<AsynchronousSocketChannel> accept() {
        return start(null, null);
    }

    @Override
    public <A> void accept(A attachment, CompletionHandler<AsynchronousSocketChannel, ? super A> handler) {
        start(attachment, Objects.requireNonNull(handler, "'handler' is null"));
    }

    private <A> Future<AsynchronousSocketChannel> start(
            A attachment, CompletionHandler<AsynchronousSocketChannel, ? super A> handler) {
        if (closed) {
            return Handlers.tellAtOnce(group, handler, attachment, null, new ClosedChannelException());
        }
        begin();
        AsynchronousSocketChannel accepted = null;
        Throwable failure = null;
        try {
            accepted = take();
        } catch (Throwable e) {
            failure = Handlers.translate(e);
        }
        if (accepted == null && failure == null) {
            WaitingOperation<AsynchronousSocketChannel> operation;
            try {
                operation = WaitingOperation.of(
                        handler == null ? new PendingFuture<>(this, this::kill) : null, handler, attachment);
            } catch (Error e) { // lack of memory: nothing has begun
                end();
                throw e;
            }
            synchronized (readiness) {
                failure = await(operation);
                if (failure == null) {
                    return operation.future();
                }
            }
        }
        end();
        if (handler == null) {
            return PendingFuture.of(accepted, failure);
        }
        Handlers.handOver(group, handler, attachment, accepted, failure);
        return null;
    }

    private void begin() {
        try {
            if (channel.getLocalAddress() == null) {
                throw new NotYetBoundException();
            }
        } catch (IOException e) {
            // closed in the meantime, which the accept is about to find
        }
        synchronized (readiness) {
            if (killed) {
                throw new RuntimeException("Accept not allowed due cancellation");
            }
            if (busy) {
                throw new AcceptPendingException();
            }
            busy = true;
        }
    }

    private void end() {
        synchronized (readiness) {
            busy = false;
        }
    }

    /** Refuses further accepts, because one was cancelled and may have dropped a connection. */
    private void kill() {
        synchronized (readiness) {
            killed = true;
        }
    }

    /** Accepts without waiting. */
    private AsynchronousSocketChannel take() throws IOException {
        SocketChannel accepted = ChannelAccess.acceptOurs(channel);
        try {
            return accepted == null ? null : RAsynchronousSocketChannel.over(accepted, group);
        } catch (ShutdownChannelGroupException e) {
            throw new IOException(e);
        }
    }

    /** Waits like {@link Readiness#await}. Called with readiness held. */
    private Throwable await(WaitingOperation<AsynchronousSocketChannel> operation) {
        Throwable failure = readiness.await(SelectionKey.OP_ACCEPT);
        if (failure == null) {
            accepting = operation;
        }
        return failure;
    }

    @Override
    public void onReady(int ops, boolean direct) {
        WaitingOperation<AsynchronousSocketChannel> pending;
        synchronized (readiness) {
            pending = accepting;
            accepting = null;
            if (pending == null) {
                readiness.giveUp(ops);
                return;
            }
        }
        AsynchronousSocketChannel accepted = null;
        Throwable failure = null;
        try {
            accepted = take();
            if (accepted == null) {
                synchronized (readiness) {
                    failure = await(pending);
                    if (failure == null) {
                        return;
                    }
                }
            }
        } catch (Throwable e) {
            failure = Handlers.translate(e);
        }
        end();
        boolean told = pending.tell(group, accepted, failure, direct);
        if (!told && accepted != null) {
            discard(accepted);
        }
    }

    private static void discard(AsynchronousSocketChannel accepted) {
        try {
            accepted.close();
        } catch (IOException e) {
            // it is closed all the same
        }
    }

    // ---- close ----

    @Override
    public boolean isOpen() {
        return !closed;
    }

    @Override
    public void close() throws IOException {
        WaitingOperation<AsynchronousSocketChannel> pending;
        synchronized (readiness) {
            if (closed) {
                return;
            }
            closed = true;
            pending = accepting;
            accepting = null;
        }
        try {
            channel.close();
        } finally {
            try {
                if (readiness.isRegistered()) {
                    group.loop().forget(); // otherwise clients could go on connecting
                }
            } finally {
                try {
                    if (pending != null) {
                        pending.tell(group, null, Handlers.failure(AsynchronousCloseException::new), false);
                    }
                } finally {
                    group.remove(this);
                }
            }
        }
    }

    // ---- addresses and options ----

    @Override
    public SocketAddress getLocalAddress() throws IOException {
        ensureOpen();
        return channel.getLocalAddress();
    }

    @Override
    public <T> AsynchronousServerSocketChannel setOption(SocketOption<T> name, T value) throws IOException {
        Options.check(this, name);
        Options.checkValue(name, value);
        channel.setOption(name, value);
        return this;
    }

    @Override
    public <T> T getOption(SocketOption<T> name) throws IOException {
        Options.check(this, name);
        return channel.getOption(name);
    }

    @Override
    public Set<SocketOption<?>> supportedOptions() {
        return channel.supportedOptions();
    }

    @Override
    public String toString() {
        String inner = channel.toString();
        return AsynchronousServerSocketChannel.class.getName() + inner.substring(inner.indexOf('['));
    }
}
