/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.nio;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.SocketOption;
import java.net.StandardSocketOptions;
import java.nio.channels.SocketChannel;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.jrsocket.connect.Settings;
import org.jrsocket.stream.RdmaStream;
import org.jrsocket.stream.StreamConfig;

/**
 * The options of a channel, and the TCP channel of the JDK's that keeps, checks and reads them back, so that each is accepted or refused as the JDK
 * would. A client has one anyway; a connection accepted over RDMA gets one when an option is first touched. Safe for use by many threads.
 */
final class ChannelOptions {

    /** Of jdk.net.ExtendedSocketOptions, which a JDK may lack. */
    private static final String KEEP_IDLE = "TCP_KEEPIDLE";
    private static final int DEFAULT_KEEP_IDLE_SECONDS = 7200; // Linux's

    private final RSelectorProvider provider;
    private volatile SocketChannel tcp; // written under this, as all of these
    private boolean closed;
    private int sendBuffer; // what the application asked for, bytes; 0 if it did not
    private int receiveBuffer;
    private volatile int linger = -1; // seconds
    private long keepAliveNanos;

    /** @param tcp null: opened when needed */
    ChannelOptions(RSelectorProvider provider, SocketChannel tcp) {
        this.provider = provider;
        this.tcp = tcp;
    }

    boolean hasTcp() {
        return tcp != null;
    }

    /** The TCP channel; closed if the channel is. */
    SocketChannel tcp() {
        SocketChannel current = tcp;
        return current != null ? current : open();
    }

    private synchronized SocketChannel open() {
        if (tcp == null) {
            try {
                SocketChannel fresh = provider.openTcp(null);
                fresh.setOption(StandardSocketOptions.SO_REUSEADDR, true); // an accepted TCP socket inherits it
                if (closed) {
                    fresh.close();
                }
                tcp = fresh;
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
        return tcp;
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
        return provider.clientOptions();
    }

    /** @param stream null if not connected over RDMA */
    <T> void set(SocketOption<T> name, T value, RdmaStream stream) throws IOException {
        tcp().setOption(name, value);
        synchronized (this) {
            switch (name.name()) {
                case "SO_SNDBUF" -> sendBuffer = (int) value;
                case "SO_RCVBUF" -> receiveBuffer = (int) value;
                case "SO_LINGER" -> linger = value instanceof Integer seconds ? Math.max(-1, seconds) : -1;
                case "SO_KEEPALIVE", KEEP_IDLE -> applyKeepAlive(stream);
                default -> { }
            }
        }
    }

    /** Over RDMA the buffers are the stream's rings. */
    @SuppressWarnings("unchecked") // the value of an option is of its type
    <T> T get(SocketOption<T> name, RdmaStream stream) throws IOException {
        T kept = tcp().getOption(name);
        if (stream != null && name == StandardSocketOptions.SO_SNDBUF) {
            return (T) (Integer) stream.config().sendBuffer();
        }
        if (stream != null && name == StandardSocketOptions.SO_RCVBUF) {
            return (T) (Integer) stream.config().receiveBuffer();
        }
        return kept;
    }

    /** SO_LINGER, seconds; negative is off. */
    int linger() {
        return linger;
    }

    /** What a connection over RDMA gets. */
    synchronized StreamConfig streamConfig() throws IOException {
        Settings settings = provider.stack().settings();
        StreamConfig config = settings.streamConfig();
        return config.withBuffers(sendBuffer == 0 ? config.sendBuffer() : Math.min(sendBuffer, settings.maxBuffer()),
                        receiveBuffer == 0 ? config.receiveBuffer() : Math.min(receiveBuffer, settings.maxBuffer()))
                .withTypeOfService(tcp().getOption(StandardSocketOptions.IP_TOS));
    }

    /** Connected over RDMA: what was set before holds now. */
    synchronized void apply(RdmaStream stream) {
        if (tcp != null && !closed) {
            try {
                applyKeepAlive(stream);
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    }

    /** With this. */
    private void applyKeepAlive(RdmaStream stream) throws IOException {
        if (stream == null) {
            return;
        }
        long nanos = tcp().getOption(StandardSocketOptions.SO_KEEPALIVE) ? TimeUnit.SECONDS.toNanos(keepIdle()) : 0;
        if (nanos != keepAliveNanos) {
            keepAliveNanos = nanos;
            stream.keepAlive(nanos);
        }
    }

    /** Seconds between probes: TCP's time until the first. */
    private int keepIdle() throws IOException {
        for (SocketOption<?> option : tcp().supportedOptions()) {
            if (option.name().equals(KEEP_IDLE)) {
                return (int) tcp().getOption(option);
            }
        }
        return DEFAULT_KEEP_IDLE_SECONDS;
    }
}
