/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.connect;

import java.io.IOException;
import java.net.SocketOption;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.jrsocket.stream.RdmaStream;

/**
 * SO_KEEPALIVE for a connection over RDMA. Its probes are as far apart as TCP's first probe is from the last data. Not
 * safe for use by many threads; its owner has a lock.
 */
public final class KeepAliveOption {

    /** An option of jdk.net.ExtendedSocketOptions, which a JDK may lack. */
    public static final String IDLE = "TCP_KEEPIDLE";

    private static final int DEFAULT_IDLE_SECONDS = 7200; // Linux's

    /** Reads an option of a TCP socket. */
    public interface Getter {
        Object get(SocketOption<?> name) throws IOException;
    }

    /** Gives the idle time; asked only if probes are wanted. */
    public interface IdleSeconds {
        int get() throws IOException;
    }

    private long nanos; // 0: off

    /** Tells {@code stream}, if the setting has changed. */
    public void apply(RdmaStream stream, boolean on, IdleSeconds idle) throws IOException {
        long wanted = on ? TimeUnit.SECONDS.toNanos(idle.get()) : 0;
        if (wanted != nanos) {
            nanos = wanted;
            stream.keepAlive(wanted);
        }
    }

    /** Returns TCP's time until the first probe. */
    public static int idleSeconds(Set<SocketOption<?>> supported, Getter tcp) throws IOException {
        for (SocketOption<?> option : supported) {
            if (option.name().equals(IDLE)) {
                return (int) tcp.get(option);
            }
        }
        return DEFAULT_IDLE_SECONDS;
    }
}
