/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
/**
 * Tests of the finished {@code rsocket.jar}, from outside: separate JVMs with and without the agent, on this machine
 * and on an RDMA device.
 *
 * <p>{@link org.jrsocket.interop.JvmProcess} starts the JVMs, {@link org.jrsocket.interop.Site} says where the tests
 * run, and {@link org.jrsocket.interop.Traffic} what carried the bytes. Classes named {@code ...LabTest} also run in
 * {@code scripts/roce-lab}, by their tag {@code lab}.
 */
package org.jrsocket.interop;
