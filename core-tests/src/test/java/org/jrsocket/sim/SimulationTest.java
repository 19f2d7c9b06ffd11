/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.sim;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

/**
 * Runs of the simulator: 150,000 steps, or as many as the property {@code jrsocket.sim.steps} says. The seeds
 * are always the same ones, so that a build that fails fails again; scripts/simulate takes others.
 */
class SimulationTest {

    private static final long STEPS = Long.getLong("jrsocket.sim.steps", 150_000);

    @Test
    void shouldHoldBetweenTwoOfOurs() {
        Tally tally = run(World.Kind.OURS, STEPS / 2);
        assertTrue(
                tally.writesLent > 0
                        && tally.writesNow > 0
                        && tally.readsLent > 0
                        && tally.quietTimes > 0
                        && tally.ends > 0
                        && tally.resets > 0
                        && tally.broken > 0,
                tally::toString);
        assertEquals(0, tally.lackedReceives);
        assertEquals(0, tally.violations);
    }

    @Test
    void shouldHoldWithAPeerThatIsC() {
        Tally tally = run(World.Kind.C, STEPS * 3 / 10);
        assertTrue(tally.ends > 0 && tally.broken > 0, tally::toString);
        assertEquals(0, tally.violations);
    }

    @Test
    void shouldHoldWithAPeerThatKeepsNoRules() {
        Tally tally = run(World.Kind.HOSTILE, STEPS / 5);
        assertTrue(tally.violations > 0 && tally.resets > 0, tally::toString);
    }

    private static Tally run(World.Kind kind, long steps) {
        Tally tally = Simulate.steps(kind, 1, steps);
        System.out.println("simulated " + kind + ": " + tally);
        assertTrue(tally.steps >= steps);
        return tally;
    }

    @Test
    void shouldRunTheSameSeedInTheSameWay() {
        for (World.Kind kind : World.Kind.values()) {
            for (long seed = 1; seed <= 20; seed++) {
                assertEquals(trace(kind, seed, 1), trace(kind, seed, 3), () -> kind + " is not its seed alone");
            }
        }
    }

    /** The trace of a seed, in a world that has run others before. */
    private static String trace(World.Kind kind, long seed, int before) {
        World world = new World(kind, new Mistakes(), 10_000);
        for (long other = 1000; other < 1000 + before; other++) {
            world.run(other);
        }
        world.run(seed);
        return world.simulation.traceText();
    }
}
