/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
/**
 * Helpers for tests of programs with jrsocket, in addition to the devices of {@link org.jrsocket.verbs.loopback}.
 */
package org.jrsocket.testkit;
