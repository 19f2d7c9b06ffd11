/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
/** A file server and its clients, as a user of Netty's HTTP codec writes them. */
package org.jrsocket.interop.frameworks.netty;
