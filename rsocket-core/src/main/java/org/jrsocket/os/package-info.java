/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
/**
 * What the operating system has and the JDK does not show: memory that can be registered, epoll, eventfd, waiting for
 * descriptors, errno; and how our native libraries are loaded. Works on every Linux, with or without rdma-core. May use
 * the JDK and nothing else of this project.
 */
package org.jrsocket.os;
