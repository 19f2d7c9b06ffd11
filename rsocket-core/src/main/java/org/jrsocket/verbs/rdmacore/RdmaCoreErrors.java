/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.verbs.rdmacore;

import org.jrsocket.os.Errno;
import org.jrsocket.os.ErrnoException;

/** Turns a negative errno of the native code into an exception. */
final class RdmaCoreErrors {

    private RdmaCoreErrors() {}

    /** @return {@code rc} if it is not negative */
    static int check(int rc, String call, Object subject) throws ErrnoException {
        if (rc < 0) {
            throw new ErrnoException(call, String.valueOf(subject), -rc);
        }
        return rc;
    }

    /** Does the same for calls that return an address. */
    static long check(long handle, String call, Object subject) throws ErrnoException {
        if (handle <= 0) {
            throw new ErrnoException(call, String.valueOf(subject), handle == 0 ? Errno.EIO : (int) -handle);
        }
        return handle;
    }
}
