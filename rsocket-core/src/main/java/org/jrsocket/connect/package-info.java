/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
/**
 * Which transport a connection gets: settings, rules, RDMA-then-TCP connecting, listening on both, memory of peers
 * without RDMA, counts.
 *
 * <p>{@link org.jrsocket.connect.TransportContext} is what the sockets of one process share. A client asks its
 * {@link org.jrsocket.connect.Connector} for an {@link org.jrsocket.connect.ConnectAttempt} over RDMA and connects TCP
 * itself when that comes to nothing; a server opens a {@link org.jrsocket.connect.DualListener} beside its TCP
 * listener. Nothing here touches a TCP socket: those belong to the socket API above.
 *
 * <p>May use {@code stream}, of {@code verbs} its provider and exceptions, and slf4j. Knows nothing of
 * {@code java.net.SocketImpl} or of channels.
 */
package org.jrsocket.connect;
