/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.stream;

/** Hears of one stream, on behalf of somebody who waits for many at once. */
@FunctionalInterface
public interface StreamObserver {

    /**
     * Something may have become ready: data, room, the end, a failure, a close. Called by the thread that made it so.
     * Must not block, and must not call the stream except for {@link RdmaStream#isReadable} and
     * {@link RdmaStream#isWritable}.
     */
    void onProgress();
}
