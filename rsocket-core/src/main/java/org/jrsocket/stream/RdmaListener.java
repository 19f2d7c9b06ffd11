/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.stream;

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
