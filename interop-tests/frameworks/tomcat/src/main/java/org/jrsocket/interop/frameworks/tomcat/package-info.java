/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
/** A server on Tomcat, over NIO channels or over asynchronous ones. */
package org.jrsocket.interop.frameworks.tomcat;
