/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
/**
 * Verbs within one JVM: the seam of {@link org.jrsocket.verbs} implemented in Java, for tests and benchmarks without an
 * RDMA device. Part of {@code jrsocket-testkit}, never of the drop-in jar.
 *
 * <p>{@link org.jrsocket.verbs.loopback.LoopbackProvider} is where to begin: it makes devices, serves addresses, counts
 * what lives and takes {@linkplain org.jrsocket.verbs.loopback.Faults faults}. Both ends of every connection live in
 * the same provider; several providers in one JVM know nothing of each other.
 *
 * <p>It obeys the rules of reliably connected queue pairs, strictly: where devices differ, it behaves as the least
 * forgiving one. Queue slots come back when a completion is polled, keys for local and remote use differ, fields of
 * failed completions hold nonsense, and what would crash or hang a process on a real device (use after destroy, two
 * threads posting to one queue, a completion queue that overflows) is kept as a violation, see
 * {@link org.jrsocket.verbs.loopback.LoopbackProvider#assertClean()}.
 *
 * <p>Locks, in the order in which they may be taken: the connection manager's, then the one that the two queue pairs of
 * a connection share, then a completion queue's, then a completion channel's or the wire's. None is held while
 * something blocks. Posting, polling, arming and taking events allocate nothing.
 */
package org.jrsocket.verbs.loopback;
