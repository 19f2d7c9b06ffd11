/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
/** Many connections at once: whether they all work, and what they cost. */
package org.jrsocket.bench.scale;
