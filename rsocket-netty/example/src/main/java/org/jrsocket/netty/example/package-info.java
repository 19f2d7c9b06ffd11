/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
/** A server and a client on the Netty transport, as short as they can be. */
package org.jrsocket.netty.example;
