/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.protocol;

/**
 * Our grant table, into which the peer writes. It is the peer's to change at any time: a driver reads each value once,
 * the length first, and clears the entry before the next byte goes out.
 */
public interface GrantTable {

    /** As the peer wrote it: negative for what is no length. */
    int length(int entry);

    long address(int entry);

    int key(int entry);

    /** Marks the entry as taken. */
    void clear(int entry);
}
