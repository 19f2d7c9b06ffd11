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
import org.jrsocket.stream.ServiceLoop;
import org.jrsocket.stream.StreamConfig;
import org.jrsocket.verbs.VerbsUnavailableException;

/** What this package asks of the RDMA stack; see {@link org.jrsocket.stream.RdmaTransport}. Tests put in their own. */
interface StreamFactory {

    PendingConnect connect(
            InetSocketAddress local, InetSocketAddress remote, StreamConfig config, PendingConnect.Observer observer)
            throws VerbsUnavailableException;

    void probe(InetSocketAddress local, InetSocketAddress remote, StreamConfig config, PendingConnect.Observer observer)
            throws VerbsUnavailableException;

    RdmaListener listen(InetSocketAddress local, int backlog, StreamConfig config, Access access) throws IOException;

    /** As {@link RdmaListener#whenFree}. */
    RdmaListener listenWhenFree(
            InetSocketAddress local, int backlog, StreamConfig config, Access access, RdmaListener.Patience patience)
            throws IOException;

    /** As {@link org.jrsocket.stream.RdmaTransport#takeCmEvents}. */
    void takeCmEvents();

    /** Whether it was closed: there is no RDMA any more, nor a service thread. */
    default boolean isOver() {
        return false;
    }

    ServiceLoop service() throws VerbsUnavailableException;
}
