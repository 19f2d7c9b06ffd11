/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.verbs.loopback;

/** The outcome of connecting to an address. */
public enum Reachability {
    /** A device of the provider has it. */
    SERVED,
    /** ADDR_ERROR, ENODEV: no RDMA device leads there. The default for all addresses. */
    NO_DEVICE,
    /** ADDR_ERROR, ETIMEDOUT, after the time given to the call: no one answers ARP. */
    UNRESOLVED,
    /** ROUTE_ERROR, ETIMEDOUT, at once. */
    NO_ROUTE,
    /** The host is there but runs no RDMA: UNREACHABLE, ETIMEDOUT, after {@link LoopbackConfig#cmTimeoutMillis}. */
    SILENT
}
