/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.nio;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * A queue of keys that may have become ready: any thread adds, the selecting thread takes all at once. Allocates
 * nothing. A key is in it at most once.
 */
final class UpdateQueue {

    private static final VarHandle HEAD;
    private static final VarHandle QUEUED;

    static {
        try {
            MethodHandles.Lookup lookup = MethodHandles.lookup();
            HEAD = lookup.findVarHandle(UpdateQueue.class, "head", RSelectionKey.class);
            QUEUED = lookup.findVarHandle(RSelectionKey.class, "queued", boolean.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private volatile RSelectionKey head;

    /** Adds a key. Returns whether it was not in the queue before. */
    boolean add(RSelectionKey key) {
        if (key.queued || !QUEUED.compareAndSet(key, false, true)) {
            return false;
        }
        RSelectionKey first;
        do {
            first = head;
            key.nextInQueue = first;
        } while (!HEAD.compareAndSet(this, first, key));
        return true;
    }

    boolean isEmpty() {
        return head == null;
    }

    /** Takes all keys; walk them with {@link #after}. */
    RSelectionKey takeAll() {
        return head == null ? null : (RSelectionKey) HEAD.getAndSet(this, null);
    }

    /** Returns the next key taken. {@code key} may be added again from now on, so look at it only after this. */
    static RSelectionKey after(RSelectionKey key) {
        RSelectionKey next = key.nextInQueue;
        key.nextInQueue = null;
        key.queued = false; // volatile: the look that follows sees what others did before they found it true
        return next;
    }
}
