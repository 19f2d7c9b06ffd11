/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
/**
 * Which transport a connection gets: settings, rules, RDMA-then-TCP connecting, listening on both, memory of peers
 * without RDMA, counts.
 *
 * <p>{@link org.jrsocket.connect.TransportContext} is what the sockets of one process share. What every socket API
 * needs is written here once: {@link org.jrsocket.connect.OutgoingConnection} is the order of a connect, for those who
 * block and those who do not; {@link org.jrsocket.connect.DualListener} finds a port for both transports and accepts
 * from both by turns; {@link org.jrsocket.connect.KeptOptions}, {@link org.jrsocket.connect.InheritedOptions},
 * {@link org.jrsocket.connect.BufferSizes} and
 * {@link org.jrsocket.connect.KeepAliveOption} are the options of a socket that TCP may never carry. Nothing here
 * touches a TCP socket: those belong to the socket API above, which hands in what is to be done with them
 * ({@link org.jrsocket.connect.OutgoingConnection.Tcp}, {@link org.jrsocket.connect.TcpPort},
 * {@link org.jrsocket.connect.DualListener.Acceptor}).
 *
 * <p>May use {@code stream}, {@code os}, {@code jfr} and slf4j, and of {@code verbs} the provider, what it says of
 * devices, and the exceptions.
 * {@link org.jrsocket.connect.TransportHolder} alone opens {@code verbs.rdmacore};
 * {@link org.jrsocket.connect.Settings} knows the name of its property. Knows nothing of {@code java.net.SocketImpl} or
 * of channels.
 *
 * <p>Two arrows point both ways: a {@link org.jrsocket.connect.ConnectAttempt} tells the
 * {@link org.jrsocket.connect.Connector} that made it what it came to, and the connector takes rules, counts and log
 * from the context that made it.
 */
package org.jrsocket.connect;
