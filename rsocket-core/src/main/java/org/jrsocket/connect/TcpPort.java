/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.connect;

import java.io.IOException;
import java.net.InetSocketAddress;

/**
 * The TCP side of a listening socket while it is bound, which settles the port: RDMA has to have the same one. The
 * socket API implements it.
 */
public interface TcpPort {

    /** Returns the address to which TCP is bound, in the form in which RDMA is to use it. */
    InetSocketAddress address() throws IOException;

    /** Returns whether no port in particular was asked for. */
    boolean isAny();

    /** Returns whether other sockets may be bound to the same port ({@code SO_REUSEPORT}). */
    default boolean isShared() throws IOException {
        return false;
    }

    /** Binds to another port before giving up the present one. */
    void change() throws IOException;
}
