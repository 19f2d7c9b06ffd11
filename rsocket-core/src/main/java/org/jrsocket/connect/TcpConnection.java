/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.connect;

import java.io.IOException;
import java.net.InetSocketAddress;
import org.jrsocket.jfr.Events;

/**
 * A connection that TCP carries in a process that has RDMA, for Flight Recorder. The socket API that owns the
 * connection makes this once it is connected, and reports the end. Safe for use by many threads.
 */
public final class TcpConnection {

    /** An address that is looked up only if something is recorded. */
    public interface Address {
        InetSocketAddress get() throws IOException;
    }

    private final InetSocketAddress local;
    private final InetSocketAddress remote;
    private final long opened = System.nanoTime();
    private boolean over; // guarded by this

    private TcpConnection(InetSocketAddress local, InetSocketAddress remote) {
        this.local = local;
        this.remote = remote;
    }

    /**
     * Records a connection made by a client.
     *
     * @param attempt the attempt that came before it; null if nothing is to be recorded
     * @return null unless something is recorded
     */
    public static TcpConnection connected(ConnectAttempt attempt, Address local) {
        if (attempt == null || !isRecorded()) {
            return null;
        }
        InetSocketAddress from = ask(local);
        Events.opened(
                from,
                attempt.remote(),
                false,
                null,
                attempt.reason() == null ? null : attempt.reason().name(),
                System.nanoTime() - attempt.start());
        return new TcpConnection(from, attempt.remote());
    }

    /**
     * Counts and records a connection accepted by a server that listens on both transports.
     *
     * @return null unless something is recorded
     */
    public static TcpConnection accepted(Counts counts, Address local, Address remote) {
        counts.acceptedTcp();
        if (!isRecorded()) {
            return null;
        }
        TcpConnection connection = new TcpConnection(ask(local), ask(remote));
        Events.opened(connection.local, connection.remote, true, null, null, Events.UNKNOWN);
        return connection;
    }

    private static boolean isRecorded() {
        return Events.recordsOpened() || Events.recordsClosed();
    }

    private static InetSocketAddress ask(Address address) {
        try {
            return address.get();
        } catch (IOException e) {
            return null; // closed in the meantime
        }
    }

    /** Records that the connection was closed. Harmless when repeated, and on null. */
    public static void closed(TcpConnection connection) {
        if (connection != null) {
            connection.close();
        }
    }

    private void close() {
        synchronized (this) {
            if (over) {
                return;
            }
            over = true;
        }
        Events.closed(local, remote, null, -1, -1, System.nanoTime() - opened, "closed", null);
    }
}
