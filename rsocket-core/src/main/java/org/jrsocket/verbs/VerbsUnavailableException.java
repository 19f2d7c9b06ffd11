/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.verbs;

import java.io.IOException;

/** Verbs cannot be used in this process at all. The message is one line: the reason and the remedy. */
public final class VerbsUnavailableException extends IOException {

    private static final long serialVersionUID = 1L;

    /** Classes of reasons, for counters and for tests. */
    public enum Reason {
        /** Not Linux, or no library for this architecture in the jar. */
        PLATFORM,
        /** librdmacm or libibverbs, or the JNI library itself, does not load. */
        LIBRARY,
        /** No RDMA device on this host. */
        NO_DEVICE,
        /** The device files cannot be opened. */
        PERMISSION,
        /** RLIMIT_MEMLOCK does not allow even one connection's memory. */
        MEMLOCK,
        /** The program has ended its RDMA. */
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
