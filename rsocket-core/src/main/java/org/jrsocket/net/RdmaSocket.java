/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.net;

import java.io.Closeable;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.lang.ref.Cleaner;
import java.lang.ref.Reference;
import java.net.SocketException;
import java.net.SocketOption;
import java.net.SocketOptions;
import java.net.SocketTimeoutException;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import org.jrsocket.connect.KeepAliveOption;
import org.jrsocket.stream.RdmaStream;
import org.jrsocket.stream.ResetNews;
import org.jrsocket.stream.StreamFailure;

/**
 * An RDMA connection that behaves like the JDK's {@code NioSocketImpl}: any number of threads may read and write, and
 * take turns; a timeout covers the wait for the turn and the read; the end of the stream is reported for ever.
 *
 * <p>Options are kept, checked and read back by an unconnected {@link PlatformSocket}, so that each is accepted or
 * refused as by the JDK. A client has one from the beginning; an accepted connection gets one when an option is first
 * touched that this class cannot answer itself. Neither has a socket of the kernel's before something needs one.
 */
final class RdmaSocket {

    private final RdmaStream stream;
    private final Cleaner.Cleanable cleanable;
    private final ReentrantLock readLock = new ReentrantLock();
    private final ReentrantLock writeLock = new ReentrantLock();
    private final ResetNews news = new ResetNews();
    private boolean ended; // guarded by readLock

    private final Object optionLock = new Object();
    private PlatformSocket options; // guarded by optionLock, as the next two
    private boolean closed;
    private final Map<SocketOption<?>, Object> inherited; // of an accepted connection
    private final KeepAliveOption keepAlive = new KeepAliveOption();
    private volatile int timeout; // milliseconds, written under optionLock; as the next
    private volatile int linger = -1; // seconds

    /**
     * @param owner when it becomes unreachable, the stream is closed; must not be reachable from the stream
     * @param options the TCP socket that has kept the application's options so far
     */
    RdmaSocket(Object owner, RdmaStream stream, PlatformSocket options) throws SocketException {
        this.stream = stream;
        this.options = options;
        this.inherited = Map.of();
        this.cleanable = LostOwners.watch(owner, stream::close);
        timeout = (int) options.getOption(SocketOptions.SO_TIMEOUT);
        linger = lingerOf(options);
        applyKeepAlive();
    }

    /**
     * Makes the socket of an accepted connection.
     *
     * @param inherited the options that were set on the listener
     * @param timeout SO_TIMEOUT, milliseconds
     */
    RdmaSocket(Object owner, RdmaStream stream, Map<SocketOption<?>, Object> inherited, int timeout) {
        this.stream = stream;
        this.inherited = inherited;
        this.cleanable = LostOwners.watch(owner, stream::close);
        this.timeout = timeout;
    }

    // ---- data ----

    InputStream input(Closeable owner) {
        return new Input(owner);
    }

    OutputStream output(Closeable owner) {
        return new Output(owner);
    }

    /**
     * The input stream of a connection. It refers to the owner, which keeps the connection open while only the stream
     * is in use, until the end of the last call.
     */
    private final class Input extends InputStream {
        private final Closeable owner;

        Input(Closeable owner) {
            this.owner = owner;
        }

        @Override
        public int read() throws IOException {
            byte[] one = new byte[1];
            return read(one, 0, 1) > 0 ? one[0] & 0xff : -1;
        }

        @Override
        public int read(byte[] target, int offset, int length) throws IOException {
            try {
                return RdmaSocket.this.read(target, offset, length);
            } finally {
                Reference.reachabilityFence(owner);
            }
        }

        @Override
        public int available() throws IOException {
            try {
                return RdmaSocket.this.available();
            } finally {
                Reference.reachabilityFence(owner);
            }
        }

        @Override
        public void close() throws IOException {
            owner.close();
        }
    }

    private final class Output extends OutputStream {
        private final Closeable owner;

        Output(Closeable owner) {
            this.owner = owner;
        }

        @Override
        public void write(int b) throws IOException {
            write(new byte[] {(byte) b}, 0, 1);
        }

        @Override
        public void write(byte[] source, int offset, int length) throws IOException {
            try {
                RdmaSocket.this.write(source, offset, length);
            } finally {
                Reference.reachabilityFence(owner);
            }
        }

        @Override
        public void close() throws IOException {
            owner.close();
        }
    }

    /** Reads. The array is called {@code b} as in the JDK, because the message of a NullPointerException names it. */
    private int read(byte[] b, int offset, int length) throws IOException {
        Objects.checkFromIndexSize(offset, length, b.length);
        if (length == 0) {
            return 0;
        }
        long nanos = TimeUnit.MILLISECONDS.toNanos(timeout);
        if (nanos == 0) {
            readLock.lock();
        } else {
            nanos = Locks.lock(readLock, nanos);
            if (nanos <= 0) {
                throw new SocketTimeoutException("Read timed out");
            }
        }
        try {
            if (ended) {
                return -1; // even after close, as the JDK does
            }
            int n = stream.read(b, offset, length, nanos);
            ended = n < 0;
            return n;
        } catch (SocketException e) {
            ended = news.tellReader(e);
            if (ended) {
                return -1;
            }
            throw e;
        } finally {
            readLock.unlock();
        }
    }

    /** Writes. The array is called {@code b} as in {@link #read}. */
    private void write(byte[] b, int offset, int length) throws IOException {
        Objects.checkFromIndexSize(offset, length, b.length);
        if (length > 0) {
            writeLock.lock();
            try {
                stream.write(b, offset, length, 0);
            } catch (SocketException e) {
                throw ofWriter(e);
            } finally {
                writeLock.unlock();
            }
        }
    }

    private SocketException ofWriter(SocketException e) {
        String message = news.toWriter(e);
        return message.equals(e.getMessage()) ? e : StreamFailure.passOn(e, new SocketException(message));
    }

    int available() throws IOException {
        return stream.available();
    }

    void shutdownInput() throws IOException {
        stream.shutdownInput();
    }

    void shutdownOutput() throws IOException {
        stream.shutdownOutput();
    }

    /**
     * Drops the byte, because rsocket has no urgent data; by default (SO_OOBINLINE off) a receiver over TCP does not
     * see it either. Programs that send it to find out whether the connection is alive get the answer, from the second
     * byte on, as with TCP.
     */
    void sendUrgentData() throws IOException {
        writeLock.lock();
        try {
            stream.probe();
        } catch (SocketException e) {
            SocketException told = ofWriter(e);
            // the JDK has no better type here
            throw stream.isOpen() ? StreamFailure.passOn(e, new IOException(told.getMessage())) : told;
        } finally {
            writeLock.unlock();
        }
    }

    // ---- closing ----

    /**
     * Closes as SO_LINGER says. With a linger time it waits, as close(2) of a TCP socket does. It does not wait if
     * another thread is reading or writing: the JDK then leaves the descriptor to that thread.
     */
    void close() throws IOException {
        PlatformSocket kept;
        synchronized (optionLock) {
            if (closed) {
                return;
            }
            closed = true;
            kept = options;
        }
        int seconds = linger;
        boolean inside = readLock.isLocked() || writeLock.isLocked(); // before they are woken
        if (seconds == 0) {
            stream.abort();
        } else {
            stream.closeAfterEnd(); // the JDK shuts down the output before it closes
            if (seconds > 0 && !inside) {
                stream.awaitDrained(TimeUnit.SECONDS.toNanos(seconds));
            }
        }
        cleanable.clean();
        if (kept != null) {
            kept.close();
        }
    }

    // ---- options ----

    /** Returns the TCP socket that keeps the options. Called with optionLock held. */
    private PlatformSocket options() throws SocketException {
        assert Thread.holdsLock(optionLock);
        ensureOpen();
        if (options == null) {
            PlatformSocket fresh = PlatformSocket.client();
            fresh.createLater(inherited);
            options = fresh;
        }
        return options;
    }

    /** Throws if the socket is closed. Called with optionLock held. */
    private void ensureOpen() throws SocketException {
        assert Thread.holdsLock(optionLock);
        if (closed) {
            throw new SocketException("Socket closed");
        }
    }

    void setOption(SocketOption<?> option, Object value) throws IOException {
        synchronized (optionLock) {
            options().setOption(option, value);
            switch (option.name()) {
                case "SO_LINGER" -> linger = lingerOf(options);
                case "SO_KEEPALIVE", KeepAliveOption.IDLE -> applyKeepAlive();
                default -> {}
            }
        }
    }

    Object getOption(SocketOption<?> option) throws IOException {
        synchronized (optionLock) {
            Object kept = options().getOption(option);
            return switch (option.name()) {
                case "SO_SNDBUF" -> stream.config().sendBuffer();
                case "SO_RCVBUF" -> stream.config().receiveBuffer();
                default -> kept;
            };
        }
    }

    void setOption(int option, Object value) throws SocketException {
        synchronized (optionLock) {
            options().setOption(option, value);
            switch (option) {
                case SocketOptions.SO_TIMEOUT -> timeout = (int) value;
                case SocketOptions.SO_LINGER -> linger = lingerOf(options);
                case SocketOptions.SO_KEEPALIVE -> applyKeepAlive();
                default -> {}
            }
        }
    }

    Object getOption(int option) throws SocketException {
        synchronized (optionLock) {
            ensureOpen();
            return switch (option) {
                case SocketOptions.SO_TIMEOUT -> timeout;
                case SocketOptions.SO_BINDADDR -> stream.localAddress().getAddress();
                case SocketOptions.SO_SNDBUF -> stream.config().sendBuffer();
                case SocketOptions.SO_RCVBUF -> stream.config().receiveBuffer();
                default -> options().getOption(option);
            };
        }
    }

    private static int lingerOf(PlatformSocket options) throws SocketException {
        return options.getOption(SocketOptions.SO_LINGER) instanceof Integer seconds ? seconds : -1;
    }

    /** Tells the stream of SO_KEEPALIVE. Called with optionLock held, or before others know this object. */
    private void applyKeepAlive() throws SocketException {
        try {
            keepAlive.apply(
                    stream,
                    (boolean) options.getOption(SocketOptions.SO_KEEPALIVE),
                    () -> KeepAliveOption.idleSeconds(options.supportedOptions(), options::getOption));
        } catch (SocketException e) {
            throw e;
        } catch (IOException e) {
            throw new SocketException(e.getMessage());
        }
    }
}
