/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
/**
 * NIO over RDMA: {@link org.jrsocket.nio.RSelectorProvider} with its socket channels, server socket channels and
 * selectors.
 *
 * <p>Each channel of ours has a TCP channel of the JDK's inside, which is bound, keeps the options, and does all the
 * work if the connection turns out to be TCP; over RDMA a stream does. Each selector of ours has one of the JDK's
 * inside, for TCP, datagrams and pipes. Where a process has no RDMA at all, the provider hands out the JDK's own
 * objects.
 *
 * <p>May use {@code connect}, {@code stream}, the descriptors and errors of {@code verbs} (Epoll, EventFd, Fds,
 * exceptions), slf4j, and the JDK's internals through {@link org.jrsocket.nio.JdkChannels} alone. Knows nothing of
 * {@code java.net.SocketImpl} or of Netty.
 */
package org.jrsocket.nio;
