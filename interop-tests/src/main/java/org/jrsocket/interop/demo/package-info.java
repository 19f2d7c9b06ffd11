/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
/**
 * What {@code scripts/demo} runs beside other people's programs. Uses the JDK only, and nothing of jrsocket: that is
 * the point.
 */
package org.jrsocket.interop.demo;
