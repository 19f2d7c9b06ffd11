/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.verbs.loopback;

/** What becomes of connecting to an address. */
public enum Reachability {
    /** A device of the provider has it. */
    SERVED,
    /** ADDR_ERROR, ENODEV: no RDMA device leads there. What every address is that nobody mentioned. */
    NO_DEVICE,
    /** ADDR_ERROR, ETIMEDOUT, after the time given to the call: nobody answers ARP. */
    UNRESOLVED,
    /** ROUTE_ERROR, ETIMEDOUT, at once. */
    NO_ROUTE,
    /** The host is there but runs no RDMA: UNREACHABLE, ETIMEDOUT, after {@link LoopbackConfig#cmTimeoutMillis}. */
    SILENT
}
