/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.connect;

import java.io.IOException;
import java.net.InetSocketAddress;
import org.jrsocket.os.ErrnoException;
import org.jrsocket.stream.RdmaListener;

/** Opens RDMA listeners for callers that want to know why one is not possible, rather than silently use TCP. */
public final class RdmaListeners {

    private RdmaListeners() {}

    /**
     * Listens over RDMA as a server socket under the agent would.
     *
     * @param local the address, with a port that TCP has too
     * @throws IOException if the policy does not allow it or the host cannot; the message says which
     */
    public static RdmaListener open(TransportContext context, InetSocketAddress local, int backlog) throws IOException {
        if (context.policy(Rules.Action.BIND, local) == Policy.TCP) {
            throw new IOException(TcpReason.POLICY.text());
        }
        try {
            return context.rdma().listen(local, backlog, context.settings().streamConfig(), context.access(local));
        } catch (ErrnoException e) {
            throw new IOException(TcpReason.ofListening(e).text(e), e);
        }
    }
}
