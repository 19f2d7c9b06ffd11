/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
/**
 * Many asynchronous channels in one group: {@link org.jrsocket.bench.aio.ManyChannels} starts pairs of processes
 * ({@link org.jrsocket.bench.aio.EchoChannels} and {@link org.jrsocket.bench.aio.PingChannels}), has all channels carry
 * data, and tells what they cost while none does.
 */
package org.jrsocket.bench.aio;
