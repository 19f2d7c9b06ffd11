/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.sim;

/**
 * The link between two queue pairs, as times: when a request reaches the other machine, when its receiver sees it, and
 * when its sender learns of it. Either the seed decides them, or given numbers do. Times are nanoseconds, though with
 * the seed nothing depends on that.
 */
final class Link {

    private final Simulation simulation;
    private boolean drawn;
    private int travel; // drawn: the most that each part takes, as a rule
    private int notice;
    private int acknowledge;

    private double nanosPerByte; // given
    private long latency;
    private long perRequest;

    /** Whether nothing comes through any more. */
    private boolean cut;

    Link(Simulation simulation) {
        this.simulation = simulation;
    }

    /** Lets the seed decide, now and at each request. */
    void draw() {
        Chance chance = simulation.chance;
        drawn = true;
        cut = false;
        travel = chance.spread(1, 2000);
        notice = chance.spread(1, 500);
        acknowledge = chance.spread(1, 2000);
    }

    /**
     * @param gigabits per second
     * @param roundTripNanos of the shortest message, without what the ends add
     * @param requestNanos that a device takes for each request
     */
    void give(double gigabits, long roundTripNanos, long requestNanos) {
        drawn = false;
        cut = false;
        nanosPerByte = 8 / gigabits;
        latency = roundTripNanos / 2;
        perRequest = requestNanos;
    }

    private long some(int most) {
        Chance chance = simulation.chance;
        int delay = chance.below(most + 1);
        return chance.oneIn(64) ? delay * 20L : delay;
    }

    /** Returns when the device, which is sending until {@code busyUntil}, has sent {@code bytes} more. */
    long sentAt(long busyUntil, int bytes) {
        return drawn
                ? simulation.now()
                : Math.max(busyUntil, simulation.now()) + perRequest + (long) (bytes * nanosPerByte);
    }

    /** Returns when a request is written to the other machine's memory, if {@link #sentAt} was {@code sent}. */
    long arrivesAt(long sent) {
        return drawn ? sent + some(travel) : sent + latency;
    }

    long noticedAt() {
        return drawn ? simulation.now() + some(notice) : simulation.now();
    }

    long acknowledgedAt() {
        return drawn ? simulation.now() + some(acknowledge) : simulation.now() + latency;
    }

    /** Returns how long a device tries in vain. */
    long givesUpAfter() {
        return 20_000L + simulation.chance.below(20_000);
    }

    /** Returns how long a message of the connection manager takes. */
    long tellsAfter() {
        return drawn ? some(travel + 200) : latency;
    }

    boolean isDrawn() {
        return drawn;
    }

    void cut() {
        if (simulation.tracing) {
            simulation.trace("the link is cut");
        }
        cut = true;
    }

    boolean isCut() {
        return cut;
    }
}
