/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.sim;

/** A completion queue that is armed as in verbs: armed once, it raises one event, for a completion that comes later. */
final class SimCompletions {

    /** The receiver of events. */
    interface Channel {
        void raised();
    }

    /** The kinds of completions. */
    static final byte SENT = 0;

    static final byte RECEIVED = 1;

    private final Simulation simulation;
    private final String name;
    private byte[] kind = new byte[64];
    private boolean[] good = new boolean[64];
    private boolean[] hasImm = new boolean[64];
    private int[] imm = new int[64];
    private int[] length = new int[64];
    private int[] retires = new int[64]; // of a send queue: all requests before this number
    private int head; // both run on; the low bits are the place
    private int tail;
    private int capacity;
    private boolean armed;
    private Channel channel;

    SimCompletions(Simulation simulation, String name) {
        this.simulation = simulation;
        this.name = name;
    }

    void reset(int newCapacity, Channel newChannel) {
        int size = Integer.highestOneBit(Math.max(1, newCapacity - 1)) * 2;
        if (kind.length < size) {
            kind = new byte[size];
            good = new boolean[size];
            hasImm = new boolean[size];
            imm = new int[size];
            length = new int[size];
            retires = new int[size];
        }
        head = 0;
        tail = 0;
        capacity = newCapacity;
        armed = false;
        channel = newChannel;
    }

    void push(byte newKind, boolean isGood, boolean withImm, int newImm, int newLength, int retiresTo) {
        if (tail - head == capacity) {
            throw simulation.failure(name + " overruns: " + capacity + " completions are not taken");
        }
        int at = tail++ & kind.length - 1;
        kind[at] = newKind;
        good[at] = isGood;
        hasImm[at] = withImm;
        imm[at] = newImm;
        length[at] = newLength;
        retires[at] = retiresTo;
        if (armed) {
            armed = false;
            if (simulation.tracing) {
                simulation.trace(name + " raises an event");
            }
            channel.raised();
        }
    }

    void arm() {
        armed = true;
    }

    boolean isArmed() {
        return armed;
    }

    int size() {
        return tail - head;
    }

    // ---- the oldest one, and then the others by index ----

    byte kind(int index) {
        return kind[at(index)];
    }

    boolean isGood(int index) {
        return good[at(index)];
    }

    boolean hasImm(int index) {
        return hasImm[at(index)];
    }

    int imm(int index) {
        return imm[at(index)];
    }

    int length(int index) {
        return length[at(index)];
    }

    int retires(int index) {
        return retires[at(index)];
    }

    private int at(int index) {
        return head + index & kind.length - 1;
    }

    /** Takes the oldest {@code count} completions, of which the accessors then know nothing. */
    void take(int count) {
        head += count;
    }
}
