/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
/**
 * One RDMA stream that any socket API can sit on, in the rsocket v1 format: the driver of the passive core in
 * {@code protocol}, with its lock, memory, waiting and closing.
 *
 * <p>{@link org.jrsocket.stream.RdmaTransport} is a process's stack: it makes streams by connecting and by listening.
 * {@link org.jrsocket.stream.RdmaStream} is one connection. The thread that reads or writes makes the progress; the
 * transport's one service thread does what no caller waits for: connection events, lingering closes, the wake-ups of
 * parked virtual threads, what writers left behind.
 *
 * <p>May use {@code protocol}, {@code wire}, {@code verbs}, {@code os}, {@code jfr} and slf4j. Knows nothing of
 * {@code java.net.SocketImpl}, of channels, or of falling back to TCP.
 *
 * <p>Within the package {@code RdmaStream} and its parts know one another: {@code StreamCore} has the stream for those
 * whom it hands it to (the transport's list, the log), {@code StreamWaiter} and {@code StreamClosing} have the core,
 * because waking and ending are what its effects ask for. {@code CmConnect}, {@code CmListener} and {@code Handshake}
 * have the transport, which has them made.
 */
package org.jrsocket.stream;
