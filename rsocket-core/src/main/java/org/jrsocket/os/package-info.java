/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
/**
 * Operating system facilities that the JDK does not offer: memory that can be registered, epoll, eventfd, waiting for
 * descriptors, errno; and the loading of our native libraries. Works on every Linux, with or without rdma-core. May use
 * the JDK and nothing else of this project.
 */
package org.jrsocket.os;
