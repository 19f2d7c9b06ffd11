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
import java.nio.channels.AsynchronousCloseException;
import java.nio.channels.AsynchronousSocketChannel;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.CompletionHandler;
import java.nio.channels.ConnectionPendingException;
import java.nio.channels.SelectionKey;
import java.nio.channels.SocketChannel;
import java.util.HashSet;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.jrsocket.nio.ChannelAccess;
import org.jrsocket.nio.JdkVersion;

/**
 * A socket channel whose work is done by an inner non-blocking channel of ours, over RDMA or over TCP. Safe for use by
 * many threads.
 *
 * <p>Its parts, {@link Connecting}, {@link Reading} and {@link Writing}, share a lock: {@link Readiness}.
 */
@SuppressWarnings("FutureReturnValueIgnored") // where there is a handler there is no future
final class RAsynchronousSocketChannel extends AsynchronousSocketChannel implements Readiness.Handler {

    /** Whether a buffer that is null is found before anything else about a gathering write, as in later JDKs. */
    private static final boolean CHECKS_SOURCES = JdkVersion.AT_LEAST_26;

    private final RAsynchronousChannelGroup group;
    private final SocketChannel channel;
    private final Readiness readiness;
    private final Connecting connecting;
    private final Transfer reading;
    private final Transfer writing;

    private volatile boolean closed; // written with readiness held

    private RAsynchronousSocketChannel(RAsynchronousChannelGroup group, SocketChannel channel, SocketAddress remote) {
        super(group.provider());
        this.group = group;
        this.channel = channel;
        this.readiness = new Readiness(group.loop().selector(), channel, this);
        this.connecting = new Connecting(this, group, channel, readiness, remote);
        this.reading = new Reading(this, group, channel, readiness, connecting);
        this.writing = new Writing(this, group, channel, readiness, connecting);
    }

    /**
     * Creates a channel over {@code channel}, connected or not, which is closed if this fails.
     *
     * @throws java.nio.channels.ShutdownChannelGroupException if the group takes no more channels
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

    /** For tests. */
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
        if (connecting.isUnderWay()) {
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
        return connecting.start(target, null, null, this::refuseTransfers);
    }

    @Override
    public <A> void connect(SocketAddress target, A attachment, CompletionHandler<Void, ? super A> handler) {
        connecting.start(target, attachment, Objects.requireNonNull(handler, "'handler' is null"), null);
    }

    /** Refuses reads and writes, because a connect was cancelled and the connection may or may not exist. */
    private void refuseTransfers() {
        reading.kill();
        writing.kill();
    }

    // ---- data ----

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
        return (Future<Integer>) reading.submit(target, null, 0, null, null, null);
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
        reading.submit(target, null, timeout, unit, attachment, handler);
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
        reading.submit(null, part, timeout, unit, attachment, handler);
    }

    @Override
    @SuppressWarnings("unchecked") // of one buffer it is an Integer
    public Future<Integer> write(ByteBuffer source) {
        return (Future<Integer>) writing.submit(Objects.requireNonNull(source), null, 0, null, null, null);
    }

    @Override
    public <A> void write(
            ByteBuffer source,
            long timeout,
            TimeUnit unit,
            A attachment,
            CompletionHandler<Integer, ? super A> handler) {
        Objects.requireNonNull(handler, "'handler' is null");
        writing.submit(Objects.requireNonNull(source), null, timeout, unit, attachment, handler);
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
        ByteBuffer[] part = part(sources, offset, length);
        if (CHECKS_SOURCES) {
            for (ByteBuffer each : part) {
                Objects.requireNonNull(each);
            }
        }
        writing.submit(null, part, timeout, unit, attachment, handler);
    }

    @Override
    public void onReady(int ops, boolean direct) {
        if ((ops & SelectionKey.OP_CONNECT) != 0) {
            connecting.proceed(direct);
        }
        boolean writable = (ops & SelectionKey.OP_WRITE) != 0 && writing.take();
        boolean readable = (ops & SelectionKey.OP_READ) != 0 && reading.take();
        if (writable) {
            writing.proceed(direct && !readable); // one handler would hold up the other
        }
        if (readable) {
            reading.proceed(direct);
        }
    }

    // ---- half close, close ----

    @Override
    public AsynchronousSocketChannel shutdownInput() throws IOException {
        ensureOpen();
        connecting.ensureConnected();
        if (reading.shut()) {
            channel.shutdownInput();
        }
        return this;
    }

    @Override
    public AsynchronousSocketChannel shutdownOutput() throws IOException {
        ensureOpen();
        connecting.ensureConnected();
        if (writing.shut()) {
            channel.shutdownOutput();
        }
        return this;
    }

    @Override
    public boolean isOpen() {
        return !closed;
    }

    @Override
    public void close() throws IOException {
        WaitingOperation<Void> unconnected;
        synchronized (readiness) {
            if (closed) {
                return;
            }
            closed = true;
            unconnected = connecting.take();
        }
        boolean unread = reading.take();
        boolean unwritten = writing.take();
        try {
            try {
                resetIfUnread();
            } finally {
                ChannelAccess.closeAtOnce(channel);
            }
        } finally {
            try {
                if (unconnected != null) {
                    unconnected.tell(group, null, Handlers.failure(AsynchronousCloseException::new), false);
                }
                if (unread) {
                    reading.fail(Handlers.failure(AsynchronousCloseException::new));
                }
                if (unwritten) {
                    writing.fail(Handlers.failure(AsynchronousCloseException::new));
                }
            } finally {
                if (readiness.isRegistered()) {
                    group.loop().selector().wakeup(); // which then forgets the channel
                }
                group.remove(this);
            }
        }
    }

    /**
     * Has a close with unread data send only a reset, which makes reads of the peer fail, as the JDK's asynchronous
     * channels do. A JDK channel that is registered with a selector sends the end of the stream when it is closed, and
     * the reset later.
     */
    private void resetIfUnread() {
        boolean overTcp = connecting.remote() != null && ChannelAccess.streamOf(channel) == null;
        if (!overTcp || !readiness.isRegistered()) {
            return;
        }
        try {
            if (channel.socket().getInputStream().available() > 0) { // takes nothing from a read in progress
                channel.setOption(StandardSocketOptions.SO_LINGER, 0);
            }
        } catch (IOException e) {
            // it has failed before
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
        return connecting.remote();
    }

    @Override
    public <T> AsynchronousSocketChannel setOption(SocketOption<T> name, T value) throws IOException {
        Options.check(this, name);
        if (writing.isShut()) {
            throw new IOException("Connection has been shutdown for writing");
        }
        Options.checkValue(name, value);
        channel.setOption(name, value);
        return this;
    }

    @Override
    public <T> T getOption(SocketOption<T> name) throws IOException {
        Options.check(this, name);
        return channel.getOption(name);
    }

    /** Returns the options of the JDK's asynchronous channels, which support fewer than the blocking ones. */
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
        String inner = channel.toString(); // describes the channel, and whether it uses RDMA
        return AsynchronousSocketChannel.class.getName() + inner.substring(inner.indexOf('['));
    }
}
