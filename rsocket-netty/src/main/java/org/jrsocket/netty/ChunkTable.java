/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.netty;

import java.util.Arrays;
import java.util.concurrent.atomic.AtomicReferenceArray;

/**
 * Chunks by address. A lookup, which there is for each send, takes no lock and makes no garbage, and a removal needs no
 * memory. An addition copies everything, which takes less time than the system takes to map a chunk: each is large, so
 * they are few. Safe for use by many threads.
 *
 * @param <T> a chunk, of which nothing is used here
 */
final class ChunkTable<T> {

    /** The addresses in ascending order, and their chunks, each of which is null once it is removed. */
    private record Content<T>(long[] addresses, AtomicReferenceArray<T> chunks) {}

    private volatile Content<T> content = new Content<>(new long[0], new AtomicReferenceArray<>(0));

    /** Returns the chunk that begins at an address, or the nearest before it; null if none does or it is removed. */
    T floor(long address) {
        Content<T> now = content;
        int found = Arrays.binarySearch(now.addresses, address);
        int index = found >= 0 ? found : -found - 2;
        return index >= 0 ? now.chunks.get(index) : null;
    }

    /** Adds a chunk, at whose address there must be none. Leaves out what is removed. */
    synchronized void add(long address, T chunk) {
        Content<T> before = content;
        int kept = 0;
        int below = 0;
        for (int i = 0; i < before.addresses.length; i++) {
            if (before.chunks.get(i) != null) {
                kept++;
                below += before.addresses[i] < address ? 1 : 0;
            }
        }
        long[] addresses = new long[kept + 1];
        AtomicReferenceArray<T> chunks = new AtomicReferenceArray<>(kept + 1);
        int to = 0;
        for (int i = 0; i < before.addresses.length; i++) {
            T each = before.chunks.get(i);
            if (each != null) {
                to += to == below ? 1 : 0;
                addresses[to] = before.addresses[i];
                chunks.set(to++, each);
            }
        }
        addresses[below] = address;
        chunks.set(below, chunk);
        content = new Content<>(addresses, chunks);
    }

    /** Removes the chunk that begins at an address; there must be one. */
    synchronized void remove(long address) {
        Content<T> now = content;
        now.chunks.set(Arrays.binarySearch(now.addresses, address), null);
    }
}
