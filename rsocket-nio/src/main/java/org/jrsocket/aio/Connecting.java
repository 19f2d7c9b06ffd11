/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.aio;

import java.io.IOException;
import java.net.SocketAddress;
import java.nio.channels.AlreadyConnectedException;
import java.nio.channels.AsynchronousCloseException;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.CompletionHandler;
import java.nio.channels.ConnectionPendingException;
import java.nio.channels.SelectionKey;
import java.nio.channels.SocketChannel;
import java.util.concurrent.Future;

/**
 * How a channel becomes connected, which is tried once: a channel that cannot connect is closed.
 *
 * <p>The lock is the channel's {@link Readiness}.
 */
final class Connecting {

    private enum State {
        UNCONNECTED,
        CONNECTING,
        CONNECTED
    }

    /** A connect that waits for the selector. */
    record Pending(
            SocketAddress target,
            PendingFuture<Void> future,
            CompletionHandler<Void, Object> handler,
            Object attachment) {}

    private final RAsynchronousSocketChannel owner;
    private final SocketChannel channel;
    private final Readiness readiness;

    // Written with readiness.
    private volatile State state;
    private volatile SocketAddress remote; // once connected, as the application gave it
    private Pending pending;

    /** @param remote of a channel that is connected already, or null */
    Connecting(RAsynchronousSocketChannel owner, SocketChannel channel, Readiness readiness, SocketAddress remote) {
        this.owner = owner;
        this.channel = channel;
        this.readiness = readiness;
        this.remote = remote;
        this.state = remote == null ? State.UNCONNECTED : State.CONNECTED;
    }

    boolean isUnderWay() {
        return state == State.CONNECTING;
    }

    /** Null unless connected. */
    SocketAddress remote() {
        return remote;
    }

    /** @param handler null for a future */
    @SuppressWarnings("unchecked") // the handler of the caller's attachment
    <A> Future<Void> start(SocketAddress target, A attachment, CompletionHandler<Void, ? super A> handler) {
        if (!owner.isOpen()) {
            return tell(new ClosedChannelException(), attachment, handler);
        }
        Addresses.checked(target);
        synchronized (readiness) {
            switch (state) {
                case CONNECTED -> throw new AlreadyConnectedException();
                case CONNECTING -> throw new ConnectionPendingException();
                default -> state = State.CONNECTING;
            }
        }
        Throwable failure = null;
        try {
            if (channel.connect(target)) {
                connected(target);
            } else {
                PendingFuture<Void> future =
                        handler == null ? new PendingFuture<>(owner, owner::refuseTransfers) : null;
                synchronized (readiness) {
                    failure = await(new Pending(target, future, (CompletionHandler<Void, Object>) handler, attachment));
                }
                if (failure == null) {
                    return future;
                }
            }
        } catch (SecurityException e) { // as of an address that is none: nothing has begun
            synchronized (readiness) {
                state = State.UNCONNECTED;
            }
            throw e;
        } catch (Throwable e) {
            failure = e;
        }
        return tell(failure == null ? null : failed(failure), attachment, handler);
    }

    /** What is complete at once. */
    private <A> Future<Void> tell(Throwable failure, A attachment, CompletionHandler<Void, ? super A> handler) {
        if (handler == null) {
            return PendingFuture.of(null, failure);
        }
        Handlers.deliver(owner.group(), handler, attachment, null, failure);
        return null;
    }

    /** With readiness. @return why it cannot wait, or null */
    private Throwable await(Pending waiting) {
        if (!owner.isOpen()) {
            return new AsynchronousCloseException();
        }
        try {
            readiness.await(SelectionKey.OP_CONNECT);
            pending = waiting;
            return null;
        } catch (IOException e) {
            return e;
        }
    }

    private void connected(SocketAddress target) throws AsynchronousCloseException {
        synchronized (readiness) {
            if (!owner.isOpen()) {
                throw new AsynchronousCloseException();
            }
            remote = target;
            state = State.CONNECTED;
        }
    }

    /** The channel is closed before anybody hears why. @return what they hear */
    private Throwable failed(Throwable failure) {
        Throwable told = failure instanceof ClosedChannelException ? new AsynchronousCloseException() : failure;
        try {
            owner.close();
        } catch (IOException e) {
            told.addSuppressed(e);
        }
        return told;
    }

    /** What waited is the caller's now. @return null if nothing did */
    Pending take() {
        synchronized (readiness) {
            Pending taken = pending;
            pending = null;
            return taken;
        }
    }

    /** The selector says that it is time. */
    void proceed(boolean direct) {
        Pending waited;
        synchronized (readiness) {
            waited = take();
            if (waited == null) {
                readiness.giveUp(SelectionKey.OP_CONNECT);
                return;
            }
        }
        Throwable failure = null;
        try {
            if (channel.finishConnect()) {
                synchronized (readiness) {
                    readiness.giveUp(SelectionKey.OP_CONNECT); // else a selector of the JDK's finds it over and over
                }
                connected(waited.target);
            } else {
                synchronized (readiness) {
                    failure = await(waited);
                    if (failure == null) {
                        return;
                    }
                }
            }
        } catch (Throwable e) {
            failure = e;
        }
        tell(waited, failure == null ? null : failed(failure), direct);
    }

    /** What waited, and was taken. */
    void tell(Pending waited, Throwable failure, boolean direct) {
        if (waited.handler == null) {
            waited.future.set(null, failure);
        } else if (direct) {
            Handlers.call(waited.handler, waited.attachment, null, failure);
        } else {
            Handlers.handOver(owner.group(), waited.handler, waited.attachment, null, failure);
        }
    }
}
