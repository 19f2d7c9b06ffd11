/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
/**
 * Frameworks as they are published, under the agent: a server and a client, each in a JVM of its own. In the lab the
 * RDMA device must have delivered their data.
 *
 * <p>The programs are in {@code interop-tests/frameworks}, a module and a class path for each framework;
 * {@code mvn package} builds them.
 */
package org.jrsocket.interop.frameworks;
