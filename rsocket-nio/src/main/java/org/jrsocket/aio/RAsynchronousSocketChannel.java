/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.aio;

import java.io.IOException;
import java.net.SocketAddress;
import java.net.SocketOption;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.AlreadyBoundException;
import java.nio.channels.AlreadyConnectedException;
import java.nio.channels.AsynchronousCloseException;
import java.nio.channels.AsynchronousSocketChannel;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.CompletionHandler;
import java.nio.channels.ConnectionPendingException;
import java.nio.channels.NotYetConnectedException;
import java.nio.channels.ReadPendingException;
import java.nio.channels.SelectionKey;
import java.nio.channels.SocketChannel;
import java.nio.channels.WritePendingException;
import java.util.HashSet;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;

/**
 * A socket channel whose work is done by a non-blocking one of ours inside, over RDMA or over TCP. Safe for use by many
 * threads.
 *
 * <p>The lock is {@link Readiness}: of what is on its way, and of the state.
 */
@SuppressWarnings("FutureReturnValueIgnored") // where there is a handler there is no future
final class RAsynchronousSocketChannel extends AsynchronousSocketChannel implements Readiness.Handler {

    private enum State {
        UNCONNECTED,
        CONNECTING,
        CONNECTED
    }

    private final RAsynchronousChannelGroup group;
    private final SocketChannel channel;
    private final Readiness readiness;
    private final Transfer reading;
    private final Transfer writing;

    // Written with readiness.
    private volatile State state;
    private volatile boolean closed;
    private volatile SocketAddress remote; // once connected, as the application gave it
    private Connecting connecting; // that waits

    /** A connect that waits for the selector. */
    private record Connecting(
            SocketAddress target,
            PendingFuture<Void> future,
            CompletionHandler<Void, Object> handler,
            Object attachment) {}

    private RAsynchronousSocketChannel(RAsynchronousChannelGroup group, SocketChannel channel, SocketAddress remote) {
        super(group.provider());
        this.group = group;
        this.channel = channel;
        this.remote = remote;
        this.state = remote == null ? State.UNCONNECTED : State.CONNECTED;
        this.readiness = new Readiness(group.loop(), channel, this);
        this.reading = new Reading();
        this.writing = new Writing();
    }

    /**
     * Not connected if {@code channel} is not, which is closed if this fails.
     *
     * @throws java.nio.channels.ShutdownChannelGroupException the group takes no more
     */
    static RAsynchronousSocketChannel over(SocketChannel channel, RAsynchronousChannelGroup group) throws IOException {
        boolean done = false;
        try {
            channel.configureBlocking(false);
            RAsynchronousSocketChannel made =
                    new RAsynchronousSocketChannel(group, channel, channel.getRemoteAddress());
            group.add(made);
            done = true;
            return made;
        } finally {
            if (!done) {
                channel.close();
            }
        }
    }

    RAsynchronousChannelGroup group() {
        return group;
    }

    Readiness readiness() {
        return readiness;
    }

    private void ensureOpen() throws ClosedChannelException {
        if (closed) {
            throw new ClosedChannelException();
        }
    }

    // ---- connecting ----

    @Override
    public AsynchronousSocketChannel bind(SocketAddress local) throws IOException {
        ensureOpen();
        if (state == State.CONNECTING) {
            throw new ConnectionPendingException();
        }
        if (channel.getLocalAddress() != null) {
            throw new AlreadyBoundException();
        }
        if (local != null) {
            Addresses.checked(local);
        }
        channel.bind(local);
        return this;
    }

    @Override
    public Future<Void> connect(SocketAddress target) {
        return start(target, null, null);
    }

    @Override
    public <A> void connect(SocketAddress target, A attachment, CompletionHandler<Void, ? super A> handler) {
        start(target, attachment, Objects.requireNonNull(handler, "'handler' is null"));
    }

    @SuppressWarnings("unchecked") // the handler of the caller's attachment
    private <A> Future<Void> start(SocketAddress target, A attachment, CompletionHandler<Void, ? super A> handler) {
        if (closed) {
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
                PendingFuture<Void> future = handler == null ? new PendingFuture<>(this, this::refuseTransfers) : null;
                synchronized (readiness) {
                    failure = await(
                            new Connecting(target, future, (CompletionHandler<Void, Object>) handler, attachment));
                }
                if (failure == null) {
                    return future;
                }
            }
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
        Handlers.deliver(group, handler, attachment, null, failure);
        return null;
    }

    /** With readiness. @return why it cannot wait, or null */
    private Throwable await(Connecting pending) {
        if (closed) {
            return new AsynchronousCloseException();
        }
        try {
            readiness.await(SelectionKey.OP_CONNECT);
            connecting = pending;
            return null;
        } catch (IOException e) {
            return e;
        }
    }

    private void connected(SocketAddress target) throws AsynchronousCloseException {
        synchronized (readiness) {
            if (closed) {
                throw new AsynchronousCloseException();
            }
            remote = target;
            state = State.CONNECTED;
        }
    }

    /** A channel that cannot connect is closed before anybody hears so. @return what they hear */
    private Throwable failed(Throwable failure) {
        Throwable told = failure instanceof ClosedChannelException ? new AsynchronousCloseException() : failure;
        try {
            close();
        } catch (IOException e) {
            told.addSuppressed(e);
        }
        return told;
    }

    /** The connection may be there or not. */
    private void refuseTransfers() {
        reading.kill();
        writing.kill();
    }

    private void finishConnect(boolean direct) {
        Connecting pending;
        synchronized (readiness) {
            pending = connecting;
            connecting = null;
            if (pending == null) {
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
                connected(pending.target);
            } else {
                synchronized (readiness) {
                    failure = await(pending);
                    if (failure == null) {
                        return;
                    }
                }
            }
        } catch (Throwable e) {
            failure = e;
        }
        tell(pending, failure == null ? null : failed(failure), direct);
    }

    private void tell(Connecting pending, Throwable failure, boolean direct) {
        if (pending.handler == null) {
            pending.future.set(null, failure);
        } else if (direct) {
            Handlers.call(pending.handler, pending.attachment, null, failure);
        } else {
            Handlers.handOver(group, pending.handler, pending.attachment, null, failure);
        }
    }

    // ---- data ----

    private final class Reading extends Transfer {
        Reading() {
            super(RAsynchronousSocketChannel.this, readiness, SelectionKey.OP_READ);
        }

        @Override
        long attempt(ByteBuffer one) throws IOException {
            return channel.read(one);
        }

        @Override
        long attempt(ByteBuffer[] many) throws IOException {
            return channel.read(many);
        }

        @Override
        IllegalStateException pending() {
            return new ReadPendingException();
        }

        @Override
        String refusal() {
            return "Reading not allowed due to timeout or cancellation";
        }
    }

    private final class Writing extends Transfer {
        Writing() {
            super(RAsynchronousSocketChannel.this, readiness, SelectionKey.OP_WRITE);
        }

        @Override
        long attempt(ByteBuffer one) throws IOException {
            try {
                return channel.write(one);
            } catch (ClosedChannelException e) {
                throw shutMeanwhile(e);
            }
        }

        @Override
        long attempt(ByteBuffer[] many) throws IOException {
            try {
                return channel.write(many);
            } catch (ClosedChannelException e) {
                throw shutMeanwhile(e);
            }
        }

        /** A write that waited when the output was shut. */
        private IOException shutMeanwhile(ClosedChannelException e) {
            return isShut() && isOpen() ? new IOException("Broken pipe") : e;
        }

        @Override
        IllegalStateException pending() {
            return new WritePendingException();
        }

        @Override
        String refusal() {
            return "Writing not allowed due to timeout or cancellation";
        }
    }

    private static void check(ByteBuffer target) {
        if (target.isReadOnly()) {
            throw new IllegalArgumentException("Read-only buffer");
        }
    }

    private static ByteBuffer[] part(ByteBuffer[] buffers, int offset, int length) {
        Objects.checkFromIndexSize(offset, length, buffers.length);
        if (length == buffers.length) {
            return buffers;
        }
        ByteBuffer[] part = new ByteBuffer[length];
        System.arraycopy(buffers, offset, part, 0, length);
        return part;
    }

    @Override
    @SuppressWarnings("unchecked") // of one buffer it is an Integer
    public Future<Integer> read(ByteBuffer target) {
        check(target);
        return (Future<Integer>) read(target, null, 0, null, null, null);
    }

    @Override
    public <A> void read(
            ByteBuffer target,
            long timeout,
            TimeUnit unit,
            A attachment,
            CompletionHandler<Integer, ? super A> handler) {
        Objects.requireNonNull(handler, "'handler' is null");
        check(target);
        read(target, null, timeout, unit, attachment, handler);
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
        Objects.requireNonNull(handler, "'handler' is null");
        ByteBuffer[] part = part(targets, offset, length);
        for (ByteBuffer each : part) {
            check(each);
        }
        read(null, part, timeout, unit, attachment, handler);
    }

    /** @param handler null for a future */
    private <A> Future<?> read(
            ByteBuffer one,
            ByteBuffer[] many,
            long timeout,
            TimeUnit unit,
            A attachment,
            CompletionHandler<?, ? super A> handler) {
        if (closed) {
            return tell(many, 0, new ClosedChannelException(), attachment, handler);
        }
        if (remote == null) {
            throw new NotYetConnectedException();
        }
        return switch (reading.admit(many != null || one.hasRemaining())) {
            case SHUT -> tell(many, -1, null, attachment, handler);
            case NOTHING_TO_DO -> tell(many, 0, null, attachment, handler);
            case ADMITTED -> reading.start(one, many, timeout, unit, attachment, handler);
        };
    }

    @Override
    @SuppressWarnings("unchecked") // of one buffer it is an Integer
    public Future<Integer> write(ByteBuffer source) {
        return (Future<Integer>) write(Objects.requireNonNull(source), null, 0, null, null, null);
    }

    @Override
    public <A> void write(
            ByteBuffer source,
            long timeout,
            TimeUnit unit,
            A attachment,
            CompletionHandler<Integer, ? super A> handler) {
        Objects.requireNonNull(handler, "'handler' is null");
        write(Objects.requireNonNull(source), null, timeout, unit, attachment, handler);
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
        Objects.requireNonNull(handler, "'handler' is null");
        write(null, part(sources, offset, length), timeout, unit, attachment, handler);
    }

    /** @param handler null for a future */
    private <A> Future<?> write(
            ByteBuffer one,
            ByteBuffer[] many,
            long timeout,
            TimeUnit unit,
            A attachment,
            CompletionHandler<?, ? super A> handler) {
        if (closed) {
            return tell(many, 0, new ClosedChannelException(), attachment, handler);
        }
        if (remote == null) {
            throw new NotYetConnectedException();
        }
        return switch (writing.admit(many != null || one.hasRemaining())) {
            case SHUT -> tell(many, 0, new ClosedChannelException(), attachment, handler);
            case NOTHING_TO_DO -> tell(many, 0, null, attachment, handler);
            case ADMITTED -> writing.start(one, many, timeout, unit, attachment, handler);
        };
    }

    /** What is complete without a try. */
    @SuppressWarnings("unchecked") // the handler takes what its operation has
    private <A> Future<?> tell(
            ByteBuffer[] many, int n, Throwable failure, A attachment, CompletionHandler<?, ? super A> handler) {
        Object value = null;
        if (failure == null) {
            value = many == null ? (Object) n : (Object) (long) n;
        }
        if (handler == null) {
            return PendingFuture.of(value, failure);
        }
        Handlers.deliver(group, (CompletionHandler<Object, ? super A>) handler, attachment, value, failure);
        return null;
    }

    @Override
    public void onReady(int ops, boolean direct) {
        if ((ops & SelectionKey.OP_CONNECT) != 0) {
            finishConnect(direct);
        }
        boolean writable = (ops & SelectionKey.OP_WRITE) != 0 && writing.take();
        boolean readable = (ops & SelectionKey.OP_READ) != 0 && reading.take();
        if (writable) {
            writing.proceed(direct && !readable); // two handlers in a row would hold each other up
        }
        if (readable) {
            reading.proceed(direct);
        }
    }

    // ---- half close, close ----

    @Override
    public AsynchronousSocketChannel shutdownInput() throws IOException {
        ensureConnected();
        if (reading.shut()) {
            channel.shutdownInput();
        }
        return this;
    }

    @Override
    public AsynchronousSocketChannel shutdownOutput() throws IOException {
        ensureConnected();
        if (writing.shut()) {
            channel.shutdownOutput();
        }
        return this;
    }

    private void ensureConnected() throws ClosedChannelException {
        ensureOpen();
        if (remote == null) {
            throw new NotYetConnectedException();
        }
    }

    @Override
    public boolean isOpen() {
        return !closed;
    }

    @Override
    public void close() throws IOException {
        Connecting unconnected;
        synchronized (readiness) {
            if (closed) {
                return;
            }
            closed = true;
            unconnected = connecting;
            connecting = null;
        }
        boolean unread = reading.take();
        boolean unwritten = writing.take();
        try {
            channel.close();
        } finally {
            try {
                if (unconnected != null) {
                    tell(unconnected, new AsynchronousCloseException(), false);
                }
                if (unread) {
                    reading.fail(new AsynchronousCloseException());
                }
                if (unwritten) {
                    writing.fail(new AsynchronousCloseException());
                }
            } finally {
                if (readiness.isRegistered()) {
                    group.loop().selector().wakeup(); // which then forgets it
                }
                group.remove(this);
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
    public SocketAddress getRemoteAddress() throws IOException {
        ensureOpen();
        return remote;
    }

    @Override
    public <T> AsynchronousSocketChannel setOption(SocketOption<T> name, T value) throws IOException {
        ensureSupported(name);
        ensureOpen();
        if (writing.isShut()) {
            throw new IOException("Connection has been shutdown for writing");
        }
        channel.setOption(name, value);
        return this;
    }

    @Override
    public <T> T getOption(SocketOption<T> name) throws IOException {
        ensureSupported(name);
        ensureOpen();
        return channel.getOption(name);
    }

    private void ensureSupported(SocketOption<?> name) {
        if (!supportedOptions().contains(Objects.requireNonNull(name))) {
            throw new UnsupportedOperationException("'" + name + "' not supported");
        }
    }

    /** As the JDK's, which know fewer than their blocking kin. */
    @Override
    public Set<SocketOption<?>> supportedOptions() {
        Set<SocketOption<?>> options = new HashSet<>(channel.supportedOptions());
        options.remove(StandardSocketOptions.SO_LINGER);
        options.remove(StandardSocketOptions.IP_TOS);
        options.removeIf(each -> each.name().equals("SO_OOBINLINE")); // the JDK's own, which has no public name
        return Set.copyOf(options);
    }

    @Override
    public String toString() {
        String inner = channel.toString(); // says what there is to say, and whether it is RDMA
        return AsynchronousSocketChannel.class.getName() + inner.substring(inner.indexOf('['));
    }
}
