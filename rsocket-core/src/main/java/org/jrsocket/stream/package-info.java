/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
/**
 * An RDMA stream in the rsocket v1 format that any socket API can build on: the driver of the passive core in
 * {@code protocol}, with its lock, memory, waiting and closing.
 *
 * <p>{@link org.jrsocket.stream.RdmaTransport} is a process's stack; it makes streams by connecting and by listening.
 * {@link org.jrsocket.stream.RdmaStream} is one connection. The thread that reads or writes makes the progress; the
 * transport's one service thread does what no caller waits for: connection events, lingering closes, the wake-ups of
 * parked virtual threads, and what writers left behind.
 *
 * <p>It is public for the other modules. Programs cannot rely on it: it may change with any version.
 *
 * <p>This package may use {@code protocol}, {@code wire}, {@code verbs}, {@code os}, {@code jfr} and slf4j. It knows
 * nothing of {@code java.net.SocketImpl}, of channels, or of the fallback to TCP.
 *
 * <p>From top to bottom: the transport ({@code RdmaTransport}, {@code ExitDelay}, {@code OpenStreams}, {@code OpenIds},
 * {@code Closings}, {@code Farewells}); the making of a connection ({@code CmConnect} and its request and answers,
 * {@code CmListener} with its {@code ListeningId}, {@code ListeningAddresses}, {@code RequestCheck}, {@code Admission}
 * and {@code Refusals}, {@code Handshake}); {@code PollSet}; the stream ({@code RdmaStream}, {@code StreamClosing},
 * {@code StreamFreeing}, {@code StreamWriter} with {@code LentMemory}, {@code StreamReader} with
 * {@code BorrowedBytes}); {@code StreamWaiter}, {@code StreamEffects}, {@code Leftovers}, {@code StreamLeftover},
 * {@code StreamSweep}, {@code Growth}; {@code StreamCore}; the connection manager's events, the makers, the reapers and
 * the service thread ({@code CmEvents}, {@code Makers}, {@code Reapers}, {@code ServiceThread}); queues and memory
 * ({@code VerbsQueues}, {@code PathTimers}, {@code Endpoint}, {@code BundlePool}, {@code OpenDevices}), and what they
 * are made of. These references point upwards, for these reasons:
 *
 * <ul>
 *   <li>To the transport, from classes that exist within it and take from it the settings, the pool, the counts or the
 *       service thread: {@code Farewells}, {@code CmConnect}, {@code ConnectRequest}, {@code CmListener},
 *       {@code ListeningId}, {@code ListeningAddresses}, {@code Refusals}, {@code Handshake}, {@code PollSet},
 *       {@code RdmaStream}, {@code StreamClosing}, {@code StreamFreeing}, {@code StreamCore}, {@code Endpoint},
 *       {@code BundlePool}, {@code OpenDevices}, {@code QueueLimits}. {@code OpenStreams} adds up what the transport
 *       reports about them.
 *   <li>{@code OpenDevices} has the {@code ListeningAddresses} and passes on events that may mean a move; these tell
 *       each {@code ListeningId} to look.
 *   <li>A {@code Handshake} tells the {@code CmListener} that made it how it ended.
 *   <li>{@code StreamCore} makes {@code StreamWaiter}, {@code StreamEffects}, {@code StreamLeftover},
 *       {@code StreamSweep}, {@code Stalls} and {@code Growth}, which work on it: the protocol's effects require
 *       waking, ending, more memory, and sending what writers left.
 *   <li>{@code StreamEffects}, {@code StreamWaiter}, {@code StreamSweep} and {@code BorrowedBytes} reach the
 *       {@code StreamClosing} through the core's stream: what they find out, or give back, ends it or lets it continue.
 *   <li>{@code StreamCore} has the {@code RdmaStream}, to hand it to the transport's list and observers, and the
 *       {@code PollSet} that polls it; {@code StreamWaiter} removes a stream that is freed from that set.
 *   <li>{@code ServiceThread} makes {@code Leftovers} and runs its rounds: no other thread is there when writers have
 *       left.
 *   <li>{@code StreamEffects}, {@code StreamLeftover}, {@code CmEvents} and {@code ExitDelay} log under the names of
 *       the stream and of the transport, which are the ones that users know.
 * </ul>
 *
 * <p>Locks. A thread that holds one may take those named after it, and those that these lead to, but no others:
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
