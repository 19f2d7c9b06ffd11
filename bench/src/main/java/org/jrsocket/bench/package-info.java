/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
/**
 * Measurements. {@code lab} puts us beside others in one guest, {@code jmh} has the microbenchmarks on loopback verbs,
 * {@code scale} opens many connections at once, {@code fallback} says what the agent costs where there is no RDMA.
 * {@code scripts/bench} runs them; {@code docs/performance.md} says what came out.
 *
 * <p>May use every module; nothing may use it.
 */
package org.jrsocket.bench;
