/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
/**
 * What the agent costs where there is no RDMA: the same {@code java.net} program over TCP in JVMs with the agent and
 * without, in turn. On this machine, not in the lab.
 */
package org.jrsocket.bench.fallback;
