/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.sim;

/**
 * Counts how often the things that a simulation is for have happened in it: a run in which nothing is ever lent shows
 * nothing about lending.
 */
final class Tally {

    long runs;
    long longLived;
    long steps;
    long bytesRead;
    long writesLent;
    long writesNow;
    long readsLent;
    long quietTimes;
    long grantsGivenUp;
    long ends;
    long resets;
    long broken;
    long violations;
    long lackedReceives;

    void add(Tally other) {
        runs += other.runs;
        longLived += other.longLived;
        steps += other.steps;
        bytesRead += other.bytesRead;
        writesLent += other.writesLent;
        writesNow += other.writesNow;
        readsLent += other.readsLent;
        quietTimes += other.quietTimes;
        grantsGivenUp += other.grantsGivenUp;
        ends += other.ends;
        resets += other.resets;
        broken += other.broken;
        violations += other.violations;
        lackedReceives += other.lackedReceives;
    }

    @Override
    public String toString() {
        return steps + " steps in " + runs + " runs (" + longLived + " of them long): " + bytesRead
                + " bytes read, " + writesNow + " writes at once, lent " + writesLent + " writes and " + readsLent
                + " reads, " + quietTimes + " quiet times, grants given up " + grantsGivenUp + " times, " + ends
                + " ends, " + resets
                + " resets, " + broken
                + " failures of a device or the link, " + violations + " violations, " + lackedReceives
                + " messages without a receive";
    }
}
