/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
/**
 * Asynchronous socket channels: {@link org.jrsocket.aio.RAsynchronousChannelProvider} with its groups and channels.
 *
 * <p>Each channel has an inner non-blocking channel of {@code nio}, which is over RDMA or TCP, and each group has one
 * selector of that package. So this package does not decide which transport a connection gets, nor move its bytes: it
 * tries, waits for the selector, tries again, and calls completion handlers on the right threads.
 *
 * <p>May use {@code nio}, through the types of {@code java.nio.channels}, the provider and {@code ProgramProviders};
 * {@code threads}; and slf4j.
 *
 * <p>From top to bottom: provider, server channel, socket channel, {@code Reading} and {@code Writing},
 * {@code Transfer}, {@code Connecting}, group, {@code EventLoop}, {@code IdleWorkers}, {@code Worker},
 * {@code ReadyChannels}, {@code Readiness}, {@code WaitingOperation}, {@code Handlers}, {@code PendingFuture}. No class
 * uses one above it:
 *
 * <ul>
 *   <li>A transfer is one direction of a channel, and gets the channel's group, lock and {@code Connecting}, as that
 *       gets the first two. The channel itself they only close, or ask whether it is open.
 *   <li>A channel and a group know the provider that made them only as one of the JDK's, whose constructors demand it.
 *   <li>{@code EventLoop} and {@code Handlers} know the group whose threads they run on by {@code Handlers.Group}:
 *       handlers belong to it. A {@code Worker} knows what gives it something to do by {@code Worker.Work}.
 * </ul>
 *
 * <p>Locks, in the order in which they may be taken; a thread need not hold those above, and no handler is called with
 * any of them held:
 *
 * <ol>
 *   <li>The provider's monitor, held while it makes the default group.
 *   <li>{@code EventLoop}'s lock, or a {@code PendingFuture}'s monitor.
 *   <li>A channel's {@code Readiness}; never while {@code EventLoop}'s lock is held.
 *   <li>All locks of {@code nio}: with {@code Readiness} held, those for registering and for keys; with
 *       {@code EventLoop}'s lock held, those of the selector, which it closes once no thread selects any more. During a
 *       selection, none of those above is held.
 *   <li>The group's set of channels, its timer and its pool.
 * </ol>
 */
package org.jrsocket.aio;
