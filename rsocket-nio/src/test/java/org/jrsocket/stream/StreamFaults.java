/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.stream;

/** What tests of other packages have a stream suffer. */
public final class StreamFaults {

    private StreamFaults() {}

    /**
     * As if the peer had sent what none may send; when this returns the stream is freed, though nobody has closed it.
     */
    public static void breakProtocol(RdmaStream stream) throws InterruptedException {
        stream.core().enter();
        stream.core().effects.violated("nonsense, says a test");
        stream.core().exit();
        while (!stream.isFreed()) {
            Thread.sleep(1);
        }
    }
}
