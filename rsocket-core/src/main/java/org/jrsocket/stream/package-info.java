/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
/**
 * One RDMA stream that any socket API can sit on: rings, credits, progress, waiting, half close, in the rsocket v1
 * format.
 *
 * <p>{@link org.jrsocket.stream.RdmaTransport} is a process's stack: it makes streams by connecting and by listening.
 * {@link org.jrsocket.stream.RdmaStream} is one connection. The thread that reads or writes makes the progress; the
 * transport's one service thread does what no caller waits for: connection events, lingering closes, the wake-ups of
 * parked virtual threads.
 *
 * <p>May use {@code verbs}, {@code wire} and slf4j. Knows nothing of {@code java.net.SocketImpl}, of channels, or of
 * falling back to TCP.
 */
package org.jrsocket.stream;
