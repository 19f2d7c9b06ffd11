/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
/**
 * NIO over RDMA: {@link org.jrsocket.nio.RSelectorProvider} with its socket channels, server socket channels and
 * selectors.
 *
 * <p>A channel of ours has a TCP channel of the JDK's inside, which is bound, keeps the options, and does all the work
 * if the connection turns out to be TCP; over RDMA a stream does. One that was accepted over RDMA has none until an
 * option needs it. Each selector of ours has one of the JDK's inside, for TCP, datagrams and pipes. Where a process has
 * no RDMA at all, the provider hands out the JDK's own objects.
 *
 * <p>In which order the transports are tried, and how a listener takes from both, is {@code connect}'s: this package
 * hands it the inner channel.
 *
 * <p>May use {@code connect}, {@code stream}, of {@code verbs} and {@code os} the descriptors and exceptions, slf4j,
 * and the JDK's internals through {@link org.jrsocket.nio.JdkChannels} alone. Knows nothing of
 * Netty, and of {@code java.net.SocketImpl} only that a socket adaptor cannot do without one.
 *
 * <p>From top to bottom: server channel, socket channel (on the one that reads and writes, which is on the one that
 * connects, on the one that knows its state), selector and selection, provider, adaptors, keys, and what they are made
 * of. Arrows that point up, and why:
 *
 * <ul>
 *   <li>The provider makes channels and selectors, because the JDK asks it for them; they, {@code ChannelOptions},
 *       {@code ServerPort} and {@code KeptPort} ask it for the JDK's own and for the context.
 *   <li>A socket adaptor and its streams are views of one channel, which makes the adaptor when it is asked for.
 *   <li>A {@code Selection} is its selector's, which it tells when it sleeps: only a selector can say so to the JDK.
 *   <li>A key belongs to a selector and a channel: it tells the selector of the progress that the channel makes.
 *       {@code RdmaSelectable}, {@code BusyPollSet}, {@code SelectorEpollSet} and {@code UpdateQueue} are what channels
 *       and selectors know of keys.
 * </ul>
 *
 * <p>Locks, in the order in which they may be taken; a thread need not have those above:
 *
 * <ol>
 *   <li>A selector's monitor, then its set of selected keys: what {@code java.nio.channels.Selector} says.
 *   <li>Of a channel, the JDK's for registering and for the blocking mode ({@code regLock}).
 *   <li>Of a socket channel, {@code readLock}, then {@code writeLock}; of a server channel, {@code acceptLock}. Reads,
 *       writes, connects and accepts that block hold them, so whoever closes takes none of them.
 *   <li>Of a channel, the JDK's for the close ({@code closeLock}), then for its keys ({@code keyLock}).
 *   <li>A selector's {@code registrations}.
 *   <li>A channel's {@code stateLock}. Nothing that waits is called with it, and no channel is closed with it.
 *   <li>The monitors of {@code ChannelOptions} and {@code RSelectionKey}, and {@code SelectorEpollSet}'s lock: one of
 *       them at a time. With it, or with {@code stateLock}, all locks of the channel or the selector inside.
 *   <li>A stream's lock, and what else {@code connect} and {@code stream} have.
 * </ol>
 *
 * <p>Observers of streams and listeners, which end in {@code Selection.lookAt}, take none of these.
 */
package org.jrsocket.nio;
