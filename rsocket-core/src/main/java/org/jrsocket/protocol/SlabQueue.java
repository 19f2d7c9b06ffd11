/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.protocol;

/**
 * Slabs, the oldest first. They are linked to each other, so adding one takes no memory; the JDK's array deques lose
 * all that they have where memory is lacking to grow. A slab is in one queue at a time.
 */
final class SlabQueue {

    private Slab first; // null if there is none
    private Slab last;

    boolean isEmpty() {
        return first == null;
    }

    boolean hasSeveral() {
        return first != last;
    }

    /** Returns the oldest, or null. */
    Slab peek() {
        return first;
    }

    /** Returns the youngest, or null. */
    Slab peekLast() {
        return last;
    }

    void add(Slab slab) {
        slab.next = null; // a connection that has ended leaves it in a queue
        if (last == null) {
            first = slab;
        } else {
            last.next = slab;
        }
        last = slab;
    }

    /** Takes the oldest, or returns null. */
    Slab poll() {
        Slab slab = first;
        if (slab != null) {
            first = slab.next;
            slab.next = null;
            if (first == null) {
                last = null;
            }
        }
        return slab;
    }

    /** Removes a slab, if it is here. */
    void remove(Slab slab) {
        Slab before = null;
        Slab each = first;
        while (each != null && each != slab) {
            before = each;
            each = each.next;
        }
        if (each == null) {
            return;
        }
        if (before == null) {
            first = slab.next;
        } else {
            before.next = slab.next;
        }
        if (last == slab) {
            last = before;
        }
    }
}
