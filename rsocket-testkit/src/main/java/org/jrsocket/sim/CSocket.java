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
 * A model of librdmacm's rsocket, as far as its peer can tell: a grant table of two entries that it reads in place,
 * halves of a ring granted one after the other and the second one late, credits that count what the application has
 * read, every request signaled, and progress only where a call looks at the completion queue. Written from
 * the description of its behaviour.
 */
final class CSocket {

    private static final int CONTROL = 4; // requests that carry no data
    private static final int READABLE = 1;
    private static final int WRITABLE = 2;

    private final Simulation simulation;
    private final SimMemory memory;
    private final SimQueuePair queuePair;
    final SimCompletions completions;

    private SimMemory.Region table;
    private SimMemory.Region sendRing;
    private SimMemory.Region receiveRing;
    private int sendSize;
    private int receiveCredits;
    private int lowWater;
    private int mostTransfer;
    private int inline;

    private long peerTable;
    private int peerTableKey;
    private int peerEntries;

    // Sending.
    private int sent; // data messages, 16 bits
    private int sendLimit;
    private int grant; // in use
    private int ringAt;
    private int ringFree;
    private int slotsFree;
    private int controlSent;
    private int controlMost;

    // Receiving.
    private int[] messages = new int[64];
    private int messagesHead;
    private int messagesCount;
    private int partly; // of the first message
    private int readAt;
    private int grantAt;
    private int grantable;
    private int consumed; // messages, 16 bits
    private int updateAt;
    private int peerEntry;

    private boolean connected;
    private int open;
    private boolean disconnected;
    private boolean error;
    boolean armed;

    CSocket(Simulation simulation, SimMemory memory, SimQueuePair queuePair) {
        this.simulation = simulation;
        this.memory = memory;
        this.queuePair = queuePair;
        this.completions = new SimCompletions(simulation, queuePair.name + "'s completion queue");
    }

    ConnData make(SimQueuePair peer, SimCompletions.Channel channel, boolean checked) {
        Chance chance = simulation.chance;
        int slots = chance.spread(16, 64);
        receiveCredits = chance.spread(16, 64);
        lowWater = chance.of(8, 64, 2048);
        mostTransfer = lowWater * 32;
        inline = chance.of(0, 16, 64);
        sendSize = lowWater * chance.spread(2, 16);
        int half = chance.spread(1, 16 * lowWater);
        completions.reset(slots + receiveCredits, channel);
        queuePair.reset(peer, slots, inline, completions, completions, true, true);
        queuePair.rules.reset(checked, false);
        table = memory.register(2 * Grant.SIZE);
        table.table = true;
        sendRing = memory.register(sendSize + CONTROL * Grant.SIZE + SimQueuePair.MOST_INLINE);
        receiveRing = memory.register(2 * half);
        queuePair.postReceives(receiveCredits);

        sent = 0;
        grant = 0;
        ringAt = 0;
        ringFree = sendSize;
        slotsFree = slots - CONTROL;
        controlSent = 0;
        controlMost = CONTROL;
        if (messages.length < receiveCredits + 1) {
            messages = new int[receiveCredits + 1];
        }
        messagesHead = 0;
        messagesCount = 0;
        partly = 0;
        readAt = 0;
        grantAt = half;
        grantable = half;
        consumed = 0;
        updateAt = receiveCredits / 2;
        peerEntry = 1;
        connected = true;
        open = READABLE | WRITABLE;
        disconnected = false;
        error = false;
        armed = false;
        if (simulation.tracing) {
            simulation.trace(queuePair.name + " is C: " + slots + " slots, " + receiveCredits + " credits, send ring "
                    + sendSize + ", halves of " + half + ", sends from " + lowWater + " on, inline " + inline);
        }
        return ConnData.local(
                receiveCredits, table.base, table.remoteKey(), 2, receiveRing.base, receiveRing.remoteKey(), half);
    }

    void connected(ConnData peer) {
        peerTable = peer.targetAddr();
        peerTableKey = peer.targetKey();
        peerEntries = peer.targetLength();
        sendLimit = peer.credits();
        GrantBytes.put(table.bytes, 0, peer.dataAddr(), peer.dataKey(), peer.dataLength());
    }

    void free() {
        memory.deregister(table);
        memory.deregister(sendRing);
        memory.deregister(receiveRing);
    }

    // ---- sending ----

    boolean canSend() {
        return slotsFree > 0
                && ringFree >= lowWater
                && sent != sendLimit
                && GrantBytes.length(table.bytes, grant * Grant.SIZE) != 0;
    }

    boolean isWritable() {
        return (open & WRITABLE) != 0;
    }

    int firstTransfer() {
        return lowWater;
    }

    int nextTransfer(int transfer) {
        return Math.min(2 * transfer, mostTransfer);
    }

    /** Sends one message of at most {@code most} bytes of {@code flow}, and returns its bytes. */
    int send(Flow flow, int most) {
        int at = grant * Grant.SIZE;
        long remote = GrantBytes.address(table.bytes, at);
        int key = GrantBytes.key(table.bytes, at);
        int left = GrantBytes.length(table.bytes, at);
        int n = Math.min(Math.min(most, ringFree), left);
        sent = Credits.next(sent);
        slotsFree--;
        ringFree -= n;
        GrantBytes.put(table.bytes, at, remote + n, key, left - n);
        if (left == n) {
            grant = 1 - grant;
        }
        queuePair.request(SimQueuePair.WRITE_IMM, Imm.data(n), remote, key, n <= inline, true);
        if (n <= inline) {
            int place = sendSize + CONTROL * Grant.SIZE; // stands for the caller's memory
            flow.fill(sendRing.bytes, place, n);
            queuePair.piece(sendRing.base + place, n, sendRing.localKey());
            flow.wrote(n);
        } else {
            int end = Math.min(n, sendSize - ringAt);
            copy(flow, ringAt, end);
            if (end < n) {
                copy(flow, 0, n - end);
            }
            ringAt = (ringAt + n) % sendSize;
        }
        queuePair.post();
        return n;
    }

    private void copy(Flow flow, int place, int n) {
        flow.fill(sendRing.bytes, place, n);
        flow.wrote(n);
        queuePair.piece(sendRing.base + place, n, sendRing.localKey());
    }

    boolean hasControlSlot() {
        return controlSent != controlMost;
    }

    boolean allSent() {
        return slotsFree == queuePair.slots() - CONTROL && controlMost - controlSent == CONTROL;
    }

    void control(int code) {
        controlSent++;
        queuePair.request(SimQueuePair.WRITE_IMM, Imm.ctrl(code), 0, 0, false, true);
        queuePair.post();
    }

    // ---- looking at the queue ----

    /** Sends grants and credits, if it is time for them. */
    void update() {
        int half = receiveRing.length / 2;
        boolean memoryFree = grantable >= half;
        if (!connected || !hasControlSlot() || !memoryFree && !((short) (consumed - updateAt) >= 0)) {
            return;
        }
        int slot = sendSize + controlSent % CONTROL * Grant.SIZE;
        controlSent++;
        updateAt = (consumed + receiveCredits / 2 & Credits.MASK);
        int imm = Imm.OP_SGL << 29 | consumed + receiveCredits; // C does not cut it to 16 bits
        if (memoryFree) {
            GrantBytes.put(sendRing.bytes, slot, receiveRing.base + grantAt, receiveRing.remoteKey(), half);
            queuePair.request(
                    SimQueuePair.WRITE_IMM,
                    imm,
                    peerTable + (long) peerEntry * Grant.SIZE,
                    peerTableKey,
                    inline >= Grant.SIZE,
                    true);
            queuePair.piece(sendRing.base + slot, Grant.SIZE, sendRing.localKey());
            grantable -= half;
            grantAt = half - grantAt;
            peerEntry = (peerEntry + 1) % peerEntries;
        } else {
            queuePair.request(SimQueuePair.WRITE_IMM, imm, 0, 0, false, true);
        }
        queuePair.post();
    }

    /** Takes all completions, and then, while connected, posts as many receives as were used. */
    void poll() {
        int used = 0;
        while (completions.size() > 0) {
            boolean good = completions.isGood(0);
            int imm = completions.imm(0);
            byte kind = completions.kind(0);
            int retires = completions.retires(0);
            completions.take(1);
            if (kind == SimCompletions.SENT) {
                queuePair.retire(retires);
                sent(imm, good);
            } else if (good) {
                used++;
                if (!received(imm)) {
                    return;
                }
            }
        }
        if (connected && used > 0) {
            queuePair.postReceives(used);
        }
    }

    private void sent(int imm, boolean good) {
        if (Imm.op(imm) == Imm.OP_DATA) {
            slotsFree++;
            ringFree += Imm.value(imm);
        } else {
            controlMost++;
            if (imm == Imm.ctrl(Imm.CTRL_DISCONNECT)) {
                disconnect();
            }
        }
        if (!good && connected) {
            error = true;
            connected = false;
            open = 0;
        }
    }

    /** Handles a message that was received. Returns whether to go on. */
    private boolean received(int imm) {
        switch (Imm.op(imm)) {
            case Imm.OP_SGL -> sendLimit = Imm.limit(imm);
            case Imm.OP_IOMAP_SGL -> {}
            case Imm.OP_CTRL -> {
                if (imm == Imm.ctrl(Imm.CTRL_DISCONNECT) || imm == Imm.ctrl(Imm.CTRL_SHUTDOWN) && !isWritable()) {
                    disconnect();
                    return false;
                }
                if (imm == Imm.ctrl(Imm.CTRL_SHUTDOWN)) {
                    open &= ~READABLE;
                }
            }
            default -> {
                if (messagesCount == receiveCredits) {
                    throw simulation.failure(queuePair.name + " has " + messagesCount
                            + " messages unread, and its credits do not allow one more");
                }
                messages[(messagesHead + messagesCount++) % messages.length] = Imm.value(imm);
            }
        }
        return true;
    }

    private void disconnect() {
        connected = false;
        open = 0;
        disconnected = true;
    }

    // ---- receiving ----

    boolean hasData() {
        return messagesCount > 0;
    }

    boolean isReadable() {
        return (open & READABLE) != 0;
    }

    /** Reads at most {@code most} bytes of what has come. */
    int read(Flow flow, int most) {
        int done = 0;
        while (done < most && messagesCount > 0) {
            int message = messages[messagesHead] - partly;
            int n = Math.min(Math.min(message, most - done), receiveRing.length - readAt);
            flow.read(receiveRing.bytes, readAt, n);
            memory.move(receiveRing, receiveRing.base + readAt, n, SimMemory.WRITTEN, SimMemory.FREE, "reading");
            readAt = (readAt + n) % receiveRing.length;
            grantable += n;
            done += n;
            partly += n;
            if (partly == messages[messagesHead]) {
                partly = 0;
                messagesHead = (messagesHead + 1) % messages.length;
                messagesCount--;
                consumed = Credits.next(consumed);
            }
        }
        return done;
    }

    // ---- state ----

    boolean isConnected() {
        return connected;
    }

    boolean isDisconnected() {
        return disconnected;
    }

    boolean isError() {
        return error;
    }

    /** Ends reading, writing, or both. */
    void close(boolean reading, boolean writing) {
        if (reading) {
            open &= ~READABLE;
        }
        if (writing) {
            open &= ~WRITABLE;
        }
    }

    /** Does what the connection manager's DISCONNECTED does to the socket, and nothing else. */
    void gone() {
        if (connected) {
            disconnect();
        }
    }

    @Override
    public String toString() {
        String state = connected ? "connected" : disconnected ? "disconnected" : "error";
        return state + (isReadable() ? " readable" : "") + (isWritable() ? " writable" : "") + ", sent " + sent + " of "
                + sendLimit + ", grant " + grant + " has " + GrantBytes.length(table.bytes, grant * Grant.SIZE)
                + ", send ring " + ringFree + ", slots " + slotsFree + ", unread messages " + messagesCount + ", "
                + (armed ? "armed" : "unarmed");
    }
}
