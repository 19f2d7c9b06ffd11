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
 * An end that keeps no rules. It mostly does what a peer would do, so that it gets far, and now and then anything that
 * the wire can carry: messages of every kind and length, impossible credits and grants, writes into all memory whose
 * keys it has been told, and no receives.
 */
final class HostileEnd extends End implements SimCompletions.Channel {

    private static final int SLOTS = 64;
    private static final int PLAYGROUND = 1 << 16;
    private static final int KNOWN = 64;

    private final SimCompletions completions;
    private final Actor actor;
    private SimMemory.Region table;
    private SimMemory.Region playground;
    private int entries;
    private int tableAt;
    private int credits;
    private int received;
    private int granted;
    private int evil; // one in so many acts
    private int acts;

    private long peerTable;
    private int peerTableKey;
    private int peerEntries;
    private int peerEntry;

    // The memory of the peer that it has been told of, the last KNOWN pieces of it.
    private final long[] address = new long[KNOWN];
    private final int[] key = new int[KNOWN];
    private final int[] length = new int[KNOWN];
    private int known;
    private int current;
    private int filled;

    HostileEnd(World world, String name) {
        super(world, name);
        this.completions = new SimCompletions(simulation, name + "'s completion queue");
        this.actor = new Actor(simulation) {
            @Override
            void step() {
                act();
            }
        };
    }

    @Override
    ConnData make(End peer) {
        Chance chance = simulation.chance;
        memory.reset(false);
        done = false;
        actor.enter(plan.pace);
        entries = chance.oneIn(8) ? chance.between(2, 1024) : chance.spread(2, 20);
        credits = chance.oneIn(8) ? chance.between(1, Credits.MASK) : chance.spread(1, 60);
        int receives = chance.oneIn(8) ? chance.below(8) : Math.min(credits, 1000) + 16;
        completions.reset(SLOTS + 2000, this);
        queuePair.reset(peer.queuePair, SLOTS, 0, completions, completions, true, true);
        queuePair.rules.reset(false, true);
        table = memory.register(entries * Grant.SIZE);
        playground = memory.register(PLAYGROUND);
        queuePair.postReceives(receives);
        evil = chance.spread(1, 200);
        acts = chance.spread(1, 3000);
        tableAt = 1 % entries;
        received = 0;
        granted = 0;
        peerEntry = 1;
        known = 0;
        current = 0;
        filled = 0;
        boolean off = chance.oneIn(8);
        long tableAddress = off ? chance.next() & Long.MAX_VALUE >>> 1 : table.base;
        long dataAddress = off ? chance.next() & Long.MAX_VALUE >>> 1 : playground.base;
        int dataLength = chance.oneIn(4) ? chance.below(Integer.MAX_VALUE) : chance.spread(1, PLAYGROUND);
        ConnData data = ConnData.local(
                credits, tableAddress, table.remoteKey(), entries, dataAddress, playground.remoteKey(), dataLength);
        return chance.oneIn(3) ? data : data.withFeatures(chance.below(8));
    }

    @Override
    void connected(ConnData peer) {
        peerTable = peer.targetAddr();
        peerTableKey = peer.targetKey();
        peerEntries = peer.targetLength();
        know(peer.dataAddr(), peer.dataKey(), peer.dataLength());
    }

    private void know(long at, int remoteKey, int n) {
        int slot = known++ % KNOWN;
        address[slot] = at;
        key[slot] = remoteKey;
        length[slot] = n;
    }

    @Override
    void open() {
        actor.wake();
    }

    @Override
    public void raised() {
        // It acts at its own pace.
    }

    private void act() {
        if (done) {
            return;
        }
        look();
        Chance chance = simulation.chance;
        if (acts-- == 0 || !queuePair.works()) {
            leave();
            return;
        }
        if (queuePair.room() > 0) {
            if (chance.oneIn(evil)) {
                evil(chance);
            } else {
                behave(chance);
            }
            queuePair.post();
        }
        actor.wake();
    }

    private void look() {
        while (completions.size() > 0) {
            if (completions.kind(0) == SimCompletions.SENT) {
                queuePair.retire(completions.retires(0));
            } else if (completions.isGood(0)) {
                if (Imm.op(completions.imm(0)) == Imm.OP_DATA) {
                    received = Credits.next(received);
                }
                if (!simulation.chance.oneIn(evil * 20)) {
                    queuePair.postReceives(1);
                }
            }
            completions.take(1);
        }
        int at = tableAt * Grant.SIZE;
        if (GrantBytes.length(table.bytes, at) != 0) {
            know(
                    GrantBytes.address(table.bytes, at),
                    GrantBytes.key(table.bytes, at),
                    GrantBytes.length(table.bytes, at));
            GrantBytes.length(table.bytes, at, 0);
            tableAt = (tableAt + 1) % entries;
        }
    }

    // ---- as a peer would ----

    private void behave(Chance chance) {
        switch (chance.below(8)) {
            case 0 -> message(Imm.sgl((received + credits & Credits.MASK)), 0, 0, 0);
            case 1 -> {
                if (granted - received < 4 * entries) {
                    long start = playground.base + chance.below(PLAYGROUND / 2);
                    grant(start, playground.remoteKey(), chance.spread(1, PLAYGROUND / 2), false);
                }
            }
            case 2 -> {
                if (chance.oneIn(100)) {
                    message(Imm.ctrl(chance.below(5)), 0, 0, 0);
                }
            }
            default -> data(chance);
        }
    }

    private void data(Chance chance) {
        if (current == known || known - current >= KNOWN) {
            return;
        }
        int slot = current % KNOWN;
        int n = chance.spread(1, length[slot] - filled);
        message(Imm.data(n), address[slot] + filled, key[slot], n);
        filled += n;
        if (filled == length[slot]) {
            filled = 0;
            current++;
        }
    }

    private void grant(long at, int remoteKey, int n, boolean anywhere) {
        granted++;
        int place = PLAYGROUND - 4096 + granted % 64 * Grant.SIZE;
        GrantBytes.put(playground.bytes, place, at, remoteKey, n);
        int entry = anywhere ? simulation.chance.below(peerEntries) : peerEntry;
        peerEntry = (peerEntry + 1) % peerEntries;
        int imm = Imm.sgl((received + credits & Credits.MASK));
        long remote = peerTable + (long) entry * Grant.SIZE;
        queuePair.request(SimQueuePair.WRITE_IMM, imm, remote, peerTableKey, false, true);
        queuePair.piece(playground.base + place, Grant.SIZE, playground.localKey());
    }

    private void message(int imm, long remote, int remoteKey, int n) {
        request(SimQueuePair.WRITE_IMM, imm, remote, remoteKey, n);
    }

    private void request(byte op, int imm, long remote, int remoteKey, int n) {
        queuePair.request(op, imm, remote, remoteKey, false, true);
        if (n > 0) {
            queuePair.piece(playground.base, Math.min(n, PLAYGROUND), playground.localKey());
        }
    }

    // ---- and as none would ----

    private void evil(Chance chance) {
        int slot = chance.below(Math.min(known, KNOWN));
        int n = chance.oneIn(4) ? 0 : chance.spread(1, length[slot]);
        long place = address[slot] + chance.below(length[slot] - n + 1);
        int imm =
                switch (chance.below(6)) {
                    case 0 -> (int) chance.next();
                    case 1 -> chance.spread(1, 100_000);
                    case 2 -> Imm.sgl(received + chance.spread(1, 70_000));
                    case 3 -> Imm.ctrl(chance.below(6));
                    case 4 -> Imm.release(chance.oneIn(2) ? chance.below(4) : (int) chance.next());
                    default -> n == 0 ? 0 : Imm.data(n);
                };
        switch (chance.below(8)) {
            case 0 -> grant(chance.next(), (int) chance.next(), (int) chance.next(), true);
            case 1 -> grant(playground.base, playground.remoteKey(), chance.below(PLAYGROUND), true);
            case 2 -> request(SimQueuePair.WRITE, imm, place, key[slot], n);
            case 3 -> {
                int bytes = chance.between(1, peerEntries * Grant.SIZE);
                long remote = peerTable + chance.below(peerEntries * Grant.SIZE - bytes + 1);
                request(SimQueuePair.WRITE, imm, remote, peerTableKey, bytes);
            }
            case 4 -> request(chance.oneIn(4) ? SimQueuePair.SEND : SimQueuePair.WRITE_IMM, imm, 0, 0, 0);
            case 5 -> {
                if (chance.oneIn(10)) {
                    // a key that it never got
                    request(SimQueuePair.WRITE_IMM, imm, place, key[slot] + 2, Math.max(1, n));
                }
            }
            default -> message(imm, place, key[slot], n);
        }
    }

    private void leave() {
        done = true;
        queuePair.toError();
        queuePair.destroy();
        memory.deregister(table);
        memory.deregister(playground);
        world.tellDisconnected(this, false);
    }

    @Override
    void disconnected() {
        if (!done) {
            acts = Math.min(acts, 10);
        }
    }

    @Override
    void deviceFailed() {
        // It finds out.
    }

    @Override
    void heard() {}

    @Override
    boolean readsNoMore() {
        return true;
    }

    @Override
    boolean isOver() {
        return done;
    }

    @Override
    void probe() {}

    @Override
    boolean keepsRules() {
        return false;
    }

    @Override
    String describe() {
        return name + " (hostile): "
                + (done ? "done" : acts + " acts left, " + queuePair.receives() + " receives posted");
    }
}
