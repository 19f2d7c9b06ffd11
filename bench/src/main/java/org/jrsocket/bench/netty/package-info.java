/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
/**
 * The same messages by Netty and by gRPC, over TCP, under the agent and over the transport of ours: programs that take
 * the commands of {@link org.jrsocket.bench.lab.Client}, for {@code scripts/bench --netty}. They are written as
 * programs of their frameworks are: by handlers and observers, in the event loop.
 */
package org.jrsocket.bench.netty;
