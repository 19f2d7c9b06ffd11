/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
/**
 * Which transport a connection between two hosts gets, and what finding out costs, in {@code scripts/roce-lab hosts}:
 * the tests and the clients on host b, the servers on host a.
 *
 * <p>{@link org.jrsocket.interop.hosts.FarHost} runs on host a and does what the tests tell it, over TCP and without
 * the agent; {@link org.jrsocket.interop.hosts.Server}, {@link org.jrsocket.interop.hosts.WebServer}, {@link
 * org.jrsocket.interop.hosts.Client}, {@link org.jrsocket.interop.hosts.TimedClient} and {@link
 * org.jrsocket.interop.hosts.Caller} are the programs, with the agent or without.
 */
package org.jrsocket.interop.hosts;
