/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.nio;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.SocketOption;
import java.net.StandardSocketOptions;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.SocketChannel;
import java.util.Map;
import java.util.Set;
import org.jrsocket.connect.BufferSizes;
import org.jrsocket.connect.DeferredOptions;
import org.jrsocket.connect.KeepAliveOption;
import org.jrsocket.stream.RdmaStream;
import org.jrsocket.stream.StreamConfig;

/**
 * The options of a channel, and the JDK's TCP channel that keeps, checks and returns them, so that each is accepted or
 * refused as the JDK would. A client channel has a TCP channel anyway. A connection accepted over RDMA gets one when
 * only the kernel knows the answer; the options that nearly every program sets need none. Safe for use by many threads.
 */
final class ChannelOptions {

    private static final int MAX_LINGER_SECONDS = 65535; // as in the JDK

    /** The initial values of the options of an accepted channel, for the options that need no TCP channel. */
    private static final Map<SocketOption<?>, Object> DEFAULTS = Map.of(
            StandardSocketOptions.TCP_NODELAY,
            false,
            StandardSocketOptions.SO_KEEPALIVE,
            false,
            StandardSocketOptions.SO_REUSEADDR,
            true, // inherited from the listener
            StandardSocketOptions.SO_LINGER,
            -1,
            StandardSocketOptions.IP_TOS,
            0);

    private final ProviderServices services;
    private volatile SocketChannel tcp; // written with this monitor held, as are all of these
    private final DeferredOptions<SocketOption<?>> kept = new DeferredOptions<>(DEFAULTS, ChannelOptions::simple);
    private final BufferSizes buffers = new BufferSizes();
    private final KeepAliveOption keepAlive = new KeepAliveOption();
    private boolean closed;
    private volatile int linger = -1; // seconds

    /** @param tcp null to open it when needed */
    ChannelOptions(ProviderServices services, SocketChannel tcp) {
        this.services = services;
        this.tcp = tcp;
    }

    /** Takes over the listener's options. For a channel without a TCP channel, before any other thread knows it. */
    synchronized void inherit(Map<SocketOption<?>, Object> inherited) {
        inherited.forEach(kept::inherit);
    }

    boolean hasTcp() {
        return tcp != null;
    }

    /** Returns the TCP channel of a channel that has one; it is closed if the channel is. */
    SocketChannel tcp() {
        SocketChannel current = tcp;
        if (current == null) {
            throw new IllegalStateException("a connection accepted over RDMA has no TCP channel");
        }
        return current;
    }

    /** Returns the TCP channel, and opens it if there is none yet; it is closed if the channel is. */
    synchronized SocketChannel open() throws IOException {
        if (tcp == null) {
            SocketChannel fresh = services.openTcp(null);
            try {
                if (closed) {
                    fresh.close();
                } else {
                    fresh.setOption(StandardSocketOptions.SO_REUSEADDR, true);
                    kept.copyTo((name, value) -> set(fresh, name, value));
                }
            } catch (IOException | RuntimeException e) {
                fresh.close();
                throw e;
            }
            tcp = fresh;
        }
        return tcp;
    }

    @SuppressWarnings("unchecked") // the value of an option is of its type
    private static <T> void set(SocketChannel to, SocketOption<T> name, Object value) throws IOException {
        to.setOption(name, (T) value);
    }

    void close() throws IOException {
        SocketChannel last;
        synchronized (this) {
            closed = true;
            last = tcp;
        }
        if (last != null) {
            last.close(); // which may linger
        }
    }

    Set<SocketOption<?>> supported() {
        return tcp != null ? tcp.supportedOptions() : services.clientDefaults().options();
    }

    /** @param stream null if not connected over RDMA */
    <T> void set(SocketOption<T> name, T value, RdmaStream stream) throws IOException {
        if (!keep(name, value)) {
            open().setOption(name, value);
        }
        synchronized (this) {
            switch (name.name()) {
                case "SO_SNDBUF" -> buffers.send((int) value);
                case "SO_RCVBUF" -> buffers.receive((int) value);
                case "SO_LINGER" -> linger = value instanceof Integer seconds ? Math.max(-1, seconds) : -1;
                case "SO_KEEPALIVE", KeepAliveOption.IDLE -> applyKeepAlive(stream);
                default -> {}
            }
        }
    }

    /** Keeps a value here if there is no TCP channel and the JDK would certainly accept it. Returns whether it did. */
    private synchronized boolean keep(SocketOption<?> name, Object value) throws ClosedChannelException {
        if (tcp != null || !kept.set(name, value)) {
            return false;
        }
        if (closed) {
            throw new ClosedChannelException();
        }
        return true;
    }

    /** Returns what the JDK would return for a value that it certainly accepts, or null. */
    private static Object simple(SocketOption<?> name, Object value) {
        if (name == StandardSocketOptions.TCP_NODELAY
                || name == StandardSocketOptions.SO_KEEPALIVE
                || name == StandardSocketOptions.SO_REUSEADDR) {
            return value instanceof Boolean ? value : null;
        }
        if (name == StandardSocketOptions.SO_LINGER && value instanceof Integer seconds) {
            return seconds < 0 ? -1 : Math.min(seconds, MAX_LINGER_SECONDS);
        }
        boolean buffer = name == StandardSocketOptions.SO_SNDBUF || name == StandardSocketOptions.SO_RCVBUF;
        return buffer && value instanceof Integer bytes && bytes >= 0 ? value : null;
    }

    @SuppressWarnings("unchecked") // the value of an option is of its type
    <T> T get(SocketOption<T> name, RdmaStream stream) throws IOException {
        Object value = kept(name, stream);
        return value != null ? (T) value : open().getOption(name);
    }

    /** Returns the value of an option that needs no TCP channel; null if it needs one. */
    private synchronized Object kept(SocketOption<?> name, RdmaStream stream) throws ClosedChannelException {
        Object value = tcp == null ? kept.get(name) : null;
        if (stream != null && name == StandardSocketOptions.SO_SNDBUF) {
            value = stream.config().sendBuffer(); // over RDMA: the most memory that the stream uses
        } else if (stream != null && name == StandardSocketOptions.SO_RCVBUF) {
            value = stream.config().receiveBuffer();
        }
        if (value != null && closed) {
            throw new ClosedChannelException();
        }
        return value;
    }

    /** Returns SO_LINGER in seconds; negative means off. */
    int linger() {
        return linger;
    }

    /** Returns the configuration for a connection over RDMA. */
    synchronized StreamConfig streamConfig() throws IOException {
        return buffers.streamConfig(services.context().settings())
                .withTypeOfService(tcp().getOption(StandardSocketOptions.IP_TOS));
    }

    /** Applies what was set before to the stream, once connected over RDMA. */
    synchronized void apply(RdmaStream stream) {
        if (tcp != null && !closed) {
            try {
                applyKeepAlive(stream);
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    }

    /** Called with this monitor held. */
    private void applyKeepAlive(RdmaStream stream) throws IOException {
        if (stream == null) {
            return;
        }
        boolean on = (boolean)
                (tcp != null
                        ? tcp.getOption(StandardSocketOptions.SO_KEEPALIVE)
                        : kept.get(StandardSocketOptions.SO_KEEPALIVE));
        keepAlive.apply(stream, on, () -> tcp == null ? keepIdle() : keepIdle(tcp));
    }

    /** Called with this monitor held. */
    private int keepIdle() throws IOException {
        int otherwise = services.clientDefaults().keepIdle();
        return KeepAliveOption.idleSeconds(supported(), name -> {
            Object value = kept.get(name);
            return value != null ? value : otherwise;
        });
    }

    private static int keepIdle(SocketChannel tcp) throws IOException {
        return KeepAliveOption.idleSeconds(tcp.supportedOptions(), tcp::getOption);
    }
}
