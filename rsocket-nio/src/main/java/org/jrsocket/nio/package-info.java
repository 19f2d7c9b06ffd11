/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
/**
 * NIO over RDMA: {@link org.jrsocket.nio.RSelectorProvider} with its socket channels, server socket channels and
 * selectors.
 *
 * <p>Each of our channels has an inner TCP channel of the JDK's, which is bound, keeps the options, and does all the
 * work if the connection turns out to be TCP; over RDMA a stream does. A channel accepted over RDMA has no inner
 * channel until an option needs one. Each of our selectors has an inner selector of the JDK's, for TCP, datagrams and
 * pipes. If a process has no RDMA at all, the provider hands out the JDK's own objects. {@link
 * org.jrsocket.nio.ChannelAccess} is what the packages that are built on these channels may use beyond the JDK's API.
 *
 * <p>The package {@code connect} decides in which order the transports are tried, and how a listener takes from both:
 * this package hands it the inner channel.
 *
 * <p>May use {@code connect}, {@code stream}, {@code threads}, the descriptors and exceptions of {@code verbs} and
 * {@code os}, slf4j, and the JDK's internals only through {@link org.jrsocket.nio.JdkChannels}. Knows nothing of Netty,
 * and of {@code java.net.SocketImpl} only that a socket adaptor cannot do without one.
 *
 * <p>From top to bottom: {@code ChannelAccess}; the provider; server channel, its adaptor, its {@code ServerPort};
 * socket channel, its adaptor with the streams, its {@code Connecting}, {@code ChannelIo},
 * {@code InterruptibleSocketChannel}, {@code ChannelTransport} and {@code ChannelOptions}; selector,
 * {@code Selection}, {@code ReadyKeys}, {@code BusyPollSet}; {@code ChannelKeys} and keys; {@code ProviderServices},
 * and what they are made of. No class uses one above it:
 *
 * <ul>
 *   <li>The provider makes channels and selectors, because the JDK asks it for them. What they need of it, such as the
 *       context and the JDK's own channels, is in {@code ProviderServices}.
 *   <li>The parts of one channel need what it has from the JDK's classes: its mode, its close, and what makes an
 *       interrupt close it. That is in {@code InterruptibleSocketChannel}, which {@code RSocketChannel} extends.
 *   <li>A socket adaptor and its streams are views of one channel, which makes the adaptor when it is asked for. They
 *       work on the channel's parts.
 *   <li>A {@code Selection} tells its selector when it sleeps ({@code Selection.Sleeper}): only a selector can tell the
 *       JDK so.
 *   <li>A key belongs to a selector and a channel: it tells what watches it ({@code RSelectionKey.Watcher}) of the
 *       progress that the channel ({@code RSelectionKey.RdmaSelectable}) makes.
 * </ul>
 *
 * <p>Locks, in the order in which they may be taken; a thread need not hold those above:
 *
 * <ol>
 *   <li>A selector's monitor, then its set of selected keys, as {@code java.nio.channels.Selector} specifies.
 *   <li>A channel's lock of the JDK for registering and for the blocking mode ({@code regLock}).
 *   <li>The {@code readLock} of a {@code ChannelIo}, then its {@code writeLock}; a server channel's {@code acceptLock}.
 *       Reads, writes, connects and accepts that block hold them, so a thread that closes the channel takes none of
 *       them.
 *   <li>A channel's lock of the JDK for the close ({@code closeLock}), then the one for its keys ({@code keyLock}).
 *   <li>A selector's {@code registrations}.
 *   <li>A channel's state lock: the monitor of a {@code ChannelTransport}, or a server channel's {@code stateLock}.
 *       While it is held, nothing that waits is called, and no channel is closed; but a server channel opens RDMA,
 *       binds and listens with it.
 *   <li>The monitors of {@code ChannelOptions} and {@code RSelectionKey}, and {@code SelectorEpollSet}'s lock: one of
 *       them at a time. While it or a state lock is held, any lock of the inner channel or selector.
 *   <li>A stream's lock, and the other locks of {@code connect} and {@code stream}.
 * </ol>
 *
 * <p>Observers of streams and listeners, which end in {@code Selection.lookAt}, take none of these.
 */
package org.jrsocket.nio;
