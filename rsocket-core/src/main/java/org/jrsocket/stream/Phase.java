/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.stream;

/** How far the end of a stream has come. Each phase includes what the ones before it say. */
enum Phase {
    IN_USE,
    /** No reader or writer may come in any more: after a close, or because the peer broke the protocol. */
    RELEASING,
    /** Nothing native may be used any more. */
    FREED,
    /** There is no queue pair, and nothing is lent to it. */
    SENDS_OVER,
    /** Nothing of the stream is left. */
    GONE;

    boolean isReleasing() {
        return compareTo(RELEASING) >= 0;
    }

    boolean isFreed() {
        return compareTo(FREED) >= 0;
    }

    boolean areSendsOver() {
        return compareTo(SENDS_OVER) >= 0;
    }

    boolean isGone() {
        return this == GONE;
    }
}
