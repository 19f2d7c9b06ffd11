/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.connect;

/** Which transports a connection may use. */
public enum Policy {
    /** RDMA where both ends support it, otherwise TCP. */
    AUTO,
    /** RDMA, or an exception that says why not. */
    RDMA,
    /** Never RDMA. */
    TCP
}
