/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
/**
 * Asynchronous socket channels: {@link org.jrsocket.aio.RAsynchronousChannelProvider} with its groups and channels.
 *
 * <p>Each channel has a non-blocking channel of {@code nio} inside, which is over RDMA or TCP, and each group one
 * selector of it. So which transport a connection gets, and what its bytes do, is not this package's: it tries, waits
 * for the selector, tries again, and calls completion handlers on the right threads.
 *
 * <p>May use {@code nio}, by what {@code java.nio.channels} has, the provider and {@code BroughtProviders}; the threads
 * of {@code stream}; and slf4j.
 *
 * <p>From top to bottom: provider, channels, {@code Connecting}, {@code Transfer}, group, {@code EventLoop},
 * {@code Readiness}, {@code WaitingOperation}, {@code Handlers}, {@code PendingFuture}. Arrows that point up:
 *
 * <ul>
 *   <li>A transfer is one direction of a channel, and has that channel's group and key; so has its connecting.
 *   <li>A channel and a group know the provider that made them: the JDK's constructors want it.
 *   <li>{@code EventLoop} and {@code Handlers} know the group whose threads they run on: handlers belong to it.
 * </ul>
 *
 * <p>Locks, in the order in which they may be taken; a thread need not have those above, and none calls a handler:
 *
 * <ol>
 *   <li>The provider's monitor, with which it makes the default group.
 *   <li>{@code EventLoop}'s lock, or a {@code PendingFuture}'s monitor.
 *   <li>A channel's {@code Readiness}; never with {@code EventLoop}'s lock.
 *   <li>All of {@code nio}'s: with {@code Readiness} those of registering and of keys, with {@code EventLoop}'s lock
 *       those of the selector, which it closes once nobody selects any more. During a selection nobody holds any of
 *       those above.
 *   <li>The group's set of channels, its timer and its pool.
 * </ol>
 */
package org.jrsocket.aio;
