/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.protocol;

/**
 * Our grant table, into which the peer writes. The peer can change it at any time: each value is read once, the length
 * first, and the entry is cleared before the next byte is sent.
 */
public interface GrantTable {

    /** Returns the length as the peer wrote it: negative if it is not a length. */
    int length(int entry);

    long address(int entry);

    int key(int entry);

    /** Marks the entry as taken. */
    void clear(int entry);
}
