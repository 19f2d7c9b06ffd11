/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
/**
 * What many connections in one selector cost the few that are active, and what they cost while none is:
 * {@link org.jrsocket.bench.selector.ManyKeys} starts pairs of processes ({@link org.jrsocket.bench.selector.EchoKeys}
 * and {@link org.jrsocket.bench.selector.PingKeys}) and asks them in turn.
 */
package org.jrsocket.bench.selector;
