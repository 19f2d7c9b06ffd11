/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.netty;

/** What {@link RdmaMetrics} has counted at a moment, or since one. */
record Counted(long sentCopied, long sentLent, long receivedCopied, long receivedLent) {

    static Counted now() {
        RdmaMetrics metrics = Rdma.metrics();
        return new Counted(
                metrics.sentCopiedBytes(),
                metrics.sentLentBytes(),
                metrics.receivedCopiedBytes(),
                metrics.receivedLentBytes());
    }

    static Counted since(Counted before) {
        Counted now = now();
        return new Counted(
                now.sentCopied - before.sentCopied,
                now.sentLent - before.sentLent,
                now.receivedCopied - before.receivedCopied,
                now.receivedLent - before.receivedLent);
    }

    long sent() {
        return sentCopied + sentLent;
    }

    long received() {
        return receivedCopied + receivedLent;
    }
}
