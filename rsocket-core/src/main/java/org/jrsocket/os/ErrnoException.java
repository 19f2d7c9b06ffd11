/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.os;

import java.io.IOException;

/** Thrown if a call of the system, of verbs or of the CM fails; says which one, on what, and errno. */
public final class ErrnoException extends IOException {

    private static final long serialVersionUID = 1L;
    private final int errno;

    /**
     * @param call the C function, for example {@code rdma_bind_addr}
     * @param subject the address or device that the call was about, may be empty
     * @param errno positive
     */
    public ErrnoException(String call, String subject, int errno) {
        super(call + (subject.isEmpty() ? "" : " (" + subject + ")") + ": " + Errno.describe(errno));
        this.errno = errno;
    }

    public int errno() {
        return errno;
    }
}
