/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
/**
 * Java programs that C programs talk to: {@link org.jrsocket.interop.c.RstreamPeer}, which stands in for rdma-core's
 * {@code rstream}, and {@link org.jrsocket.interop.c.CommandedEnd}, one end of any number of connections that does what
 * a test tells it. Both run over the stream API and, unchanged, over plain {@code java.net}, for the agent to carry.
 */
package org.jrsocket.interop.c;
