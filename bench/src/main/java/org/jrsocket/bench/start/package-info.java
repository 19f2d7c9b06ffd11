/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
/**
 * What the agent costs a JVM when it starts: time and memory, with the JDK's class data archive, one's own, and none.
 */
package org.jrsocket.bench.start;
