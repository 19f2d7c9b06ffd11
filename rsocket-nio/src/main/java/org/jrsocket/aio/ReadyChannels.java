/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.aio;

import java.io.IOException;
import java.nio.channels.CancelledKeyException;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

/** The channels that a selector has found ready, and that no thread has taken yet. To keep one takes no memory. */
final class ReadyChannels {

    // Used by the thread that selects.
    private final List<Readiness> found = new ArrayList<>();
    private final Consumer<SelectionKey> collector = this::collect;
    private int fresh; // how many of those found, the first ones, are not among the ready ones yet

    // Guarded by a lock of the owner.
    private Readiness first; // the oldest; null if there is none
    private Readiness last;

    /** Selects. Whatever comes of it, {@link #addFound} has to follow. */
    void find(Selector selector, boolean now) throws IOException {
        if (now) {
            selector.selectNow(collector);
        } else {
            Thread.interrupted(); // while interrupted, this selection and all that follow would return at once
            selector.select(collector);
        }
        for (int i = 0; i < found.size(); i++) {
            Readiness each = found.get(i);
            if (each.found()) {
                found.set(fresh++, each);
            }
        }
    }

    private void collect(SelectionKey key) {
        Readiness channel = (Readiness) key.attachment();
        try {
            channel.seen = key.readyOps();
            found.add(channel);
        } catch (CancelledKeyException e) {
            // closed in the meantime: no operation waits any more
        } catch (OutOfMemoryError e) {
            // the next selection finds it again
        }
    }

    /**
     * Adds what the calling thread has found. If it was interrupted by a failure, the next selection finds the others
     * again. Called with the lock held.
     */
    void addFound() {
        for (int i = 0; i < fresh; i++) {
            add(found.get(i));
        }
        fresh = 0;
        found.clear();
    }

    private void add(Readiness channel) {
        if (last == null) {
            first = channel;
        } else {
            last.next = channel;
        }
        last = channel;
    }

    /** Called with the lock held. */
    boolean isEmpty() {
        return first == null;
    }

    /** Takes the oldest; returns null if there is none. Called with the lock held. */
    Readiness take() {
        Readiness taken = first;
        if (taken != null) {
            first = taken.next;
            taken.next = null;
            if (first == null) {
                last = null;
            }
        }
        return taken;
    }
}
