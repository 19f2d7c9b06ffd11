/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.os;

import java.io.IOException;

/** Thrown if a native library cannot be loaded. The message is one line: the reason and the remedy. */
public final class NativeLibraryException extends IOException {

    private static final long serialVersionUID = 1L;
    private final boolean ofPlatform;

    NativeLibraryException(boolean ofPlatform, String message, Throwable cause) {
        super(message, cause);
        this.ofPlatform = ofPlatform;
    }

    /** Returns whether there is none for this system or architecture; otherwise there is one that does not load. */
    public boolean isOfPlatform() {
        return ofPlatform;
    }
}
