/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.connect;

import java.io.IOException;
import java.net.InetSocketAddress;
import org.jrsocket.jfr.Events;

/**
 * A connection that TCP carries in a process that has RDMA, for those who record such things. The socket API that owns
 * it makes one when it is connected and tells it of the end. Safe for use by many threads.
 */
public final class TcpConnection {

    /** An address that is only asked for when somebody records. */
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
     * Made by a client.
     *
     * @param attempt what came before it, or null: nothing is recorded then
     * @return null unless somebody records
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
     * Accepted by a server that listens on both transports.
     *
     * @return null unless somebody records
     */
    public static TcpConnection accepted(TransportContext context, Address local, Address remote) {
        context.counts().acceptedTcp();
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
            return null; // closed meanwhile
        }
    }

    /** It was closed. Harmless when repeated, and on null. */
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
