/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.sim;

import org.jrsocket.wire.ConnData;
import org.jrsocket.wire.Credits;
import org.jrsocket.wire.Grant;
import org.jrsocket.wire.Imm;

/**
 * What one end may do on the wire, kept apart from what the engine thinks: the grants and credits that it was given and
 * that have reached it. Each of its requests is checked against them when it is posted.
 */
final class Rules {

    private final Simulation simulation;
    private final SimQueuePair owner;
    private boolean kept;

    // The grants to this end, first in, first out.
    private long[] address = new long[16];
    private int[] left = new int[16];
    private int[] number = new int[16];
    private int head;
    private int count;
    private int given; // by message
    private int arrived; // by message
    private int limit;
    private int sent;
    private int features; // of the peer
    private boolean ended;
    private boolean mayEnd;
    /** Grants that this end gave up, since the simulation began. */
    long releases;

    Rules(Simulation simulation, SimQueuePair owner) {
        this.simulation = simulation;
        this.owner = owner;
    }

    /**
     * Begins anew.
     *
     * @param keep false for an end that keeps no rules, or where they cost too much
     * @param mayWriteOn whether data after the end of the stream is no mistake: C lets its applications do so
     */
    void reset(boolean keep, boolean mayWriteOn) {
        kept = keep;
        mayEnd = mayWriteOn;
        head = 0;
        count = 0;
        given = 0;
        arrived = 0;
        sent = 0;
        ended = false;
    }

    /** Takes the peer's connection data. */
    void first(ConnData peer) {
        if (kept) {
            limit = peer.credits();
            features = peer.features();
            add(peer.dataAddr(), peer.dataLength(), 0);
            owner.peer()
                    .memory
                    .move(peer.dataAddr(), peer.dataLength(), SimMemory.FREE, SimMemory.GRANTED, "the first grant");
        }
    }

    boolean areKept() {
        return kept;
    }

    private void add(long at, int length, int as) {
        if (length == 0) {
            return;
        }
        if (count == address.length) {
            throw simulation.failure(owner.name + " has been given " + count + " grants at once");
        }
        int slot = (head + count++) % address.length;
        address[slot] = at;
        left[slot] = length;
        number[slot] = as;
    }

    /** Checks a request of this end that is posted. */
    void posted(byte op, int imm, long remote, int length, long payload) {
        if (!kept || op != SimQueuePair.WRITE_IMM) {
            return;
        }
        switch (Imm.op(imm)) {
            case Imm.OP_DATA -> data(remote, length);
            case Imm.OP_SGL -> {
                if (length != 0) {
                    SimMemory.Region region = owner.memory.region(payload, Grant.SIZE);
                    int at = region.at(payload);
                    grant(GrantBytes.address(region.bytes, at), GrantBytes.length(region.bytes, at));
                }
            }
            case Imm.OP_CTRL -> control(imm);
            default -> throw simulation.failure(owner.name + " sends " + Imm.describe(imm));
        }
    }

    private void data(long remote, int n) {
        if (ended && !mayEnd) {
            throw simulation.failure(owner.name + " sends data after the end of its stream");
        }
        if (Credits.window(limit, sent) == 0) {
            throw simulation.failure(owner.name + " sends data message " + sent + " without a credit");
        }
        sent = Credits.next(sent);
        if (count == 0 || number[head] - arrived > 0) {
            throw simulation.failure(owner.name + " sends " + n + " bytes without a grant");
        }
        if (remote != address[head] || n > left[head]) {
            throw simulation.failure(owner.name + " sends " + n + " bytes to " + SimMemory.text(remote)
                    + " and was granted " + left[head] + " at "
                    + SimMemory.text(address[head]));
        }
        address[head] += n;
        left[head] -= n;
        if (left[head] == 0) {
            drop();
        }
    }

    private void drop() {
        head = (head + 1) % address.length;
        count--;
    }

    /** Takes note of a grant by this end: its memory must be free. */
    private void grant(long at, int length) {
        owner.memory.move(at, length, SimMemory.FREE, SimMemory.GRANTED, "a grant");
        Rules other = owner.peer().rules;
        if (other.kept) {
            other.add(at, length, ++other.given);
        }
    }

    private void control(int imm) {
        switch (Imm.code(imm)) {
            case Imm.CTRL_SHUTDOWN, Imm.CTRL_DISCONNECT -> ended = true;
            case Imm.CTRL_RESET -> understood(ConnData.FEATURE_RESET);
            case Imm.CTRL_RELEASE -> {
                understood(ConnData.FEATURE_RELEASE);
                releases++;
                while (count > 0 && (short) (number[head] - Imm.grants(imm)) <= 0) {
                    if (owner.peer().works()) {
                        owner.peer().memory.ungrant(address[head], left[head]);
                    }
                    drop();
                }
            }
            default -> {}
        }
    }

    private void understood(int feature) {
        if ((features & feature) == 0) {
            throw simulation.failure(owner.name + " sends what its peer does not understand, feature " + feature);
        }
    }

    /** Checks something that is about to be written to this end's memory. */
    void arriving(SimMemory.Region region, long remote, int length) {
        if (!region.table) {
            owner.memory.move(region, remote, length, SimMemory.GRANTED, SimMemory.WRITTEN, "data");
            return;
        }
        arrived++;
        int entry = region.at(remote);
        if (owner.peer().rules.kept) {
            if (length != Grant.SIZE || entry % Grant.SIZE != 0) {
                throw simulation.failure(
                        "a grant of " + length + " bytes to place " + entry + " of " + owner.name + "'s table");
            }
            if (kept && GrantBytes.length(region.bytes, entry) != 0) {
                throw simulation.failure(
                        "a grant over one that " + owner.name + " has not used, entry " + entry / Grant.SIZE);
            }
        }
    }

    /** Takes note of a message to this end that can be seen. */
    void noticed(int imm) {
        if (Imm.op(imm) == Imm.OP_SGL) {
            limit = Imm.limit(imm);
        }
    }
}
