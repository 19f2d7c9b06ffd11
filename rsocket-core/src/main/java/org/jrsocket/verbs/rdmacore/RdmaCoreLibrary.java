/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.verbs.rdmacore;

import org.jrsocket.os.NativeLibrary;
import org.jrsocket.os.NativeLibraryException;
import org.jrsocket.verbs.VerbsUnavailableException;
import org.jrsocket.verbs.VerbsUnavailableException.Reason;

/** The JNI library that is linked with librdmacm and libibverbs: see {@link Native}. */
final class RdmaCoreLibrary {

    private static final NativeLibrary LIBRARY = new NativeLibrary(
            "libjrsocket",
            "install librdmacm1 and ibverbs-providers (Debian, Ubuntu) or librdmacm and libibverbs (RHEL, Fedora), "
                    + "31 or later");

    private RdmaCoreLibrary() {}

    /** Loads the library and what it builds on, if that has not happened. */
    static void require() throws VerbsUnavailableException {
        try {
            NativeLibrary.OS.require();
            LIBRARY.require();
        } catch (NativeLibraryException e) {
            throw new VerbsUnavailableException(e.isOfPlatform() ? Reason.PLATFORM : Reason.LIBRARY, e.getMessage(), e);
        }
    }
}
