/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.sim;

import org.jrsocket.wire.Imm;

/**
 * An RC queue pair: requests are carried out in order. Each passes three moments, whose times the {@link Link}
 * determines: it arrives (its payload is read from the sender's memory, and written to the receiver's), the receiver's
 * completion is seen, and it is acknowledged, which the sender sees if it asked for that. Until that last moment the
 * device may read the memory again, so the memory is compared then with what was sent.
 */
final class SimQueuePair implements Simulation.Target {

    /** A write with immediate data, a plain write, and a SEND, which no rsocket sends. */
    static final byte WRITE_IMM = 0;

    static final byte WRITE = 1;
    static final byte SEND = 2;

    private static final int ARRIVE = 0;
    private static final int NOTICE = 1;
    private static final int ACKNOWLEDGE = 2;
    private static final int GIVE_UP = 3;

    private static final int RNR_TIME = 3000;
    private static final int PIECES = 4;
    /** The most bytes that any request may carry inline. */
    static final int MOST_INLINE = 128;

    private enum State {
        WORKS,
        ERROR,
        DESTROYED
    }

    final String name;
    private final Simulation simulation;
    private final Link link;
    final SimMemory memory;
    final Rules rules;
    private SimQueuePair peer;
    private int target;
    private State state;

    private SimCompletions sendCompletions;
    private SimCompletions receiveCompletions;
    private boolean signalsAll;

    // The send queue; numbers run on, the low bits are the place.
    private int slots;
    private int inlineLimit;
    private int mask;
    private int building;
    private int posted;
    private int arrived;
    private int acknowledged;
    private int retired; // as the owner has seen it from completions
    private byte[] op = new byte[0];
    private int[] imm;
    private long[] remote;
    private int[] remoteKey;
    private boolean[] inline;
    private boolean[] signaled;
    private int[] length;
    private int[] hash;
    private byte[] pieces;
    private long[] pieceAddress;
    private int[] pieceLength;
    private int[] pieceKey;
    private byte[] inlined;
    private long[] arrivesAt;
    private long[] acknowledgedAt;
    private long busyUntil;
    private boolean retries; // in vain, and will give up

    // The receive queue, and what has arrived and has not been seen yet.
    private int receives;
    private int unseenHead;
    private int unseenTail;
    private int[] unseenImm = new int[0];
    private int[] unseenLength;
    private byte[] unseenOp;
    private long[] unseenAt;

    /** Whether requests may find no receive although their sender keeps the rules: that may happen to peers of C. */
    private boolean mayLackReceives;

    long lackedReceives;

    SimQueuePair(Simulation simulation, Link link, SimMemory memory, String name) {
        this.simulation = simulation;
        this.link = link;
        this.memory = memory;
        this.name = name;
        this.rules = new Rules(simulation, this);
    }

    /**
     * Begins anew.
     *
     * @param sendSlots of the send queue
     * @param mostInline bytes that a request may carry inline
     * @param allSignaled whether every request asks for a completion
     * @param mayLack whether requests of the peer may find no receive
     */
    void reset(
            SimQueuePair other,
            int sendSlots,
            int mostInline,
            SimCompletions sends,
            SimCompletions received,
            boolean allSignaled,
            boolean mayLack) {
        peer = other;
        target = simulation.enter(this);
        state = State.WORKS;
        sendCompletions = sends;
        receiveCompletions = received;
        signalsAll = allSignaled;
        mayLackReceives = mayLack;
        lackedReceives = 0;
        slots = sendSlots;
        inlineLimit = mostInline;
        int size = Integer.highestOneBit(sendSlots - 1) * 2;
        if (op.length < size) {
            allocate(size);
        }
        mask = op.length - 1;
        building = 0;
        posted = 0;
        arrived = 0;
        acknowledged = 0;
        retired = 0;
        busyUntil = 0;
        retries = false;
        receives = 0;
        unseenHead = 0;
        unseenTail = 0;
    }

    private void allocate(int size) {
        op = new byte[size];
        imm = new int[size];
        remote = new long[size];
        remoteKey = new int[size];
        inline = new boolean[size];
        signaled = new boolean[size];
        length = new int[size];
        hash = new int[size];
        pieces = new byte[size];
        pieceAddress = new long[size * PIECES];
        pieceLength = new int[size * PIECES];
        pieceKey = new int[size * PIECES];
        inlined = new byte[size * MOST_INLINE];
        arrivesAt = new long[size];
        acknowledgedAt = new long[size];
    }

    // ---- building and posting ----

    /** Returns how many requests fit, as far as their owner can know. */
    int room() {
        return slots - (building - retired);
    }

    void request(byte newOp, int newImm, long remoteAddress, int key, boolean isInline, boolean isSignaled) {
        if (room() == 0) {
            throw simulation.failure(name + " overruns its send queue of " + slots);
        }
        int at = building++ & mask;
        op[at] = newOp;
        imm[at] = newImm;
        remote[at] = remoteAddress;
        remoteKey[at] = key;
        inline[at] = isInline;
        signaled[at] = isSignaled || signalsAll;
        length[at] = 0;
        pieces[at] = 0;
    }

    /** Adds memory to the last request. */
    void piece(long address, int n, int key) {
        int at = building - 1 & mask;
        int piece = at * PIECES + pieces[at]++;
        pieceAddress[piece] = address;
        pieceLength[piece] = n;
        pieceKey[piece] = key;
        length[at] += n;
    }

    /** Gives the last requests to the device, which takes inline bytes now. */
    void post() {
        while (posted != building) {
            int at = posted++ & mask;
            if (inline[at]) {
                takeInline(at);
            }
            if (simulation.tracing) {
                simulation.trace(name + " posts " + describe(at));
            }
            rules.posted(op[at], imm[at], remote[at], length[at], pieceAddress[at * PIECES]);
            busyUntil = link.sentAt(busyUntil, length[at]);
            long before = posted - 1 == arrived ? 0 : arrivesAt[posted - 2 & mask];
            arrivesAt[at] = Math.max(link.arrivesAt(busyUntil), before);
            if (posted - 1 == arrived && state == State.WORKS) {
                simulation.at(arrivesAt[at], target, ARRIVE);
            }
        }
        if (state != State.WORKS) {
            flushSends();
        }
    }

    private String describe(int at) {
        String what = op[at] == WRITE_IMM ? Imm.describe(imm[at]) : op[at] == WRITE ? "a plain write" : "a SEND";
        return what
                + (length[at] > 0 ? " to " + SimMemory.text(remote[at]) : "")
                + (inline[at] && length[at] > 0 ? " inline" : "")
                + (signaled[at] ? " signaled" : "");
    }

    private void takeInline(int at) {
        if (length[at] > inlineLimit) {
            throw simulation.failure(name + " posts " + length[at] + " bytes inline");
        }
        if (pieces[at] > 1) { // irdma before rdma-core 44, and i40iw, send only the first
            throw simulation.failure(name + " posts " + pieces[at] + " pieces inline");
        }
        int to = at * MOST_INLINE;
        for (int i = at * PIECES; i < at * PIECES + pieces[at]; i++) {
            SimMemory.Region region = memory.region(pieceAddress[i], pieceLength[i]); // no key needed
            System.arraycopy(region.bytes, region.at(pieceAddress[i]), inlined, to, pieceLength[i]);
            to += pieceLength[i];
        }
    }

    // ---- the device ----

    @Override
    public void event(int kind) {
        switch (kind) {
            case ARRIVE -> {
                if (state == State.WORKS && arrived != posted) {
                    if (arrivesAt[arrived & mask] <= simulation.now()) {
                        arrive();
                    }
                    if (state == State.WORKS && arrived != posted && !retries) {
                        simulation.at(arrivesAt[arrived & mask], target, ARRIVE);
                    }
                }
            }
            case NOTICE -> {
                if (unseenHead != unseenTail) {
                    if (unseenAt[unseenHead & unseenAt.length - 1] <= simulation.now()) {
                        notice();
                    }
                    if (unseenHead != unseenTail) {
                        simulation.at(unseenAt[unseenHead & unseenAt.length - 1], target, NOTICE);
                    }
                }
            }
            case ACKNOWLEDGE -> {
                if (state == State.WORKS && acknowledged != arrived) {
                    if (acknowledgedAt[acknowledged & mask] <= simulation.now()) {
                        acknowledge();
                    }
                    if (acknowledged != arrived) {
                        simulation.at(acknowledgedAt[acknowledged & mask], target, ACKNOWLEDGE);
                    }
                }
            }
            default -> {
                if (state == State.WORKS) {
                    if (simulation.tracing) {
                        simulation.trace(name + " gives up");
                    }
                    toError();
                }
            }
        }
    }

    /** Lets something happen before its time, as devices do while a program runs. */
    void hurry() {
        switch (simulation.chance.below(6)) {
            case 0 -> {
                if (state == State.WORKS && arrived != posted && !retries) {
                    arrive();
                }
            }
            case 1 -> {
                if (unseenHead != unseenTail) {
                    notice();
                }
            }
            case 2 -> {
                if (state == State.WORKS && acknowledged != arrived) {
                    acknowledge();
                }
            }
            default -> {}
        }
    }

    private void arrive() {
        int at = arrived & mask;
        if (link.isCut() || peer.state != State.WORKS) {
            retries = true;
            simulation.after(link.givesUpAfter(), target, GIVE_UP);
            return;
        }
        boolean takesReceive = op[at] != WRITE;
        if (takesReceive && peer.receives == 0) {
            if (!peer.mayLackReceives) {
                throw simulation.failure(
                        name + " sends " + describe(at) + ", and " + peer.name + " has no receive posted");
            }
            peer.lackedReceives++;
            arrivesAt[at] = simulation.now() + RNR_TIME; // for ever, if need be, as rsocket asks for that
            return;
        }
        if (length[at] > 0) {
            SimMemory.Region region = op[at] == SEND ? null : peer.memory.find(remote[at], length[at], remoteKey[at]);
            if (region == null || (remoteKey[at] & 1) == 0) {
                if (rules.areKept()) {
                    throw simulation.failure(name + " writes where it may not: " + describe(at));
                }
                peer.toError();
                toError();
                return;
            }
            write(at, region);
        }
        arrived++;
        if (takesReceive) {
            peer.receives--;
            peer.arrived(op[at], imm[at], length[at]);
        }
        long before = arrived - 1 == acknowledged ? 0 : acknowledgedAt[arrived - 2 & mask];
        acknowledgedAt[at] = Math.max(link.acknowledgedAt(), before);
        if (arrived - 1 == acknowledged) {
            simulation.at(acknowledgedAt[at], target, ACKNOWLEDGE);
        }
    }

    private void write(int at, SimMemory.Region region) {
        int to = region.at(remote[at]);
        peer.rules.arriving(region, remote[at], length[at]);
        if (!link.isDrawn() && !region.table) {
            return; // where only time matters, no one looks at data
        }
        if (inline[at]) {
            System.arraycopy(inlined, at * MOST_INLINE, region.bytes, to, length[at]);
        } else {
            gather(at, region.bytes, to);
            if (rules.areKept()) {
                hash[at] = hash(region.bytes, to, length[at]);
            }
        }
    }

    private void gather(int at, byte[] bytes, int start) {
        int to = start;
        for (int i = at * PIECES; i < at * PIECES + pieces[at]; i++) {
            SimMemory.Region region = memory.find(pieceAddress[i], pieceLength[i], pieceKey[i]);
            if (region == null) {
                throw simulation.failure(name + " sends " + pieceLength[i] + " bytes at "
                        + SimMemory.text(pieceAddress[i]) + ", which are not registered");
            }
            System.arraycopy(region.bytes, region.at(pieceAddress[i]), bytes, to, pieceLength[i]);
            to += pieceLength[i];
        }
    }

    private static int hash(byte[] bytes, int start, int n) {
        int hash = n;
        for (int i = start; i < start + n; i++) {
            hash = 31 * hash + bytes[i];
        }
        return hash;
    }

    private byte[] scratch = new byte[256];

    private void acknowledge() {
        int at = acknowledged & mask;
        if (rules.areKept() && !inline[at] && length[at] > 0) {
            if (scratch.length < length[at]) {
                scratch = new byte[length[at]];
            }
            gather(at, scratch, 0);
            if (hash(scratch, 0, length[at]) != hash[at]) {
                throw simulation.failure(
                        name + " has changed memory before its request was acknowledged: " + describe(at));
            }
        }
        acknowledged++;
        if (signaled[at]) {
            if (simulation.tracing) {
                simulation.trace(name + " can see that " + describe(at) + " is acknowledged");
            }
            sendCompletions.push(SimCompletions.SENT, true, false, imm[at], 0, acknowledged);
        }
    }

    // ---- the receiving end ----

    private void arrived(byte newOp, int newImm, int n) {
        if (unseenTail - unseenHead == unseenImm.length) {
            growUnseen();
        }
        int at = unseenTail++ & unseenImm.length - 1;
        unseenImm[at] = newImm;
        unseenLength[at] = n;
        unseenOp[at] = newOp;
        long before = unseenTail - unseenHead > 1 ? unseenAt[unseenTail - 2 & unseenAt.length - 1] : 0;
        unseenAt[at] = Math.max(link.noticedAt(), before);
        if (unseenTail - unseenHead == 1) {
            simulation.at(unseenAt[at], target, NOTICE);
        }
    }

    private void growUnseen() {
        int old = unseenImm.length;
        int size = Math.max(16, old * 2);
        int[] newImm = new int[size];
        int[] newLength = new int[size];
        byte[] newOp = new byte[size];
        long[] newAt = new long[size];
        for (int i = unseenHead; i != unseenTail; i++) {
            newImm[i & size - 1] = unseenImm[i & old - 1];
            newLength[i & size - 1] = unseenLength[i & old - 1];
            newOp[i & size - 1] = unseenOp[i & old - 1];
            newAt[i & size - 1] = unseenAt[i & old - 1];
        }
        unseenImm = newImm;
        unseenLength = newLength;
        unseenOp = newOp;
        unseenAt = newAt;
    }

    private void notice() {
        int at = unseenHead++ & unseenImm.length - 1;
        boolean withImm = unseenOp[at] == WRITE_IMM;
        if (simulation.tracing) {
            simulation.trace(name + " can see " + (withImm ? Imm.describe(unseenImm[at]) : "a SEND")
                    + (unseenLength[at] > 0 ? " of " + unseenLength[at] + " bytes" : ""));
        }
        if (withImm) {
            rules.noticed(unseenImm[at]);
        }
        receiveCompletions.push(SimCompletions.RECEIVED, true, withImm, unseenImm[at], unseenLength[at], 0);
    }

    /** Lets everything that has arrived be seen before anything else happens. */
    void noticeAll() {
        while (unseenHead != unseenTail) {
            notice();
        }
    }

    void postReceives(int n) {
        receives += n;
        if (state != State.WORKS) {
            flushReceives();
        }
    }

    int receives() {
        return receives;
    }

    // ---- completions ----

    /** Frees what a send completion retires, which the owner has taken. */
    void retire(int upTo) {
        retired = upTo;
    }

    // ---- the end ----

    /** Moves to state ERROR: what has arrived is seen first, then everything else is flushed. */
    void toError() {
        if (state != State.WORKS) {
            return;
        }
        if (simulation.tracing) {
            simulation.trace(name + " is in error");
        }
        state = State.ERROR;
        noticeAll();
        flushReceives();
        flushSends();
    }

    private void flushReceives() {
        for (; receives > 0; receives--) {
            receiveCompletions.push(SimCompletions.RECEIVED, false, false, 0, 0, 0);
        }
    }

    private void flushSends() {
        while (acknowledged != posted) {
            int at = acknowledged++ & mask;
            sendCompletions.push(SimCompletions.SENT, false, false, imm[at], 0, acknowledged);
        }
        arrived = acknowledged;
    }

    /** Destroys the queue pair, whose memory belongs to its owner again at once. */
    void destroy() {
        if (simulation.tracing) {
            simulation.trace(name + " is destroyed");
        }
        state = State.DESTROYED;
        unseenHead = unseenTail;
        receives = 0;
        acknowledged = posted;
        arrived = posted;
    }

    int slots() {
        return slots;
    }

    boolean works() {
        return state == State.WORKS;
    }

    SimQueuePair peer() {
        return peer;
    }
}
