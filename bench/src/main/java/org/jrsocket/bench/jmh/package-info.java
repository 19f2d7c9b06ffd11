/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
/**
 * JMH benchmarks of the stream on loopback verbs, which move bytes within the JVM: what our own code costs per
 * operation, above all that it allocates nothing. They say nothing about RDMA.
 */
package org.jrsocket.bench.jmh;
