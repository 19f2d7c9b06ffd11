/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
/**
 * Events for the JDK's Flight Recorder: connections opened and closed, fallbacks, stalls.
 * {@link org.jrsocket.jfr.Events} is the entry point. It does nothing, and loads nothing of {@code jdk.jfr}, in a
 * runtime without that module, and next to nothing while no recording runs.
 *
 * <p>May use {@code jdk.jfr}. Knows nothing of the rest of this project. {@code Events} uses the classes of events, and
 * these {@code Stall} and {@code Addresses}; none uses one above it.
 */
package org.jrsocket.jfr;
