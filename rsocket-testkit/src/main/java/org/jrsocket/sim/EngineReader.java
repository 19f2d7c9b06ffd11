/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.sim;

import org.jrsocket.protocol.Inbound;
import org.jrsocket.protocol.Slab;

/** An application's reader on the engine: it copies, or borrows and gives back in any order. */
final class EngineReader extends Actor {

    private static final int MOST_BORROWED = 8;

    private final EngineEnd end;
    private final Actor giver;
    private final Slab[] slab = new Slab[MOST_BORROWED];
    private final long[] address = new long[MOST_BORROWED];
    private final int[] length = new int[MOST_BORROWED];
    private final int[] owed = new int[MOST_BORROWED]; // all of it, except with a mistake
    private int borrowed;
    private int copied; // and not consumed yet: others go on in the meantime
    private boolean asleep;
    private boolean finished;

    EngineReader(EngineEnd end) {
        super(end.simulation);
        this.end = end;
        this.giver = new Actor(simulation) {
            @Override
            void step() {
                giveBack();
            }
        };
    }

    void begin() {
        enter(end.plan.pace);
        giver.enter(end.plan.holdLent);
        borrowed = 0;
        copied = 0;
        asleep = false;
        finished = false;
    }

    boolean isAsleep() {
        return asleep;
    }

    boolean isFinished() {
        return finished;
    }

    int borrowed() {
        return borrowed;
    }

    void arouse() {
        if (asleep) {
            asleep = false;
            wake();
        }
    }

    @Override
    void step() {
        if (finished) {
            return;
        }
        Inbound in = end.connection.in();
        if (end.closed) {
            finished = true;
            giver.wake();
            return;
        }
        if (!end.mayRead()) {
            return; // not in a call: heard() says when
        }
        if (copied > 0) {
            consume();
        } else if (in.readable() > 0) {
            take(in);
        } else if (end.peerEnded || end.failed || end.wasReset) {
            finish();
            return;
        } else {
            asleep = true;
            end.armAndPoll(false);
            if (asleep && in.readable() > 0) {
                throw simulation.failure(end.name + " has bytes to be read, and no effect told its reader");
            }
        }
        if (!asleep) {
            wake();
        }
    }

    private void take(Inbound in) {
        Chance chance = simulation.chance;
        if (chance.oneIn(16)) {
            end.act(end.connection.growUnread()); // it asks what is available
        }
        int n = Math.min(in.piece(), chance.spread(1, end.plan.mostRead));
        if (n < 1) {
            throw simulation.failure(
                    end.name + " has " + in.readable() + " bytes to be read, and none in the first piece");
        }
        long from = in.address();
        SimMemory.Region region = end.memory.region(from, n);
        end.in.read(region.bytes, region.at(from), n);
        end.peer().heard();
        if (simulation.tracing) {
            simulation.trace(
                    end.name + " reads " + n + " bytes at " + SimMemory.text(from) + ", in all " + end.in.read());
        }
        boolean lends = end.plan.borrowOneIn > 0
                && chance.oneIn(end.plan.borrowOneIn)
                && borrowed < MOST_BORROWED
                && mayLend(in);
        end.memory.move(from, n, SimMemory.WRITTEN, lends ? SimMemory.LENT : SimMemory.FREE, "reading");
        if (lends) {
            end.world.tally.readsLent++;
            slab[borrowed] = in.lend(n);
            address[borrowed] = from;
            length[borrowed++] = n;
            if (!end.plan.hoards) {
                giver.wake();
            }
            owed[borrowed - 1] = n - end.world.mistakes.lent(end, slab[borrowed - 1], n);
            end.act(end.connection.lent());
        } else {
            copied = n;
            if (!chance.oneIn(4)) {
                consume();
            }
        }
    }

    private boolean mayLend(Inbound in) {
        if (!in.mayLend()) {
            end.act(end.connection.growToLend());
        }
        return in.mayLend();
    }

    private void consume() {
        int n = copied;
        copied = 0;
        end.act(end.connection.consume(n));
        end.leave();
    }

    private void giveBack() {
        if (borrowed == 0) {
            return;
        }
        int i = simulation.chance.below(borrowed);
        if (simulation.tracing) {
            simulation.trace(end.name + " gives back " + length[i] + " bytes at " + SimMemory.text(address[i]));
        }
        end.memory.move(address[i], length[i], SimMemory.LENT, SimMemory.FREE, "giving back");
        Slab from = slab[i];
        int n = owed[i];
        borrowed--;
        slab[i] = slab[borrowed];
        address[i] = address[borrowed];
        length[i] = length[borrowed];
        owed[i] = owed[borrowed];
        if (end.isDestroyed()) {
            end.tryFree();
        } else if (n > 0) {
            end.act(end.connection.giveBack(from, n));
            end.leave();
        }
        if (borrowed > 0) {
            giver.wake();
        }
    }

    private void finish() {
        finished = true;
        giver.wake();
        end.peer().heard();
        boolean broken = end.wasReset || end.failed && !end.peerEnded;
        if (simulation.tracing) {
            simulation.trace(end.name + (broken ? " is told of a reset" : " comes to the end of the stream"));
        }
        if (broken) {
            end.world.tally.resets++;
            if (!end.in.mayLose) {
                throw simulation.failure(end.name + " is told of a reset, and nobody has made one");
            }
            end.wantClose();
            return;
        }
        end.world.tally.ends++;
        end.in.end();
        if (end.writer.isFinished()) {
            end.wantClose();
        }
    }

    @Override
    public String toString() {
        return (finished ? "finished" : asleep ? "asleep" : "awake") + " after " + end.in.read()
                + (borrowed > 0 ? ", borrowed " + borrowed : "");
    }
}
