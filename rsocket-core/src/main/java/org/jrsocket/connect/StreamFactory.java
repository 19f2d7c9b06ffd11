/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.connect;

import java.io.IOException;
import java.net.InetSocketAddress;
import org.jrsocket.stream.Access;
import org.jrsocket.stream.PendingConnect;
import org.jrsocket.stream.RdmaListener;
import org.jrsocket.stream.StreamConfig;
import org.jrsocket.threads.ServiceLoop;
import org.jrsocket.verbs.VerbsUnavailableException;

/** What this package needs of the RDMA stack; see {@link org.jrsocket.stream.RdmaTransport}. Tests use their own. */
interface StreamFactory {

    PendingConnect connect(
            InetSocketAddress local, InetSocketAddress remote, StreamConfig config, PendingConnect.Observer observer)
            throws VerbsUnavailableException;

    void probe(InetSocketAddress local, InetSocketAddress remote, StreamConfig config, PendingConnect.Observer observer)
            throws VerbsUnavailableException;

    RdmaListener listen(InetSocketAddress local, int backlog, StreamConfig config, Access access) throws IOException;

    /** Listens as {@link org.jrsocket.stream.RdmaTransport#listenWhenFree} does. */
    RdmaListener listenWhenFree(
            InetSocketAddress local, int backlog, StreamConfig config, Access access, RdmaListener.Patience patience)
            throws IOException;

    /** Takes events as {@link org.jrsocket.stream.RdmaTransport#takeCmEvents} does. */
    void takeCmEvents();

    /** Returns whether it was closed, so that there is neither RDMA nor a service thread any more. */
    default boolean isOver() {
        return false;
    }

    /** Returns the service thread's loop, which is there, started if necessary, even while there is no RDMA. */
    ServiceLoop service() throws VerbsUnavailableException;
}
