/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
/**
 * Our end against C programs, in the lab: rdma-core's own examples, and ordinary programs under
 * {@code librspreload.so}.
 *
 * <p>The Java end is a JVM of its own, {@link org.jrsocket.interop.c.JavaEnd}, over the stream API or over
 * {@code java.net} under the agent; a C program is a {@link org.jrsocket.interop.c.Program};
 * {@link org.jrsocket.interop.c.Lab} knows the device and counts what it delivers.
 */
package org.jrsocket.interop.c;
