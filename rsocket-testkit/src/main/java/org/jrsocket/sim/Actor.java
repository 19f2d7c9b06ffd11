/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.sim;

/**
 * One thread of a program, or something else that acts by itself: one atomic step at each event. Asleep unless somebody
 * has called {@link #wake}.
 */
abstract class Actor implements Simulation.Target {

    final Simulation simulation;
    private int target;
    private int pace;
    private boolean awake;

    Actor(Simulation simulation) {
        this.simulation = simulation;
    }

    /** @param newPace most time, mostly, between its steps */
    void enter(int newPace) {
        target = simulation.enter(this);
        pace = newPace;
        awake = false;
    }

    /** It will make a step. */
    final void wake() {
        if (!awake) {
            awake = true;
            Chance chance = simulation.chance;
            int delay = chance.below(pace + 1);
            simulation.after(chance.oneIn(128) ? delay * 50L : delay, target, 0);
        }
    }

    final void wakeAfter(long delay) {
        awake = true;
        simulation.after(delay, target, 0);
    }

    @Override
    public final void event(int kind) {
        awake = false;
        step();
    }

    abstract void step();
}
