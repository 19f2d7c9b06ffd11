/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.stream;

/** Lets a test do something while a stream's lock is held, as by another thread that is inside for long. */
public final class StreamLock {

    private StreamLock() {}

    public static void whileHeld(RdmaStream stream, Runnable action) {
        stream.core().enter();
        try {
            action.run();
        } finally {
            stream.core().exit();
        }
    }
}
