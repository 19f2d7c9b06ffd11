/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
/** A ZooKeeper server as a program that embeds one starts it, and a client. */
package org.jrsocket.interop.frameworks.zookeeper;
