/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
/**
 * A Netty transport over RDMA streams: {@code IoHandler}, channels, registered buffers. Empty so far.
 *
 * <p>May use {@code connect}, {@code stream} and Netty. Knows nothing of {@code java.net.SocketImpl} or of the NIO
 * provider.
 */
package org.jrsocket.netty;
