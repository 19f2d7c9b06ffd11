/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.sim;

/** Runs seeds, and shows a failure so that it can be read and run again. */
final class Simulate {

    static final int TRACE_LINES = Integer.getInteger("lines", 120);

    private Simulate() {
    }

    /** Runs one world after the other until so many steps are made; returns how many. A failure is that of the first seed that fails, with its trace. */
    static long steps(World.Kind kind, Mistakes mistakes, long firstSeed, long steps) {
        World world = new World(kind, mistakes, 0);
        long done = 0;
        for (long seed = firstSeed; done < steps; seed++) {
            done += one(world, kind, mistakes, seed);
        }
        return done;
    }

    static long one(World world, World.Kind kind, Mistakes mistakes, long seed) {
        try {
            return world.run(seed);
        } catch (SimulationFailure failure) {
            throw explained(kind, mistakes, seed, TRACE_LINES, failure);
        }
    }

    /** The same run again, with its trace. */
    static SimulationFailure explained(World.Kind kind, Mistakes mistakes, long seed, int lines, SimulationFailure first) {
        World world = new World(kind, mistakes, lines);
        try {
            world.run(seed);
        } catch (SimulationFailure failure) {
            SimulationFailure explained = new SimulationFailure(failure.getMessage() + "\nseed " + seed + ", again with: scripts/simulate --world "
                    + kind.name().toLowerCase(java.util.Locale.ROOT) + " --seed " + seed + "\n" + world.simulation.traceText());
            explained.initCause(failure);
            return explained;
        }
        SimulationFailure failure = new SimulationFailure("seed " + seed + " fails, and not when it is run again: a run is not its seed alone");
        failure.initCause(first);
        return failure;
    }

    static Mistakes mistake(String name) {
        return switch (name) {
            case "tail" -> new Mistakes.StrandedTail();
            case "credit" -> new Mistakes.CreditTooMany();
            case "lent" -> new Mistakes.GrantedWhileLent();
            default -> new Mistakes.AcknowledgedEarly();
        };
    }

    public static void main(String[] arguments) {
        World.Kind kind = World.Kind.valueOf(arguments[0].toUpperCase(java.util.Locale.ROOT));
        long start = System.nanoTime();
        long steps = steps(kind, arguments.length > 3 ? mistake(arguments[3]) : new Mistakes(), Long.parseLong(arguments[1]), Long.parseLong(arguments[2]));
        System.out.printf("%d steps, %.0f a second%n", steps, steps * 1e9 / (System.nanoTime() - start));
    }
}
