/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
/**
 * A Netty transport over RDMA streams, with TCP where there is no RDMA: {@link org.jrsocket.netty.RdmaIoHandler} for
 * the event loops, {@link org.jrsocket.netty.RdmaSocketChannel}, {@link org.jrsocket.netty.RdmaServerSocketChannel},
 * and {@link org.jrsocket.netty.RdmaByteBufAllocator}, whose buffers are sent from where they lie.
 *
 * <p>Which transport a connection gets, how the loop waits, and TCP are left to the NIO provider, beneath Netty's NIO
 * transport. This package adds what a socket's interface cannot offer: memory that is lent, for sending until the
 * peer's device has acknowledged it, and for reading until the application has released it.
 *
 * <p>May use Netty, {@code nio}, {@code stream}, native memory and exceptions of {@code os} and {@code verbs}, and
 * slf4j.
 *
 * <p>From top to bottom: the handler and the server channel; the channel; {@code MessageWriter} and its
 * {@code FileReader}, the configuration, {@code LentSends}, {@code Registrations}, {@code LendingHandle} and
 * {@code LentByteBuf}, which belong to a connection; the allocator, its arenas and their chunks with their buffers,
 * which do not. No class uses one above it: a chunk knows the size class to which its pieces go back as its
 * {@code Owner}, and the registrations that it has to end as {@code Registrant}s.
 *
 * <p>Locks: {@code Registrations} holds its monitor while it takes the lock of its stream, or a chunk's. So a stream
 * must not hold its lock when it calls back. The monitor of a size class is never held together with any of these.
 */
package org.jrsocket.netty;
