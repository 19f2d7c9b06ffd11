/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.sim;

import org.jrsocket.wire.ConnData;

/**
 * One run: two ends, what lies between them, and what goes wrong. A run is over when nothing will happen any more; by
 * then everything has to have come to its end. A world is made once and used for many seeds, because a run is short.
 */
final class World implements Simulation.Target {

    /** Who talks to whom. */
    enum Kind {
        OURS,
        C,
        HOSTILE
    }

    private static final int OPEN = 0; // and 1: the number of the end is added
    private static final int DISCONNECTED = 2;
    private static final int DEVICE = 4;
    private static final int KEEPALIVE = 6;
    private static final int CUT = 8;

    /** One run in so many is long-lived: each of those takes a million steps. */
    private static final int LONG_LIVED = 8000;

    /** More steps than any run takes that makes progress. */
    private static final long MOST_STEPS = 6_000_000;

    final Simulation simulation;
    final Link link;
    final Mistakes mistakes;
    final Tally tally = new Tally();
    final End[] ends = new End[2];
    final Kind kind;
    private final Flow[] flows;
    private int target;
    /** Whether every byte of receive memory is watched. */
    boolean checked;
    /** Whether buffers are of some 10 KiB, not of some 100 bytes. */
    boolean large;
    /** Whether little is sent and much is granted, so that an end that is quiet has something to give up. */
    boolean roomy;
    /** Whether so many messages are sent that every counter on the wire wraps around to 0. */
    boolean longLived;

    private boolean broken;

    World(Kind kind, Mistakes mistakes, int traceLines) {
        this.kind = kind;
        this.mistakes = mistakes;
        this.simulation = new Simulation(traceLines);
        this.link = new Link(simulation);
        this.flows = new Flow[] {new Flow(simulation, "A to B"), new Flow(simulation, "B to A")};
        ends[0] = new EngineEnd(this, "A");
        ends[1] = switch (kind) {
            case OURS -> new EngineEnd(this, "B");
            case C -> new CEnd(this, "B");
            case HOSTILE -> new HostileEnd(this, "B");
        };
        for (int i = 0; i < 2; i++) {
            ends[i].out = flows[i];
            ends[i].in = flows[1 - i];
        }
    }

    /** Makes the whole run of one seed. */
    void run(long seed) {
        simulation.reset(seed);
        try {
            begin();
            while (!simulation.isIdle() && simulation.steps() < MOST_STEPS) {
                simulation.step();
            }
            finish();
            tally.runs++;
            tally.longLived += longLived ? 1 : 0;
            tally.steps += simulation.steps();
        } catch (IllegalStateException
                | IllegalArgumentException
                | IndexOutOfBoundsException
                | NullPointerException
                | java.util.NoSuchElementException e) {
            // What the engine throws for mistakes of its caller: this caller makes none.
            SimulationFailure failure = simulation.failure(e.toString());
            failure.initCause(e);
            throw failure;
        }
    }

    private void begin() {
        Chance chance = simulation.chance;
        target = simulation.enter(this);
        checked = kind != Kind.HOSTILE;
        large = chance.oneIn(64);
        roomy = chance.oneIn(12);
        longLived = !large && !roomy && kind != Kind.HOSTILE && chance.oneIn(LONG_LIVED);
        broken = false;
        link.draw();
        int bytes = large ? chance.spread(1000, 400_000) : chance.spread(1, 8000);
        int talker = chance.below(6); // or neither
        ConnData[] data = new ConnData[2];
        for (int i = 0; i < 2; i++) {
            flows[i].reset(kind == Kind.HOSTILE);
            ends[i].plan.draw(chance, bytes);
            if (longLived) {
                ends[i].plan.makeLong(i == 0 ? 150_000 : 70_000);
            }
            ends[i].plan.talksFirst = talker == i && kind != Kind.HOSTILE;
            data[i] = ends[i].make(ends[1 - i]);
        }
        for (int i = 0; i < 2; i++) {
            ends[i].queuePair.rules.first(data[1 - i]);
            ends[i].connected(data[1 - i]);
        }
        // The end that connected may send before the other end knows that the connection is established.
        int first = chance.below(2);
        simulation.after(0, target, OPEN + first);
        simulation.after(link.tellsAfter(), target, OPEN + 1 - first);
        if (!longLived && chance.oneIn(6)) {
            int when = chance.spread(100, 200_000);
            simulation.after(when, target, chance.oneIn(2) ? CUT : DEVICE + chance.below(2));
        }
    }

    @Override
    public void event(int what) {
        switch (what) {
            case OPEN, OPEN + 1 -> ends[what - OPEN].open();
            case DISCONNECTED, DISCONNECTED + 1 -> {
                if (simulation.tracing) {
                    simulation.trace(ends[what - DISCONNECTED].name + " is told that its peer has disconnected");
                }
                ends[what - DISCONNECTED].queuePair.noticeAll(); // a kernel is slower than a device
                ends[what - DISCONNECTED].disconnected();
            }
            case DEVICE, DEVICE + 1 -> {
                breakAll();
                if (simulation.tracing) {
                    simulation.trace(ends[what - DEVICE].name + "'s device fails");
                }
                ends[what - DEVICE].queuePair.toError();
                ends[what - DEVICE].deviceFailed();
            }
            case CUT -> {
                breakAll();
                link.cut();
                // No one reports this: an end that waits has to ask.
                simulation.after(50_000, target, KEEPALIVE);
                simulation.after(50_000, target, KEEPALIVE + 1);
            }
            default -> ends[what - KEEPALIVE].probe();
        }
    }

    private void breakAll() {
        broken = true;
        tally.broken++;
        flows[0].mayLose = true;
        flows[1].mayLose = true;
        ends[0].heard();
        ends[1].heard();
    }

    /** Lets the connection manager tell the other end, once, that {@code end}'s queue pair is destroyed. */
    void tellDisconnected(End end, boolean mayBeLost) {
        if (!link.isCut() && !(mayBeLost && simulation.chance.oneIn(16))) {
            simulation.after(link.tellsAfter(), target, DISCONNECTED + (ends[0] == end ? 1 : 0));
        }
    }

    private void finish() {
        tally.bytesRead += flows[0].read() + flows[1].read();
        tally.grantsGivenUp = ends[0].queuePair.rules.releases + ends[1].queuePair.rules.releases;
        tally.lackedReceives += ends[0].queuePair.lackedReceives;
        for (End end : ends) {
            if (!end.done && !end.mayHang()) {
                throw simulation.failure((simulation.isIdle()
                                ? "nothing will happen any more"
                                : "no end after " + simulation.steps() + " steps")
                        + ": " + ends[0].describe() + "\n  " + ends[1].describe());
            }
        }
    }

    boolean isBroken() {
        return broken;
    }
}
