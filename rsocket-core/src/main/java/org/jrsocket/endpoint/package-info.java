/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
/**
 * What a connection has of its device: the queues and the registered memory.
 *
 * <p>{@link org.jrsocket.endpoint.Endpoint} owns all that is native of one connection: the CM id, the queue pair, and a
 * {@code Bundle} of completion queues and memory, which the {@link org.jrsocket.endpoint.BundlePool} keeps for later
 * connections. {@link org.jrsocket.endpoint.VerbsQueues} is the queue pair as the protocol uses it, and {@link
 * org.jrsocket.endpoint.Slabs} the memory that the connection adds, within the {@link
 * org.jrsocket.endpoint.MemoryBudget} of the process. {@link org.jrsocket.endpoint.OpenDevices} tells when a device is
 * lost or one of its queues has failed.
 *
 * <p>May use {@code threads} for the reapers and the service thread, {@code protocol}, whose interfaces to queues and
 * memory it implements, {@code wire}, {@code verbs}, {@code os} and slf4j. Knows nothing of streams: which lock guards
 * what they share is said in their package. It is public for that package. Programs cannot rely on it: it may change
 * with any version.
 */
package org.jrsocket.endpoint;
