/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
/**
 * {@code java.net} over RDMA: the {@link java.net.SocketImpl}s that {@link java.net.Socket} and
 * {@link java.net.ServerSocket} get from {@link org.jrsocket.net.SocketFactories}.
 *
 * <p>Over TCP the JDK's own implementation does all the work: {@link org.jrsocket.net.PlatformSocket} passes calls on
 * to it, and the application gets its streams unwrapped. Over RDMA {@link org.jrsocket.net.RdmaSocket} behaves as
 * {@code sun.nio.ch.NioSocketImpl} does, down to the words of its exceptions.
 *
 * <p>The order in which the transports are tried, and how a listener takes from both, are up to {@code connect}: this
 * package passes it the platform's socket.
 *
 * <p>May use {@code connect}, {@code stream} and {@code threads}, and the JDK's internals through {@link
 * org.jrsocket.net.JdkInternals} alone.
 */
package org.jrsocket.net;
