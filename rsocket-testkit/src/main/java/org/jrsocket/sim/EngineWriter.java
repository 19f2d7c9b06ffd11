/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.sim;

import java.util.Arrays;
import org.jrsocket.protocol.SendMemory;
import org.jrsocket.protocol.Slab;

/**
 * An application's writer on the engine: it copies, or lends memory of its own, which it uses for something else as
 * soon as it may.
 */
final class EngineWriter extends Actor {

    private static final int MOST_LENT = 8;

    private final EngineEnd end;
    private final SimMemory.Region[] lent = new SimMemory.Region[MOST_LENT];
    private final int[] lentAt = new int[MOST_LENT];
    private final int[] lentLength = new int[MOST_LENT];
    private final long[] lentUpTo = new long[MOST_LENT];
    private int lentHead;
    private int lentCount;
    private long left;
    private int registering; // bytes of the slab that it adds to its memory, and others go on in the meantime
    private int inCall; // bytes of the write call that it is in
    private boolean reserved; // copies, and others go on in the meantime
    private long reservedAt;
    private int reservedLength;
    private boolean asleep;
    private boolean finished;

    EngineWriter(EngineEnd end) {
        super(end.simulation);
        this.end = end;
    }

    void begin() {
        enter(end.plan.pace);
        left = end.plan.bytes;
        inCall = 0;
        registering = 0;
        reserved = false;
        asleep = false;
        finished = false;
        lentHead = 0;
        lentCount = 0;
    }

    boolean isAsleep() {
        return asleep;
    }

    boolean isCopying() {
        return reserved;
    }

    boolean isFinished() {
        return finished;
    }

    /** Wakes the writer, because what it waited for may have come. */
    void arouse() {
        takeBack(end.world.mistakes.acknowledged(end));
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
        SendMemory memory = end.connection.sendMemory();
        if (end.isOver()) {
            if (reserved) {
                reserved = false;
                end.connection.wrote(0);
            }
            end.out.mayLose |= !end.closed;
            finish(false);
            return;
        }
        if (reserved) {
            copy();
        } else if (inCall > 0) {
            reserve(memory);
        } else if (left > 0) {
            begin(simulation.chance);
        } else {
            finish(true);
            return;
        }
        if (!asleep) {
            wake();
        }
    }

    private void begin(Chance chance) {
        int n = (int) Math.min(left, chance.spread(1, end.plan.mostWrite));
        if (end.plan.lendOneIn > 0 && chance.oneIn(end.plan.lendOneIn) && lentCount < MOST_LENT) {
            lend(n);
        } else if (end.mayWriteNow(n)) {
            writeNow(n);
        } else {
            inCall = n;
        }
    }

    private void writeNow(int n) {
        end.world.tally.writesNow++;
        if (simulation.tracing) {
            simulation.trace(end.name + " writes " + n + " bytes at once, behind " + end.out.written());
        }
        left -= n;
        if (end.isInline(n)) {
            writeInline(n);
        } else {
            long at = end.connection.sendMemory().next();
            SimMemory.Region region = end.memory.region(at, n);
            end.out.fill(region.bytes, region.at(at), n);
            end.out.wrote(n);
            end.writeCopied(n);
        }
        end.leave();
    }

    /** Writes from memory that is used for something else as soon as the call returns. */
    private void writeInline(int n) {
        SimMemory.Region region = end.memory.register(n);
        end.out.fill(region.bytes, 0, n);
        end.out.wrote(n);
        end.writeInline(region.base, n);
        Arrays.fill(region.bytes, (byte) 0xdd);
        end.memory.deregister(region);
    }

    private void lend(int n) {
        end.world.tally.writesLent++;
        // The next part of memory that the application has registered, or new memory.
        int last = (lentHead + lentCount + MOST_LENT - 1) % MOST_LENT;
        int start = lentCount == 0 ? 0 : lentAt[last] + lentLength[last];
        SimMemory.Region region = lentCount > 0 && start + n <= lent[last].length ? lent[last] : null;
        if (region == null) {
            region = end.memory.register(n * simulation.chance.between(1, 4));
            start = 0;
        }
        end.out.fill(region.bytes, start, n);
        end.out.wrote(n);
        left -= n;
        end.connection.out().write(region.base + start, n, region.localKey(), true);
        int at = (lentHead + lentCount++) % MOST_LENT;
        lent[at] = region;
        lentAt[at] = start;
        lentLength[at] = n;
        lentUpTo[at] = end.connection.out().written();
        if (simulation.tracing) {
            simulation.trace(end.name + " lends " + n + " bytes, to be acknowledged at " + lentUpTo[at]);
        }
        end.flush();
        end.leave();
    }

    private void takeBack(long acknowledged) {
        while (lentCount > 0 && lentUpTo[lentHead] <= acknowledged) {
            takeBackFirst();
        }
    }

    private void takeBackFirst() {
        SimMemory.Region region = lent[lentHead];
        Arrays.fill(region.bytes, lentAt[lentHead], lentAt[lentHead] + lentLength[lentHead], (byte) 0xdd);
        lentHead = (lentHead + 1) % MOST_LENT;
        lentCount--;
        if (lentCount == 0 || lent[lentHead] != region) {
            end.memory.deregister(region);
        }
    }

    /** Takes all lent memory back, because the queue pair is gone. */
    void abandon() {
        while (lentCount > 0) {
            takeBackFirst();
        }
    }

    private void reserve(SendMemory memory) {
        if (registering > 0) {
            Slab slab = end.slabs.obtain(registering, 1, false);
            registering = 0;
            if (slab != null) {
                end.connection.addSendMemory(slab);
            }
        } else if (memory.wanted() > 0 && simulation.chance.oneIn(4)) {
            registering = memory.wanted();
            return;
        }
        if (end.connection.writeRoom() > 0) {
            reservedAt = memory.reserve();
            reservedLength = memory.room();
            reserved = true;
            if (!simulation.chance.oneIn(4)) {
                copy();
            }
            return;
        }
        asleep = true; // shown before the last look
        end.armAndPoll(true);
        if (asleep && memory.room() > 0) {
            throw simulation.failure(end.name + " has room to write, and no effect told its writer");
        }
    }

    private void copy() {
        int n = Math.min(inCall, reservedLength);
        SimMemory.Region region = end.memory.region(reservedAt, n);
        end.out.fill(region.bytes, region.at(reservedAt), n);
        end.out.wrote(n);
        reserved = false;
        end.connection.wrote(n);
        left -= n;
        inCall -= n;
        if (simulation.tracing) {
            simulation.trace(end.name + " writes " + n + " bytes, in all " + end.out.written());
        }
        end.flush();
        if (inCall == 0) {
            end.leave();
        }
    }

    private void finish(boolean inOrder) {
        finished = true;
        if (inOrder && end.plan.shutsDown) {
            if (simulation.tracing) {
                simulation.trace(end.name + " shuts its output down");
            }
            end.out.finished = true;
            end.connection.out().shutdown();
            end.flush();
            end.leave();
        }
        if (end.plan.close == Plan.Close.AFTER_WRITING || end.reader.isFinished()) {
            end.wantClose();
        }
    }

    @Override
    public String toString() {
        return finished
                ? "finished"
                : (asleep ? "asleep" : "awake") + " with " + left + " left, " + inCall + " of them in this call"
                        + (lentCount > 0 ? ", lent " + lentCount : "");
    }
}
