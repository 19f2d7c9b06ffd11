/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.stream;

import java.net.ConnectException;

/** Thrown when no connection came about over RDMA. Its reason decides whether TCP is worth a try. */
public class RdmaConnectException extends ConnectException {

    private static final long serialVersionUID = 1L;

    /** The reason for the failure. */
    public enum Reason {
        /** No RDMA device serves the route to this address. */
        NO_DEVICE,
        /** The address or the route could not be resolved. */
        UNRESOLVED,
        /** The peer's CM answered: there is no RDMA listener, the listener refused, or it was gone at once. */
        REFUSED,
        /** The peer's rules or devices do not admit this connection over RDMA, or the peer is drained. */
        DENIED,
        /**
         * The peer's listener is there and speaks RDMA, but cannot take one more connection now: its queue is full, or
         * its host lacks something. It is worth trying again soon.
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
        /** This host lacks a resource, such as memory, queue pairs or descriptors, or a call failed here. */
        RESOURCES,
        /** The attempt was cancelled by closing it. */
        CANCELLED
    }

    /** One whose place in the code says nothing. */
    private static final class OutOfMemory extends RdmaConnectException {

        private static final long serialVersionUID = 1L;

        OutOfMemory() {
            super(Reason.RESOURCES, "out of memory", null);
        }

        @Override
        public synchronized Throwable fillInStackTrace() {
            return this;
        }
    }

    private final Reason reason;

    public RdmaConnectException(Reason reason, String message, Throwable cause) {
        super(message);
        this.reason = reason;
        if (cause != null) {
            initCause(cause);
        }
    }

    /** Returns an exception to keep for when there is no memory for another one. */
    public static RdmaConnectException outOfMemory() {
        return new OutOfMemory();
    }

    public Reason reason() {
        return reason;
    }
}
