/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.sim;

import java.util.Arrays;

/**
 * Virtual time, the queue of what happens next, the seed and the trace. A target that wants to do something later asks
 * for an event; the run is the loop that takes events in order of time. An event is one long (time, target, kind), so
 * that nothing is allocated and a tie has one outcome.
 */
final class Simulation {

    /** A receiver of events. */
    interface Target {
        void event(int kind);
    }

    private static final int KIND_BITS = 4;
    private static final int TARGET_BITS = 8;
    private static final int TIME_SHIFT = KIND_BITS + TARGET_BITS;

    final Chance chance = new Chance();
    /** Whether the trace is read: callers check this before they make a text. */
    final boolean tracing;

    private final String[] trace;
    private long traced;

    private long[] heap = new long[64];
    private int size;
    private Target[] targets = new Target[16];
    private int targetCount;
    private long now;
    private long steps;

    /** @param traceLines how many lines of the trace are kept, 0 for none */
    Simulation(int traceLines) {
        this.tracing = traceLines > 0;
        this.trace = new String[traceLines];
    }

    /** Begins anew. */
    void reset(long seed) {
        chance.seed(seed);
        size = 0;
        now = 0;
        steps = 0;
        traced = 0;
        Arrays.fill(targets, 0, targetCount, null);
        targetCount = 0;
    }

    /** @return the number by which {@link #at} knows the target */
    int enter(Target target) {
        if (targetCount == targets.length) {
            targets = Arrays.copyOf(targets, targetCount * 2);
        }
        targets[targetCount] = target;
        return targetCount++;
    }

    long now() {
        return now;
    }

    /** Returns how many events have happened. */
    long steps() {
        return steps;
    }

    /**
     * Gives {@code target} an event of {@code kind}, not before {@code time}. Events cannot be taken back: a target
     * that gets one checks whether it still matters.
     */
    void at(long time, int target, int kind) {
        if (size == heap.length) {
            heap = Arrays.copyOf(heap, size * 2);
        }
        long event = Math.max(time, now) << TIME_SHIFT | (long) target << KIND_BITS | kind;
        int i = size++;
        while (i > 0) {
            int parent = i - 1 >>> 1;
            if (heap[parent] <= event) {
                break;
            }
            heap[i] = heap[parent];
            i = parent;
        }
        heap[i] = event;
    }

    void after(long delay, int target, int kind) {
        at(now + delay, target, kind);
    }

    boolean isIdle() {
        return size == 0;
    }

    /** Returns when the next event is due. */
    long next() {
        return heap[0] >>> TIME_SHIFT;
    }

    /** Lets the next event happen. */
    void step() {
        long event = heap[0];
        long last = heap[--size];
        int i = 0;
        for (int child = 1; child < size; child = 2 * i + 1) {
            if (child + 1 < size && heap[child + 1] < heap[child]) {
                child++;
            }
            if (heap[child] >= last) {
                break;
            }
            heap[i] = heap[child];
            i = child;
        }
        heap[i] = last;
        now = event >>> TIME_SHIFT;
        steps++;
        targets[(int) (event >>> KIND_BITS) & (1 << TARGET_BITS) - 1].event((int) event & (1 << KIND_BITS) - 1);
    }

    /** Adds a line to the trace. Called only while {@link #tracing}. */
    void trace(String line) {
        trace[(int) (traced++ % trace.length)] = now + "\t" + line;
    }

    /** Returns the last lines of the trace. */
    String traceText() {
        StringBuilder text = new StringBuilder();
        long first = Math.max(0, traced - trace.length);
        if (first > 0) {
            text.append("... ").append(first).append(" lines before\n");
        }
        for (long i = first; i < traced; i++) {
            text.append(trace[(int) (i % trace.length)]).append('\n');
        }
        return text.toString();
    }

    SimulationFailure failure(String what) {
        if (tracing) {
            trace("FAILED: " + what);
        }
        return new SimulationFailure(what);
    }
}
