/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.sim;

import java.util.Arrays;

/**
 * One direction of a connection as its applications see it: what was written, what was read, and whether anything may
 * be missing. The byte at each position of the stream is known beforehand, so that a byte that is lost, doubled, moved
 * or old is noticed when it is read.
 */
final class Flow {

    private static final int PERIOD = 65_521; // prime, so that no size of a buffer hides a mistake of its own length
    private static final int LONGEST = 1 << 21;
    private static final byte[] PATTERN = pattern();

    private final Simulation simulation;
    final String name;
    private long written;
    private long read;
    private int shift;
    private boolean unknown;
    /** Whether the writer has ended the stream in good order, after everything that it wrote. */
    boolean finished;
    /** Whether bytes may be missing at the end, because of a reset, a failure, or a reader that is gone. */
    boolean mayLose;
    /** Whether the reader has to be told of a reset, if it reads that far. */
    boolean mustReset;

    Flow(Simulation simulation, String name) {
        this.simulation = simulation;
        this.name = name;
    }

    private static byte[] pattern() {
        Chance chance = new Chance();
        chance.seed(0);
        byte[] bytes = new byte[PERIOD + LONGEST];
        for (int i = 0; i < PERIOD; i++) {
            bytes[i] = (byte) chance.next();
        }
        for (int i = PERIOD; i < bytes.length; i++) {
            bytes[i] = bytes[i - PERIOD];
        }
        return bytes;
    }

    /** @param anything whether any bytes may come, and any number of them */
    void reset(boolean anything) {
        written = 0;
        read = 0;
        shift = simulation.chance.below(PERIOD);
        finished = false;
        mayLose = anything;
        mustReset = false;
        unknown = anything;
    }

    private int at(long position) {
        return (int) ((position + shift) % PERIOD);
    }

    /** Supplies the next bytes to be written, which count as written with {@link #wrote}. */
    void fill(byte[] bytes, int start, int n) {
        System.arraycopy(PATTERN, at(written), bytes, start, n);
    }

    void wrote(int n) {
        written += n;
    }

    long written() {
        return written;
    }

    /** Checks the next bytes that the reader sees. */
    void read(byte[] bytes, int start, int n) {
        if (unknown) {
            read += n;
            return;
        }
        int at = at(read);
        int wrong = Arrays.mismatch(PATTERN, at, at + n, bytes, start, start + n);
        if (wrong >= 0) {
            throw simulation.failure(name + ": byte " + (read + wrong) + " is wrong, of " + n + " read at " + read
                    + ", " + written + " written");
        }
        read += n;
        if (read > written) {
            throw simulation.failure(name + ": " + read + " bytes read of " + written);
        }
    }

    long read() {
        return read;
    }

    /** Called when the reader is told that this is the end. */
    void end() {
        if (mustReset) {
            throw simulation.failure(name + " was reset, and its reader is told that it has ended in good order");
        }
        if (!finished && !mayLose) {
            throw simulation.failure(name + " ends after " + read + " bytes, and its writer has not ended it");
        }
        if (read != written && !mayLose) {
            throw simulation.failure(name + " ends after " + read + " bytes of " + written);
        }
    }
}
