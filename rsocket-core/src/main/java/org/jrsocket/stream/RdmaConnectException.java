/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.stream;

import java.net.ConnectException;

/** Thrown when no connection came about over RDMA. Its reason decides whether TCP is worth a try. */
public final class RdmaConnectException extends ConnectException {

    private static final long serialVersionUID = 1L;

    /** The reason for the failure. */
    public enum Reason {
        /** No RDMA device serves the route to this address. */
        NO_DEVICE,
        /** The address or the route could not be resolved. */
        UNRESOLVED,
        /** The peer's CM answered: there is no RDMA listener, or the listener refused. */
        REFUSED,
        /** The peer's rules admit no connections over RDMA from here. */
        DENIED,
        /**
         * The peer's listener is there and speaks RDMA, but has no room for one more connection now: it is worth trying
         * again soon.
         */
        BUSY,
        /** The peer's listener is there, but its host can make no connection until somebody changes something there. */
        UNABLE,
        /** The peer did not answer the CM within its own retries. */
        UNREACHABLE,
        /** The caller's time ran out. */
        TIMEOUT,
        /** The peer answered, but not with rsocket v1. */
        PROTOCOL,
        /** This host lacks a resource: memory, queue pairs, descriptors. */
        RESOURCES,
        /** The attempt was cancelled by closing it. */
        CANCELLED
    }

    private final Reason reason;

    public RdmaConnectException(Reason reason, String message, Throwable cause) {
        super(message);
        this.reason = reason;
        if (cause != null) {
            initCause(cause);
        }
    }

    public Reason reason() {
        return reason;
    }
}
