/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
/** A server on Jetty, and a client on the JDK's HttpClient. */
package org.jrsocket.interop.frameworks.jetty;
