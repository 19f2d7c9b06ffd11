/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
/**
 * The choice of a connection's transport: settings, rules, connecting over RDMA and then TCP, listening on both, memory
 * of peers without RDMA, counts. It is public for the other modules. Programs cannot rely on it: it may change with any
 * version.
 *
 * <p>{@link org.jrsocket.connect.TransportContext} is what the sockets of one process share. What every socket API
 * needs is written here once: {@link org.jrsocket.connect.OutgoingConnection} is the sequence of a connect, for callers
 * that block and callers that do not; {@link org.jrsocket.connect.DualListener} finds a port for both transports and
 * accepts from both in turn, and where a device is expected its RDMA side is an {@link
 * org.jrsocket.connect.ExpectedListener} until then; {@link org.jrsocket.connect.DeferredOptions}, {@link
 * org.jrsocket.connect.InheritedOptions}, {@link org.jrsocket.connect.BufferSizes} and {@link
 * org.jrsocket.connect.KeepAliveOption} are options of a socket that may never reach TCP. Nothing here touches a TCP
 * socket: TCP sockets belong to the socket API above, which passes in what is to be done with them ({@link
 * org.jrsocket.connect.OutgoingConnection.Tcp}, {@link org.jrsocket.connect.TcpPort}, {@link
 * org.jrsocket.connect.DualListener.Acceptor}).
 *
 * <p>May use {@code stream}, {@code threads}, {@code os}, {@code jfr} and slf4j, and of {@code verbs} the provider, its
 * information about devices, and the exceptions. {@link org.jrsocket.connect.TransportHolder} alone opens {@code
 * verbs.rdmacore}; {@link org.jrsocket.connect.Settings} knows the name of its property. Knows nothing of {@code
 * java.net.SocketImpl} or of channels.
 *
 * <p>From top to bottom: what a server opens ({@code DualListener}, {@code ExpectedListener}, {@code RdmaListeners},
 * {@code PortPatience}); the context ({@code TransportContext}, {@code LateNames}), which makes the connector
 * ({@code Connector}); one connection ({@code OutgoingConnection}, {@code TcpConnection}, {@code ConnectAttempt} with
 * its {@code WaysInTurn}, {@code Outcomes}), one way of it ({@code WayAttempt}), and the ways ({@code Ways}); what is
 * learned about peers ({@code FirstContacts}, {@code AttemptTime}, {@code PeerMemory}, {@code KnownHost}); rules
 * ({@code RulesFile}, {@code Rules}) and settings ({@code Settings}); the transport ({@code TransportHolder},
 * {@code HeldVerbs}). No class uses one above it. What a lower class has to tell or ask one above it, it has an
 * interface for ({@code FirstContacts.Attempt}, {@code Connector.Choices}).
 */
package org.jrsocket.connect;
