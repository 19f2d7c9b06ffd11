/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.os;

import java.io.IOException;

/** A native library cannot be loaded. The message is one line: the reason and the remedy. */
public final class NativeLibraryException extends IOException {

    private static final long serialVersionUID = 1L;
    private final boolean ofPlatform;

    NativeLibraryException(boolean ofPlatform, String message, Throwable cause) {
        super(message, cause);
        this.ofPlatform = ofPlatform;
    }

    /** Whether there is none for this system or architecture; else there is one, and it does not load. */
    public boolean isOfPlatform() {
        return ofPlatform;
    }
}
