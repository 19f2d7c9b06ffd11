/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.stream;

/** Observes one stream on behalf of something that waits for many at once. */
@FunctionalInterface
public interface StreamObserver {

    /**
     * Called when something may have become ready (data, room, the end, a failure, a close), by the thread that made it
     * so. Must not block, and must not call the stream except for {@code isReadable} and {@code isWritable}.
     */
    void onProgress();
}
