/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
/**
 * The side-by-side measurement of {@code scripts/bench}, inside one lab guest:
 * {@link org.jrsocket.bench.lab.SideBySide} starts pairs of processes ({@link org.jrsocket.bench.lab.Server} and
 * {@link org.jrsocket.bench.lab.Client} over one {@link org.jrsocket.bench.lab.Carrier} each), C programs among them,
 * and asks them in turn. Only the driver knows targets and tables; only {@code StreamCarrier} knows the stream API.
 */
package org.jrsocket.bench.lab;
