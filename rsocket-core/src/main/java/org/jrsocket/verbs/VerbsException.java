/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.verbs;

import java.io.IOException;

/** A verbs or CM call that failed: which call, on what, and errno. */
public final class VerbsException extends IOException {

    private static final long serialVersionUID = 1L;
    private final String call;
    private final int errno;

    /**
     * @param call the C function, for example {@code rdma_bind_addr}
     * @param subject address or device the call was about, may be empty
     * @param errno positive
     */
    public VerbsException(String call, String subject, int errno) {
        super(call + (subject.isEmpty() ? "" : " (" + subject + ")") + ": " + Errno.describe(errno));
        this.call = call;
        this.errno = errno;
    }

    public String call() {
        return call;
    }

    public int errno() {
        return errno;
    }
}
