/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
/** Netty's suite on this transport, and what the transport has beyond Netty's. */
package org.jrsocket.netty;
