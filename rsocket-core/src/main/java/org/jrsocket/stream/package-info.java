/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
/**
 * An RDMA stream in the rsocket v1 format that any socket API can build on: the driver of the passive core in
 * {@code protocol}, with its lock, waiting and closing.
 *
 * <p>{@link org.jrsocket.stream.RdmaTransport} is a process's stack; it makes streams by connecting and by listening.
 * {@link org.jrsocket.stream.RdmaStream} is one connection. The thread that reads or writes makes the progress; the
 * transport's service thread does what no caller waits for: connection events, lingering closes, the wake-ups of
 * parked virtual threads, and what writers left behind.
 *
 * <p>It is public for the other modules. Programs cannot rely on it: it may change with any version.
 *
 * <p>This package may use {@code endpoint}, {@code threads}, {@code protocol}, {@code wire}, {@code verbs}, {@code os},
 * {@code jfr} and slf4j. It knows nothing of {@code java.net.SocketImpl}, of channels, or of the fallback to TCP.
 *
 * <p>From top to bottom: the transport ({@code RdmaTransport}, {@code ExitDelay}); the making of a connection ({@code
 * CmConnect} with its request, limit and answers, {@code CmListener} with its {@code ListeningId}, {@code
 * RequestCheck}, {@code Admission} and {@code Refusals}, {@code Handshake}) and what it shares ({@code CmServices},
 * {@code CmEvents}, {@code OpenIds}); what looks at all streams ({@code OpenStreams}, {@code DeviceFailures}, {@code
 * PollSet}); the stream ({@code RdmaStream}, {@code StreamWriter}, {@code StreamReader} and {@code StreamLender} with
 * {@code LentMemory} and {@code BorrowedBytes}); the driver ({@code StreamDriver}) and the parts that it puts together
 * ({@code StreamSweep}, {@code StreamClosing}, {@code StreamFreeing}, {@code StreamLeftover}, {@code StreamEffects},
 * {@code StreamWaiter}, {@code Growth}); what these work on ({@code StreamCore}); what all connections share ({@code
 * Services} with {@code Closings}, {@code Farewells}, {@code ListeningAddresses}). No class uses one above it. What a
 * lower class has to tell one above it, it tells an interface of its own, or a {@code Runnable} that it is given.
 *
 * <p>Locks, with those of {@code endpoint}. A thread that holds one may take those named after it, and those that these
 * lead to, but no others:
 *
 * <ul>
 *   <li>{@code CmListener}, which a {@code connect.DualListener} leads to: a stream's, {@code Endpoint},
 *       {@code Reapers}.
 *   <li>{@code OpenStreams}' totals: a stream's.
 *   <li>{@code CmConnect}: {@code OpenStreams}' totals, a stream's, {@code Endpoint}, {@code BundlePool},
 *       {@code Makers}, {@code Reapers}, a CM id's; and, through its observer, those of {@code connect}:
 *       {@code FirstContacts}, which leads to a host's, and that of a waiting {@code WayAttempt}. There,
 *       {@code ConnectAttempt} leads to {@code FirstContacts} and {@code WayAttempt}, and that to the
 *       {@code CmConnect} that it makes, in the opposite order. The two do not meet, because a waiting attempt has not
 *       made its {@code CmConnect} yet, and is told once.
 *   <li>A stream's ({@code StreamCore}): {@code PollSet}, {@code KeepAlive}, {@code BundlePool}, {@code Reapers}, a
 *       watch of the {@code ServiceThread}; when a path is lost, a host's in {@code connect}; {@code Endpoint} and
 *       {@code Slabs} once the reapers have ended; before that, the reapers take them.
 *   <li>{@code Slabs}, which is held while the kernel registers memory: {@code BundlePool}, {@code Reapers}.
 *   <li>{@code Endpoint}: {@code BundlePool}, {@code Slabs}, {@code Reapers}, a CM id's; one of the
 *       {@code Farewells} once the reapers have ended.
 *   <li>{@code ListeningId}: {@code ListeningAddresses}, a CM id's.
 *   <li>Each of the {@code Farewells}: a CM id's.
 *   <li>A CM id's: its channel's, see {@code verbs.rdmacore}.
 *   <li>{@code BundlePool}, {@code PollSet}, {@code KeepAlive}, {@code ListeningAddresses}, {@code Makers},
 *       {@code Reapers}, a watch: none of these.
 * </ul>
 *
 * <p>No logger is called with a stream's lock. Other locks here are held while something is logged, so a logger must
 * not wait for a thread that waits for one of them.
 */
package org.jrsocket.stream;
