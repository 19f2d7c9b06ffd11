/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
/**
 * One RDMA stream that any socket API can sit on, in the rsocket v1 format: the driver of the passive core in
 * {@code protocol}, with its lock, memory, waiting and closing.
 *
 * <p>{@link org.jrsocket.stream.RdmaTransport} is a process's stack: it makes streams by connecting and by listening.
 * {@link org.jrsocket.stream.RdmaStream} is one connection. The thread that reads or writes makes the progress; the
 * transport's one service thread does what no caller waits for: connection events, lingering closes, the wake-ups of
 * parked virtual threads, what writers left behind.
 *
 * <p>May use {@code protocol}, {@code wire}, {@code verbs}, {@code os}, {@code jfr} and slf4j. Knows nothing of
 * {@code java.net.SocketImpl}, of channels, or of falling back to TCP.
 *
 * <p>From top to bottom: the transport ({@code RdmaTransport}, {@code ExitDelay}, {@code OpenStreams}, {@code OpenIds},
 * {@code Closings}, {@code Farewells}); how a connection comes to be ({@code CmConnect} and its request and answers,
 * {@code CmListener} with its {@code ListeningId}, {@code Admission} and {@code Refusals}, {@code Handshake});
 * {@code PollSet}; the stream ({@code RdmaStream}, {@code StreamClosing}, {@code StreamFreeing}, {@code StreamWriter}
 * with {@code LentMemory}, {@code StreamReader} with {@code BorrowedBytes}); {@code StreamWaiter},
 * {@code StreamEffects}, {@code Leftovers}, {@code StreamLeftover}, {@code StreamSweep}; {@code StreamCore}; the
 * connection manager's events, the reapers and the service thread ({@code CmEvents}, {@code Reapers},
 * {@code ServiceThread}); queues and memory ({@code VerbsQueues}, {@code PathTimers}, {@code Endpoint},
 * {@code BundlePool}, {@code OpenDevices}), and what they are made of. Arrows that point up, and why:
 *
 * <ul>
 *   <li>To the transport, from those that exist within it and take from it the settings, the pool, the counts or the
 *       service thread: {@code Farewells}, {@code CmConnect}, {@code ConnectRequest}, {@code CmListener},
 *       {@code ListeningId}, {@code Refusals}, {@code Handshake}, {@code PollSet}, {@code RdmaStream},
 *       {@code StreamClosing}, {@code StreamFreeing}, {@code StreamCore}, {@code Endpoint}, {@code BundlePool},
 *       {@code OpenDevices}. {@code OpenStreams} adds up what the transport tells of them.
 *   <li>A {@code Handshake} tells the {@code CmListener} that made it what it came to.
 *   <li>{@code StreamCore} makes {@code StreamWaiter}, {@code StreamEffects}, {@code StreamLeftover},
 *       {@code StreamSweep} and {@code Stalls}, which work on it: waking, ending and what writers left are what the
 *       protocol's effects ask for.
 *   <li>{@code StreamEffects}, {@code StreamWaiter}, {@code StreamSweep} and {@code BorrowedBytes} reach the
 *       {@code StreamClosing} by the core's stream: what they find out, or give back, ends it or lets it go on.
 *   <li>{@code StreamCore} has the {@code RdmaStream} for those whom it hands it to, the transport's list and
 *       observers, and the {@code PollSet} that polls it; {@code StreamWaiter} takes a stream that is freed out of that
 *       set.
 *   <li>{@code ServiceThread} makes {@code Leftovers} and has it go round: nobody else is there when writers have left.
 *   <li>{@code StreamEffects}, {@code StreamLeftover}, {@code CmEvents} and {@code ExitDelay} log under the names
 *       of the stream and of the transport, the ones that users know.
 * </ul>
 *
 * <p>Locks. Whoever holds one may take those named after it and what these lead to, and no others:
 *
 * <ul>
 *   <li>{@code CmListener}, which a {@code connect.DualListener} leads to: a stream's, {@code Endpoint}.
 *   <li>{@code OpenStreams}' sums: a stream's.
 *   <li>{@code CmConnect}: {@code OpenStreams}' sums, a stream's, {@code Endpoint}, {@code BundlePool}, a CM id's; and
 *       by its observer those of {@code connect}: {@code FirstContacts}, a host's, and a {@code WayAttempt}'s that
 *       waits. There, {@code ConnectAttempt} leads to {@code WayAttempt}, and that to the {@code CmConnect} that it
 *       makes: the other way round. The two do not meet, as an attempt that waits has made no {@code CmConnect} yet,
 *       and is told once.
 *   <li>A stream's ({@code StreamCore}): {@code PollSet}, {@code KeepAlive}, {@code BundlePool}, a watch of the
 *       {@code ServiceThread}; when a path is lost, a host's in {@code connect}; {@code Endpoint} once the reapers have
 *       ended, before that they take it.
 *   <li>{@code Endpoint}: {@code BundlePool}, a CM id's.
 *   <li>{@code ListeningId}, and each of the {@code Farewells}: a CM id's.
 *   <li>A CM id's: its channel's, see {@code verbs.rdmacore}.
 *   <li>{@code BundlePool}, {@code PollSet}, {@code KeepAlive}, a watch: none of these.
 * </ul>
 */
package org.jrsocket.stream;
