/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.verbs;

/**
 * Completion queues that one thread waits for together. Takes nothing from them: that is for {@link Cq#poll}. Not
 * thread safe. A queue must be removed before it is destroyed.
 */
public class CqSet {

    private final Cq[] queues;
    private final int[] found;
    private int size;

    /** @param capacity queues at most */
    protected CqSet(int capacity) {
        queues = new Cq[capacity];
        found = new int[capacity];
    }

    public final int size() {
        return size;
    }

    public final boolean isFull() {
        return size == queues.length;
    }

    /** Adds a queue; it has the number {@link #size} - 1 then. */
    public final void add(Cq queue) {
        put(size, queue);
        size++;
    }

    /** Removes a queue; the last one gets its number. */
    public final void remove(int index) {
        size--;
        put(index, queues[size]);
        put(size, null);
    }

    /** @param queue null for none */
    protected void put(int index, Cq queue) {
        queues[index] = queue;
    }

    /**
     * Waits until at least one queue has something, or {@code nanos} are over: 0 only looks. One JNI crossing on a real
     * device, no allocation.
     *
     * @return how many have something, whose numbers {@link #found} tells
     */
    public int spin(long nanos) {
        int n = look();
        long start = nanos > 0 && n == 0 ? System.nanoTime() : 0;
        while (n == 0 && nanos > 0 && System.nanoTime() - start < nanos) {
            Thread.onSpinWait();
            n = look();
        }
        return n;
    }

    private int look() {
        int n = 0;
        for (int i = 0; i < size; i++) {
            if (queues[i].spin(0)) {
                found[n++] = i;
            }
        }
        return n;
    }

    /** The number of the i-th queue that the last {@link #spin} found something in. */
    public int found(int i) {
        return found[i];
    }

    /** Frees what is native of it; the queues are not its own. */
    public void free() {
        // nothing native here
    }
}
