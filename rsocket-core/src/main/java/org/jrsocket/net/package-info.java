/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
/**
 * {@code java.net} over RDMA: the {@link java.net.SocketImpl}s that {@link java.net.Socket} and
 * {@link java.net.ServerSocket} get from {@link org.jrsocket.net.SocketFactories}.
 *
 * <p>Over TCP the JDK's own implementation does all the work: {@link org.jrsocket.net.PlatformSocket} hands calls
 * through to it and its streams go to the application unwrapped. Over RDMA {@link org.jrsocket.net.RdmaSocket} behaves
 * as {@code sun.nio.ch.NioSocketImpl} does, to the words of its exceptions.
 *
 * <p>In which order the transports are tried, and how a listener takes from both, is {@code connect}'s: this package
 * hands it the platform's socket.
 *
 * <p>May use {@code connect} and {@code stream}, and the JDK's internals through
 * {@link org.jrsocket.net.JdkInternals} alone.
 */
package org.jrsocket.net;
