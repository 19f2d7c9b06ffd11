/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.sim;

/**
 * One thread of a program, or something else that acts by itself: it makes one atomic step at each event. It is asleep
 * unless {@link #wake} has been called.
 */
abstract class Actor implements Simulation.Target {

    final Simulation simulation;
    private int target;
    private int pace;
    private boolean awake;

    Actor(Simulation simulation) {
        this.simulation = simulation;
    }

    /** @param newPace the most time, as a rule, between its steps */
    void enter(int newPace) {
        target = simulation.enter(this);
        pace = newPace;
        awake = false;
    }

    /** Lets the actor make a step. */
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
