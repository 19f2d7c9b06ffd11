/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.verbs;

import java.io.IOException;

/** Thrown if verbs cannot be used in this process at all. The message is one line: the reason and the remedy. */
public final class VerbsUnavailableException extends IOException {

    private static final long serialVersionUID = 1L;

    /** Kinds of reasons, which decide whether to look again later. */
    public enum Reason {
        /** Not Linux, or no library for this architecture in the jar, which will not change while the process runs. */
        PLATFORM,
        /**
         * librdmacm, libibverbs, the JNI library, the driver's library or the service itself does not load or start, or
         * no device works.
         */
        LIBRARY,
        /** No RDMA device on this host, or one that cannot be used: it is iWARP, or has the node GUID 0. */
        NO_DEVICE,
        /** The device files cannot be opened. */
        PERMISSION,
        /** RLIMIT_MEMLOCK does not allow even one connection's memory. */
        MEMLOCK,
        /** The program has ended its use of RDMA. */
        CLOSED
    }

    private final Reason reason;

    public VerbsUnavailableException(Reason reason, String message, Throwable cause) {
        super(message, cause);
        this.reason = reason;
    }

    public Reason reason() {
        return reason;
    }
}
