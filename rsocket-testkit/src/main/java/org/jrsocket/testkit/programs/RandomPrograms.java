/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.testkit.programs;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;

/**
 * Programs of random calls, each of which is run on a reference and on what is compared with it. A program is made from
 * its seed alone. A program whose outcomes differ is run again with more patience, since a call may only have been
 * late; if they still differ, calls that do not matter are left out, and what remains is the failure's text.
 *
 * <p>Each call has its own source of chance, so that it does the same when others are left out.
 *
 * @param <W> what calls use
 */
public final class RandomPrograms<W extends World> {

    /** One kind of call. What it returns and what it throws are compared. */
    @FunctionalInterface
    public interface Step<W> {
        /** Calls, and returns what came of it. */
        String run(W world, Random chance) throws Exception;
    }

    /** Opens the sockets of one run. */
    @FunctionalInterface
    public interface Opening<W> {
        /** Opens new sockets, for one run. */
        W open() throws Exception;
    }

    private record Kind<W>(String name, Step<W> step) {}

    private record Call<W>(Kind<W> kind, long seed) {}

    private record Outcomes(List<String> expected, List<String> actual) {
        boolean differ() {
            return !expected.equals(actual);
        }
    }

    /** The patience of each attempt: a machine that is busy for a moment costs some patience, but not all of it. */
    private static final long[] PATIENCE_MILLIS = {4, 40, 400};

    private static final long SHORTENING_MILLIS = 60;
    private static final int ATTEMPTS_TO_SHORTEN = 200;
    /** Each attempt takes seconds where calls wait in vain: a long failure says more than that of a time limit. */
    private static final long MOST_NANOS_TO_SHORTEN = TimeUnit.SECONDS.toNanos(60);

    private final List<Kind<W>> kinds = new ArrayList<>();
    private final Opening<W> reference;
    private final Opening<W> compared;

    /**
     * Makes programs without calls; see {@link #with}.
     *
     * @param reference opens the sockets that are right
     * @param compared opens those that have to do the same
     */
    public RandomPrograms(Opening<W> reference, Opening<W> compared) {
        this.reference = reference;
        this.compared = compared;
    }

    /** Adds a kind of call; the larger its weight, the more often programs have it. */
    public RandomPrograms<W> with(int weight, String name, Step<W> step) {
        Kind<W> kind = new Kind<>(name, step);
        for (int i = 0; i < weight; i++) {
            kinds.add(kind);
        }
        return this;
    }

    /**
     * Runs the program of this seed on both.
     *
     * @throws AssertionError if outcomes differ, with the program and both outcomes of each of its calls
     */
    public void compare(long seed, int calls) throws Exception {
        List<Call<W>> program = new ArrayList<>();
        Random chance = new Random(seed);
        for (int i = 0; i < calls; i++) {
            program.add(new Call<>(kinds.get(chance.nextInt(kinds.size())), chance.nextLong()));
        }
        Outcomes outcomes = null;
        for (long patience : PATIENCE_MILLIS) {
            outcomes = run(program, patience);
            if (!outcomes.differ()) {
                return;
            }
        }
        throw new AssertionError("seed " + seed + ":\n" + text(shortened(program, outcomes)));
    }

    private Outcomes run(List<Call<W>> program, long patience) throws Exception {
        return new Outcomes(run(reference, program, patience), run(compared, program, patience));
    }

    /** Returns the outcomes of the shortest program found that still has a difference. */
    private Outcomes shortened(List<Call<W>> program, Outcomes differing) throws Exception {
        List<Call<W>> shortest = program;
        Outcomes outcomes = differing;
        int attempts = 0;
        long start = System.nanoTime();
        for (int length = program.size() / 2; length > 0; length /= 2) {
            for (int from = 0; from < shortest.size() && attempts < ATTEMPTS_TO_SHORTEN; attempts++) {
                if (System.nanoTime() - start > MOST_NANOS_TO_SHORTEN) {
                    return outcomes;
                }
                List<Call<W>> shorter = new ArrayList<>(shortest);
                shorter.subList(from, Math.min(from + length, shorter.size())).clear();
                Outcomes tried = run(shorter, SHORTENING_MILLIS);
                if (tried.differ()) {
                    shortest = shorter;
                    outcomes = tried;
                } else {
                    from += length;
                }
            }
        }
        return outcomes;
    }

    private static String text(Outcomes outcomes) {
        StringBuilder text = new StringBuilder();
        for (int i = 0; i < outcomes.expected().size(); i++) {
            String expected = outcomes.expected().get(i);
            String actual = outcomes.actual().get(i);
            boolean same = expected.equals(actual);
            text.append(same ? "  " : "! ").append(expected).append('\n');
            if (!same) {
                text.append("! but ").append(actual).append('\n');
            }
        }
        return text.toString();
    }

    private static <W extends World> List<String> run(Opening<W> opening, List<Call<W>> program, long patience)
            throws Exception {
        List<String> outcomes = new ArrayList<>();
        W world = opening.open();
        try {
            world.patience(patience);
            for (Call<W> call : program) {
                Random chance = new Random(call.seed());
                String outcome = World.outcomeOf(() -> call.kind().step().run(world, chance));
                outcomes.add(call.kind().name() + world.note() + ": " + outcome + world.settled());
            }
        } finally {
            outcomes.add("in the end:" + world.ended());
        }
        return outcomes;
    }
}
