/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.sim;

import java.util.Locale;

/** Runs seeds, and shows a failure so that it can be read and run again. The program behind scripts/simulate. */
final class Simulate {

    private static final int TRACE_LINES = 120;

    private Simulate() {}

    /**
     * Runs one seed after the other until so many steps are made. Throws the failure of the first seed that fails, with
     * its trace.
     */
    static Tally steps(World.Kind kind, long firstSeed, long steps) {
        World world = new World(kind, new Mistakes(), 0);
        for (long seed = firstSeed; world.tally.steps < steps; seed++) {
            one(world, seed, TRACE_LINES);
        }
        return world.tally;
    }

    private static void one(World world, long seed, int traceLines) {
        try {
            world.run(seed);
        } catch (SimulationFailure failure) {
            throw explained(world.kind, seed, traceLines, failure);
        }
    }

    /** Returns the failure of the same run, run again with a trace. */
    private static SimulationFailure explained(World.Kind kind, long seed, int lines, SimulationFailure first) {
        World world = new World(kind, new Mistakes(), lines);
        SimulationFailure result;
        try {
            world.run(seed);
            result = new SimulationFailure(
                    "seed " + seed + " fails, and not when it is run again: a run is not its seed alone");
            result.initCause(first);
        } catch (SimulationFailure failure) {
            result = new SimulationFailure(failure.getMessage() + "\nAgain with: scripts/simulate --world " + name(kind)
                    + " --seed " + seed
                    + "\ntime\twhat happened\n" + world.simulation.traceText());
            result.initCause(failure);
        }
        return result;
    }

    /**
     * Runs seeds with a mistake in the engine's surroundings until one of them finds it. Returns the steps that this
     * took, or -1 if it was not found.
     */
    static long stepsToFind(World.Kind kind, Mistakes mistake, long mostSteps) {
        World world = new World(kind, mistake, 0);
        for (long seed = 1; world.tally.steps < mostSteps; seed++) {
            try {
                world.run(seed);
            } catch (SimulationFailure found) {
                return world.tally.steps + world.simulation.steps();
            }
        }
        return -1;
    }

    private static String name(World.Kind kind) {
        return kind.name().toLowerCase(Locale.ROOT);
    }

    // ---- the program ----

    /** Takes {@code [--world ours|c|hostile] [--seed S] [--hours H] [--lines N]}. */
    public static void main(String[] arguments) {
        World.Kind[] kinds = World.Kind.values();
        Long seed = null;
        double hours = 0;
        int lines = TRACE_LINES;
        for (int i = 0; i + 1 < arguments.length; i += 2) {
            String value = arguments[i + 1];
            switch (arguments[i]) {
                case "--world" -> kinds = new World.Kind[] {World.Kind.valueOf(value.toUpperCase(Locale.ROOT))};
                case "--seed" -> seed = Long.parseLong(value);
                case "--hours" -> hours = Double.parseDouble(value);
                case "--lines" -> lines = Integer.parseInt(value);
                default -> throw new IllegalArgumentException("no option " + arguments[i]);
            }
        }
        try {
            if (seed != null && hours == 0) {
                replay(kinds, seed, lines);
            } else {
                search(
                        kinds,
                        seed == null ? System.nanoTime() & 0xffff_ffff_ffffL : seed,
                        hours == 0 ? 1 / 60.0 : hours,
                        lines);
            }
        } catch (SimulationFailure failure) {
            System.out.println("FAILED: " + failure.getMessage());
            failure.getCause().printStackTrace(System.out);
            System.exit(1);
        }
    }

    private static void replay(World.Kind[] kinds, long seed, int lines) {
        for (World.Kind kind : kinds) {
            World world = new World(kind, new Mistakes(), lines);
            try {
                world.run(seed);
            } catch (SimulationFailure failure) {
                throw explained(kind, seed, lines, failure);
            }
            System.out.print(world.simulation.traceText());
            System.out.println(name(kind) + " " + seed + ": " + world.tally);
        }
    }

    private static void search(World.Kind[] kinds, long firstSeed, double hours, int lines) {
        World[] worlds = new World[kinds.length];
        for (int i = 0; i < kinds.length; i++) {
            worlds[i] = new World(kinds[i], new Mistakes(), 0);
        }
        System.out.println("seeds from " + firstSeed + " on");
        long start = System.nanoTime();
        long end = start + (long) (hours * 3.6e12);
        long nextLine = start + 60_000_000_000L;
        for (long seed = firstSeed; System.nanoTime() < end; seed++) {
            for (World world : worlds) {
                one(world, seed, lines);
            }
            if (System.nanoTime() > nextLine) {
                nextLine += 600_000_000_000L;
                report(worlds, start);
            }
        }
        report(worlds, start);
    }

    private static void report(World[] worlds, long start) {
        for (World world : worlds) {
            System.out.println(name(world.kind) + ": " + world.tally);
        }
        System.out.println("after " + (System.nanoTime() - start) / 1_000_000_000L + " s");
    }
}
