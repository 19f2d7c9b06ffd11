/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.protocol;

/**
 * The slots of a send queue. A reliable connection completes in order, so one completion retires its own request and
 * all requests before it that asked for none. What a completion stands for is kept in a list of marks, first in first
 * out.
 *
 * <p>No thread waits in vain: a full queue always holds a request that asked for a completion, and so does a queue that
 * is merely {@linkplain #isBusy busy}.
 */
final class SendQueue {

    private final int slots;
    private final int busy;
    private final int signalEvery;

    private int outstanding;
    private int unsignaled; // slots after the last mark
    private final int[] markSlots;
    private final long[] markOffset;
    private final int[] markGrants;
    private int head;
    private int marks;

    /**
     * Creates an empty queue.
     *
     * @param slots slots of the device's send queue, at least 8
     * @param busy slots in use from which on small writes should wait and go out together
     */
    SendQueue(int slots, int busy) {
        if (slots < 8) {
            throw new IllegalArgumentException("a send queue of " + slots + " slots");
        }
        this.slots = slots;
        this.busy = Math.min(busy, slots / 2);
        this.signalEvery = this.busy / 2; // so at most a quarter of the slots
        this.markSlots = new int[slots];
        this.markOffset = new long[slots];
        this.markGrants = new int[slots];
    }

    /** Returns whether {@code needed} requests fit and leave {@code keep} slots. */
    boolean fits(int needed, int keep) {
        return outstanding + needed + keep <= slots;
    }

    boolean isBusy() {
        return outstanding >= busy;
    }

    int outstanding() {
        return outstanding;
    }

    /** Returns whether a completion will come. */
    boolean awaitsCompletion() {
        return marks > 0;
    }

    /** Returns whether the next request, of {@code needed} slots, should ask for a completion. */
    boolean wantsSignal(int needed) {
        return unsignaled + needed >= signalEvery;
    }

    /**
     * Records that a request was built.
     *
     * @param offset the stream offset behind its last byte
     * @param grants grants built so far
     */
    void posted(int needed, long offset, int grants, boolean signaled) {
        if (outstanding + needed > slots) {
            throw new IllegalStateException(
                    needed + " requests with " + outstanding + " of " + slots + " slots in use");
        }
        outstanding += needed;
        unsignaled += needed;
        if (signaled) {
            int at = wrapped(head + marks);
            markSlots[at] = unsignaled;
            markOffset[at] = offset;
            markGrants[at] = grants;
            marks++;
            unsignaled = 0;
        }
    }

    /** Returns how many grants {@link #completed} will report as acknowledged. */
    int nextGrants() {
        return markGrants[head];
    }

    /**
     * Handles the completion of the oldest request that asked for one. Returns the stream offset that this
     * acknowledges.
     */
    long completed() {
        if (marks == 0) {
            throw new IllegalStateException("a completion that no request asked for");
        }
        long offset = markOffset[head];
        outstanding -= markSlots[head];
        head = wrapped(head + 1);
        marks--;
        return offset;
    }

    /** Wraps an index without a division, which takes as long as everything else here. */
    private int wrapped(int index) {
        return index >= slots ? index - slots : index;
    }
}
