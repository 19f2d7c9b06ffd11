/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
/**
 * The commands {@code ping} and {@code perf} of {@code java -jar rsocket.jar}: what a connection between two hosts
 * uses, and what it gives.
 *
 * <p>A client makes its connections as the agent would, with {@code connect}; it needs no agent itself. The server
 * greets with a line, so that a client recognises it without having sent anything to an unknown service. Uses
 * {@code connect}, {@code stream} and HdrHistogram; only the command line uses it.
 */
package org.jrsocket.perf;
