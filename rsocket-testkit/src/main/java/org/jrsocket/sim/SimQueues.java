/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.sim;

import org.jrsocket.protocol.Queues;
import org.jrsocket.protocol.Slab;
import org.jrsocket.wire.Grant;

/**
 * A {@link SimQueuePair} as the engine uses it. Devices work while a program runs: at each call, something may happen
 * first.
 */
class SimQueues implements Queues {

    private static final int BATCH = 16;

    private final Simulation simulation;
    private final SimMemory memory;
    final SimQueuePair queuePair;
    final SimCompletions sends;
    final SimCompletions receives;

    private int chain;
    private int inlineLimit;
    private boolean hurries;
    private int collected;
    private SimMemory.Region staging; // grants on their way, one place for each request
    private int stagingSlots;
    private int staged;
    private String trouble;

    private final boolean[] received = new boolean[BATCH];
    private final boolean[] message = new boolean[BATCH];
    private final int[] imm = new int[BATCH];
    private final int[] length = new int[BATCH];
    private final boolean[] sent = new boolean[BATCH];

    SimQueues(Simulation simulation, SimMemory memory, SimQueuePair queuePair) {
        this.simulation = simulation;
        this.memory = memory;
        this.queuePair = queuePair;
        this.sends = new SimCompletions(simulation, queuePair.name + "'s send queue");
        this.receives = new SimCompletions(simulation, queuePair.name + "'s receive queue");
    }

    /**
     * Begins anew.
     *
     * @param chainLength requests that are collected before they are posted, at least 2
     * @param inline bytes that may travel inline
     * @param hurry whether something may happen at each call
     */
    void reset(
            int slots, int receiveCount, int chainLength, int inline, boolean hurry, SimCompletions.Channel channel) {
        sends.reset(slots, channel);
        receives.reset(receiveCount, channel);
        chain = chainLength;
        inlineLimit = inline;
        hurries = hurry;
        collected = 0;
        stagingSlots = slots;
        staging = memory.register(slots * Grant.SIZE);
        staged = 0;
        trouble = null;
    }

    void free() {
        memory.deregister(staging);
    }

    private void meanwhile() {
        if (hurries && simulation.chance.oneIn(4)) {
            queuePair.hurry();
            queuePair.peer().hurry();
        }
    }

    // ---- requests ----

    @Override
    public int room() {
        return Math.min(chain - collected, queuePair.room());
    }

    private void collect() {
        if (collected++ == chain) {
            throw simulation.failure(queuePair.name + " collects more than " + chain + " requests");
        }
    }

    @Override
    public void data(int immediate, long remoteAddress, int remoteKey, boolean inline, boolean signaled) {
        collect();
        queuePair.request(SimQueuePair.WRITE_IMM, immediate, remoteAddress, remoteKey, inline, signaled);
    }

    @Override
    public void piece(long address, int n, int localKey) {
        queuePair.piece(address, n, localKey);
    }

    @Override
    public void grant(int immediate, long tableAddress, int tableKey, Slab granted, boolean signaled) {
        collect();
        int at = Grant.SIZE * (staged++ % stagingSlots);
        GrantBytes.put(staging.bytes, at, granted.address(), granted.remoteKey(), granted.length());
        queuePair.request(
                SimQueuePair.WRITE_IMM, immediate, tableAddress, tableKey, Grant.SIZE <= inlineLimit, signaled);
        queuePair.piece(staging.base + at, Grant.SIZE, staging.localKey());
    }

    @Override
    public void control(int immediate, boolean signaled) {
        collect();
        queuePair.request(SimQueuePair.WRITE_IMM, immediate, 0, 0, false, signaled);
    }

    @Override
    public void probe() {
        collect();
        queuePair.request(SimQueuePair.WRITE, 0, 0, 0, false, true);
    }

    /** Returns how many requests the next {@link #post} takes. */
    int collected() {
        return collected;
    }

    @Override
    public boolean post() {
        if (collected > 0) {
            collected = 0;
            queuePair.post();
            meanwhile();
        }
        return true;
    }

    // ---- completions ----

    @Override
    public int batch() {
        return BATCH;
    }

    @Override
    public int pollReceives() {
        meanwhile();
        int n = Math.min(BATCH, receives.size());
        for (int i = 0; i < n; i++) {
            received[i] = receives.isGood(i);
            message[i] = receives.hasImm(i);
            imm[i] = receives.imm(i);
            length[i] = receives.length(i);
        }
        receives.take(n);
        return n;
    }

    @Override
    public boolean isReceived(int index) {
        trouble = received[index] ? trouble : "a receive failed";
        return received[index];
    }

    @Override
    public boolean isMessage(int index) {
        return message[index];
    }

    @Override
    public int imm(int index) {
        return imm[index];
    }

    @Override
    public int length(int index) {
        return length[index];
    }

    @Override
    public int pollSends() {
        meanwhile();
        int n = Math.min(BATCH, sends.size());
        for (int i = 0; i < n; i++) {
            sent[i] = sends.isGood(i);
            queuePair.retire(sends.retires(i));
        }
        sends.take(n);
        return n;
    }

    @Override
    public boolean isSent(int index) {
        trouble = sent[index] ? trouble : "a request failed";
        return sent[index];
    }

    /** Returns what went wrong last, for people; null if nothing did. */
    String trouble() {
        return trouble;
    }

    @Override
    public boolean postReceives(int count) {
        queuePair.postReceives(count);
        return true;
    }

    @Override
    public void arm() {
        if (simulation.tracing) {
            simulation.trace(queuePair.name + " arms");
        }
        sends.arm();
        meanwhile();
        receives.arm();
        meanwhile();
    }

    @Override
    public void armReceives() {
        if (simulation.tracing) {
            simulation.trace(queuePair.name + " arms its receive queue");
        }
        receives.arm();
        meanwhile();
    }
}
