/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.stream;

import java.io.IOException;
import java.net.InetSocketAddress;

/**
 * A listening address. Requests are checked and established by the service thread, so a client is connected before
 * anyone accepts.
 */
public interface RdmaListener extends AutoCloseable {

    /** Says how long a listener waits for its port. Asked on the service thread; must not block. */
    interface Patience {

        /** What to do next. */
        enum Next {
            TRY,
            /** To try, and if that fails to wait longer than the last time. */
            TRY_RARELY,
            NOT_NOW,
            GIVE_UP
        }

        Next next();
    }

    /**
     * Listens as {@link RdmaTransport#listen(InetSocketAddress, int, StreamConfig, Access)} does, but on a port that
     * somebody else now has over RDMA: it listens once the port is free, which it checks about twice a second,
     * or as rarely as {@code patience} says.
     *
     * @param local the address, including the port
     */
    static RdmaListener whenFree(
            RdmaTransport transport,
            InetSocketAddress local,
            int backlog,
            StreamConfig config,
            Access access,
            Patience patience)
            throws IOException {
        return CmListener.open(transport.shared(), local, backlog, config, access, patience);
    }

    InetSocketAddress localAddress();

    /** Takes an established stream, or null if there is none. Any thread. */
    RdmaStream poll();

    /**
     * Runs {@code action} on the service thread whenever a stream is added to an empty queue. It must not block. There
     * is at most one action; null removes it. If streams are already waiting, it runs at once on the caller's thread.
     */
    void onReady(Runnable action);

    /** Stops listening; streams that were not taken are closed with a reset. Repeated calls have no effect. */
    @Override
    void close();
}
