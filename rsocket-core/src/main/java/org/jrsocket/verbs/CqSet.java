/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.verbs;

/**
 * A set of completion queues that one thread waits for together. Takes nothing from them, which is left to
 * {@link Cq#poll}. Not thread safe. A queue must be removed before it is destroyed.
 */
public class CqSet {

    private final Cq[] queues;
    private final int[] found;
    private int size;

    /** @param capacity how many queues it can have */
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

    /** Adds a queue, which then has the number {@link #size} - 1. */
    public final void add(Cq queue) {
        put(size, queue);
        size++;
    }

    /** Removes a queue; the last queue gets its number. */
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
     * Waits until at least one queue has something or {@code nanos} have passed; 0 only looks. One JNI crossing on a
     * real device, no allocation.
     *
     * @return how many queues have something; {@link #found} returns their numbers
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

    /** Returns the number of the i-th queue in which the last {@link #spin} found something. */
    public int found(int i) {
        return found[i];
    }

    /** Frees its native memory; the queues do not belong to it. */
    public void free() {
        // nothing native here
    }
}
