/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
/**
 * The rsocket v1 stream as a passive core. The core is told what happened and asked what to do. It owns no thread, no
 * lock, no clock and no memory, makes no system call, and allocates nothing for a message once its queues have grown.
 * The package {@code stream} drives it for blocking sockets and selectors; the simulator is another driver.
 *
 * <p>A connection is two halves that do not know each other. {@link org.jrsocket.protocol.Outbound} is told of bytes
 * written, of completions, of the peer's grants and credits, and of what we announce, and appends work requests to a
 * {@link org.jrsocket.protocol.RequestSink}. {@link org.jrsocket.protocol.Inbound} is told of the peer's messages and
 * of bytes read, and says when receives go back to the device and when memory is to be granted. What one half learns
 * and the other needs leaves it as one of the {@link org.jrsocket.protocol.Effects}, and
 * {@link org.jrsocket.protocol.Connection} tells the other. {@link org.jrsocket.protocol.Pump} moves a connection along
 * the queues of its device.
 *
 * <p>Every class here belongs to one thread at a time; the driver makes sure of that. Exceptions are thrown only for
 * mistakes of the caller: what a peer does wrong is reported as {@link org.jrsocket.protocol.Effects#VIOLATION} and a
 * sentence.
 *
 * <p>From top to bottom: {@code Pump}, {@code Connection}, the two halves with their parts, and below those the
 * interfaces to the driver ({@code Queues}, {@code RequestSink}, {@code SlabSource}, {@code GrantTable}), {@code Slab}
 * and {@code Effects}. No class uses one above it.
 *
 * <p>This package may use {@code wire} and the JDK. Addresses and keys are numbers to it: it never looks at what they
 * point to.
 */
package org.jrsocket.protocol;
