/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.connect;

import java.io.IOException;
import java.net.InetSocketAddress;

/**
 * The TCP side of a listening socket while it is bound, which settles the port: RDMA has to have the same. The socket
 * API's own.
 */
public interface TcpPort {

    /** Where TCP is bound, as RDMA is to listen there. */
    InetSocketAddress address() throws IOException;

    /** Whether nobody asked for this port in particular. */
    boolean isAny();

    /** Whether other sockets may be bound to the same port ({@code SO_REUSEPORT}). */
    default boolean isShared() throws IOException {
        return false;
    }

    /** Binds to another port, before it gives up the one that it has. */
    void change() throws IOException;
}
