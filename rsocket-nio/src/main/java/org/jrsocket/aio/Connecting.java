/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.aio;

import java.io.IOException;
import java.net.ConnectException;
import java.net.SocketAddress;
import java.nio.channels.AlreadyConnectedException;
import java.nio.channels.AsynchronousChannel;
import java.nio.channels.AsynchronousCloseException;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.CompletionHandler;
import java.nio.channels.ConnectionPendingException;
import java.nio.channels.NotYetConnectedException;
import java.nio.channels.SelectionKey;
import java.nio.channels.SocketChannel;
import java.util.concurrent.Future;

/**
 * The connecting of a channel, which is tried only once: a channel that cannot connect is closed.
 *
 * <p>The lock is the channel's {@link Readiness}.
 */
final class Connecting {

    private enum State {
        UNCONNECTED,
        CONNECTING,
        CONNECTED
    }

    /** What selectable channels add to a refusal from 27 on, and in late updates of other JDKs. */
    private static final String ADDED = " (connect failed)";

    private final AsynchronousChannel owner;
    private final Handlers.Group group;
    private final SocketChannel channel;
    private final Readiness readiness;

    // Written with readiness held.
    private volatile State state;
    private SocketAddress target; // as the application gave it
    private volatile SocketAddress remote; // the same address, once connected
    private WaitingOperation<Void> pending;

    /**
     * @param owner the channel that the application has
     * @param channel the one inside
     * @param remote the remote address of a channel that is connected already, or null
     */
    Connecting(
            AsynchronousChannel owner,
            Handlers.Group group,
            SocketChannel channel,
            Readiness readiness,
            SocketAddress remote) {
        this.owner = owner;
        this.group = group;
        this.channel = channel;
        this.readiness = readiness;
        this.remote = remote;
        this.state = remote == null ? State.UNCONNECTED : State.CONNECTED;
    }

    boolean isUnderWay() {
        return state == State.CONNECTING;
    }

    /** Returns the remote address, or null unless connected. */
    SocketAddress remote() {
        return remote;
    }

    void ensureConnected() {
        if (remote == null) {
            throw new NotYetConnectedException();
        }
    }

    /**
     * @param handler null for a future
     * @param onCancel for a future: has the channel refuse reads and writes, because the connection may or may not
     *     exist
     */
    <A> Future<Void> start(
            SocketAddress target, A attachment, CompletionHandler<Void, ? super A> handler, Runnable onCancel) {
        if (!owner.isOpen()) {
            return Handlers.tellAtOnce(group, handler, attachment, null, new ClosedChannelException());
        }
        Addresses.checked(target);
        synchronized (readiness) {
            switch (state) {
                case CONNECTED -> throw new AlreadyConnectedException();
                case CONNECTING -> throw new ConnectionPendingException();
                default -> {
                    state = State.CONNECTING;
                    this.target = target;
                }
            }
        }
        Throwable failure = null;
        try {
            if (channel.connect(target)) {
                connected();
            } else {
                PendingFuture<Void> future = handler == null ? new PendingFuture<>(owner, onCancel) : null;
                WaitingOperation<Void> operation = WaitingOperation.of(future, handler, attachment);
                synchronized (readiness) {
                    failure = await(operation);
                }
                if (failure == null) {
                    return future;
                }
            }
        } catch (SecurityException e) { // as for a wrong address: nothing has begun
            synchronized (readiness) {
                state = State.UNCONNECTED;
            }
            throw e;
        } catch (Throwable e) {
            failure = e;
        }
        return Handlers.tellAtOnce(group, handler, attachment, null, failure == null ? null : failed(failure));
    }

    /** Waits like {@link Readiness#await}. Called with readiness held. */
    private Throwable await(WaitingOperation<Void> operation) {
        Throwable failure = readiness.await(SelectionKey.OP_CONNECT);
        if (failure == null) {
            pending = operation;
        }
        return failure;
    }

    private void connected() throws AsynchronousCloseException {
        synchronized (readiness) {
            if (!owner.isOpen()) {
                throw new AsynchronousCloseException();
            }
            remote = target;
            state = State.CONNECTED;
        }
    }

    /**
     * Closes the channel before the failure is reported.
     *
     * @return what to report
     */
    private Throwable failed(Throwable failure) {
        Throwable told = failure;
        try {
            told = inWordsOfAsynchronousChannels(Handlers.translate(failure));
        } catch (OutOfMemoryError e) {
            // the words do not matter that much
        }
        try {
            owner.close();
        } catch (IOException e) {
            told.addSuppressed(e);
        } catch (OutOfMemoryError e) {
            // it is closed all the same
        }
        return told;
    }

    /** Returns a refusal without what asynchronous channels of the JDK's do not add to it. */
    private static Throwable inWordsOfAsynchronousChannels(Throwable failure) {
        String message = failure.getMessage();
        if (!(failure instanceof ConnectException) || message == null || !message.endsWith(ADDED)) {
            return failure;
        }
        ConnectException told = new ConnectException(message.substring(0, message.length() - ADDED.length()));
        told.setStackTrace(failure.getStackTrace());
        return told;
    }

    /** Returns the connect that waits, or null. From now on it belongs to the caller. */
    WaitingOperation<Void> take() {
        synchronized (readiness) {
            WaitingOperation<Void> taken = pending;
            pending = null;
            return taken;
        }
    }

    /** Goes on with the connect, when the selector reports it. */
    void proceed(boolean direct) {
        WaitingOperation<Void> waited;
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
                    readiness.giveUp(SelectionKey.OP_CONNECT); // otherwise a JDK selector finds it over and over
                }
                connected();
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
        waited.tell(group, null, failure == null ? null : failed(failure), direct);
    }
}
