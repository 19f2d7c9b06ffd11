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
            NOT_NOW,
            GIVE_UP
        }

        Next next();
    }

    /**
     * As {@link RdmaTransport#listen(InetSocketAddress, int, StreamConfig, Access)}, for a port that somebody else has
     * over RDMA now: listens once it is free, for which it looks about twice a second.
     *
     * @param local with the port
     */
    static RdmaListener whenFree(
            RdmaTransport transport,
            InetSocketAddress local,
            int backlog,
            StreamConfig config,
            Access access,
            Patience patience)
            throws IOException {
        return CmListener.open(transport, local, backlog, config, access, patience);
    }

    InetSocketAddress localAddress();

    /** Takes an established stream, or null if there is none. Any thread. */
    RdmaStream poll();

    /**
     * Runs {@code action} whenever a stream was added to an empty queue, on the service thread. Must not block. At most
     * one action; null for none. If streams wait already it runs at once on the caller's thread.
     */
    void onReady(Runnable action);

    /** Stops listening; streams that nobody took are closed with a reset. Harmless when repeated. */
    @Override
    void close();
}
