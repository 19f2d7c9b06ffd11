/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.protocol;

import org.jrsocket.wire.ConnData;
import org.jrsocket.wire.Grant;
import org.jrsocket.wire.Imm;

/**
 * The incoming half of a connection: the peer's messages, the memory that it was granted, receives and credits. Every
 * value comes from the network, and is checked here against what was granted before it is used. Used by one thread at a
 * time.
 */
public final class Inbound {

    /** The states of this half, in order; it only moves forward. */
    private enum State {
        OPEN,
        /** The peer sends no more data. */
        ENDED,
        /** The peer is gone, or broke the protocol. */
        GONE
    }

    /** Receives to be posted in addition to the credits that are advertised. */
    public static final int SPARE_RECEIVES = ReceiveQueue.SPARE;
    /** The most grants that may be unused at once, however large the peer's table is. */
    public static final int MOST_GRANTS = GrantSizing.MOST_GRANTS;
    /** The length for {@link #message} if the device does not tell how much was written, as on iWARP. */
    public static final int UNKNOWN_LENGTH = -1;

    private final ReceiveMemory memory;
    private final ReceiveQueue queue;
    private final int tableEntries;
    /**
     * Whether our own control codes can come. A peer of ours knows that we understand them, even if it does not
     * understand them itself.
     */
    private final boolean ofOurKind;

    private State state = State.OPEN;
    // the peer writes its grants from entry 1 on: entry 0 stands for the one in its connection data
    private int tableIndex = 1;
    private int limit;
    private long consumed;
    private long idleMessages;
    private String violation;

    /**
     * Creates the incoming half.
     *
     * @param peer what the peer said about itself
     * @param tableEntries entries of our own grant table
     * @param credits the credits of our connection data
     * @param first the slab of our connection data; slabs of its size are the smallest that will be granted
     * @param most bytes of receive memory that the connection may hold; at least twice {@code first}
     */
    public Inbound(ConnData peer, int tableEntries, int credits, Slab first, int most) {
        int grants = Math.min(peer.targetLength(), MOST_GRANTS);
        this.memory = new ReceiveMemory(first, grants, new GrantSizing(first.length(), most, grants));
        this.queue = new ReceiveQueue(credits);
        this.tableEntries = tableEntries;
        this.ofOurKind = peer.hasExtension();
    }

    private void to(State next) {
        assert next.compareTo(state) > 0 : state + " to " + next;
        state = next;
    }

    // ---- told of the peer ----

    /**
     * Takes a message of the peer's that has arrived and used up a receive.
     *
     * @param imm its immediate data, in host order
     * @param length bytes that came with it, or {@link #UNKNOWN_LENGTH}
     */
    int message(int imm, int length) {
        if (state == State.GONE) {
            return Effects.NONE;
        }
        return switch (Imm.op(imm)) {
            case Imm.OP_DATA -> data(Imm.value(imm), length);
            case Imm.OP_SGL -> update(Imm.limit(imm), length);
            case Imm.OP_CTRL -> control(imm, length);
            default -> wrong("a message of unknown kind, immediate data 0x" + Integer.toHexString(imm));
        };
    }

    private int data(int n, int length) {
        if (!queue.data()) {
            return wrong("more data messages than it has credits for");
        }
        if (n == 0 || state == State.ENDED) {
            idleMessages++;
            // C's reader would take 0 bytes for the end; here they mean nothing. And C lets an application send after
            // its own shutdown; nobody reads that.
            return Effects.NONE;
        }
        if (length != n && length != UNKNOWN_LENGTH) {
            return wrong("data of " + length + " bytes announced as " + n);
        }
        String tooMuch = memory.arrived(n);
        return tooMuch != null ? wrong(tooMuch) : Effects.READABLE;
    }

    private int update(int newLimit, int length) {
        queue.control();
        limit = newLimit;
        return switch (length) {
            case 0 -> Effects.LIMIT;
            case Grant.SIZE -> Effects.LIMIT | Effects.GRANT;
            case UNKNOWN_LENGTH -> Effects.LIMIT | Effects.GRANT_POSSIBLE;
            default -> wrong("a credit update of " + length + " bytes");
        };
    }

    private int control(int imm, int length) {
        queue.control();
        idleMessages++; // including those that mean something, because each of these is rare
        if (length != 0 && length != UNKNOWN_LENGTH) {
            return wrong("a control message of " + length + " bytes");
        }
        return switch (Imm.code(imm)) {
            case Imm.CTRL_SHUTDOWN -> end();
            case Imm.CTRL_DISCONNECT -> {
                int effects = end();
                to(State.GONE);
                yield effects | Effects.GONE;
            }
            case Imm.CTRL_RESET -> ofOurKind ? reset() : Effects.NONE;
            case Imm.CTRL_RELEASE -> ofOurKind && state == State.OPEN ? release(Imm.grants(imm)) : Effects.NONE;
            default -> Effects.NONE; // as in C: ignoring unknown codes lets later versions talk to this one
        };
    }

    private int reset() {
        return switch (state) {
            case OPEN -> Effects.RESET;
            case ENDED -> Effects.RESET_AFTER_END;
            case GONE -> Effects.NONE;
        };
    }

    private int end() {
        if (state == State.OPEN) {
            to(State.ENDED);
            memory.end();
        }
        return Effects.ENDED | Effects.MEMORY;
    }

    private int release(int seen) {
        String wrong = memory.released(seen);
        return wrong != null ? wrong(wrong) : Effects.MEMORY;
    }

    private int wrong(String what) {
        violation = what;
        if (state != State.GONE) {
            to(State.GONE);
            memory.end();
        }
        return Effects.VIOLATION;
    }

    /** Returns what the peer did wrong, after {@link Effects#VIOLATION}. */
    String violation() {
        return violation;
    }

    /** Ends this half because the connection failed: nothing more will arrive. */
    void die() {
        if (state != State.GONE) {
            to(State.GONE);
            memory.end();
        }
    }

    /** Returns the limit of the last {@link Effects#LIMIT}. */
    int limit() {
        return limit;
    }

    /** Returns which entry of our grant table holds the grant of the last {@link Effects#GRANT}. */
    int tableIndex() {
        return tableIndex;
    }

    /** Records that the entry was taken and cleared. */
    void entryTaken() {
        tableIndex = (tableIndex + 1) % tableEntries;
    }

    /** Counts an update that granted no bytes and was not prompted by anything that we sent. */
    void broughtNothing() {
        idleMessages++;
    }

    // ---- receives and credits ----

    /** Returns the receives that should be given back to the device now; 0 while they are not worth a call. */
    int toRepost() {
        return queue.toRepost();
    }

    /**
     * Records that they were given back. Afterwards, {@code Outbound.announceCredits} has to be told the
     * {@link #creditLimit}.
     *
     * @return whether the peer's credits run low
     */
    boolean reposted() {
        queue.reposted();
        return queue.wantsAnnouncement();
    }

    /** Returns the credit limit that is backed by posted receives. */
    int creditLimit() {
        return queue.limit();
    }

    /** Records the limit that the peer was told, {@code Outbound.announcedLimit}. */
    void announced(int newLimit) {
        queue.announced(newLimit);
    }

    // ---- memory ----

    /** Returns the bytes of the slab that should be granted now; 0 if none should be. */
    int grantWanted() {
        return memory.wanted();
    }

    /**
     * Takes {@code slab}, which will be granted; {@code Outbound.announceGrant} has to be told. It may be smaller or
     * larger than what was wanted.
     */
    void grant(Slab slab) {
        memory.grant(slab);
    }

    /** Records that the first {@code Outbound.grantsBuilt} grants are posted: the peer cannot use them before. */
    void grantsPosted(int n) {
        memory.grantsPosted(n);
    }

    /** Records that the first {@code Outbound.grantsAcknowledged} grants have reached the peer's device. */
    void grantsReached(int n) {
        memory.grantsReached(n);
    }

    /** Returns a slab that is no longer in use, to be {@link #take taken}, then granted again or freed; or null. */
    Slab finished() {
        return memory.peekFinished();
    }

    /** Takes the slab that {@link #finished} returns. */
    void take() {
        memory.takeFinished();
    }

    /** Records that some seconds have passed. */
    public void timePassed() {
        memory.timePassed();
    }

    /** Records that nothing has come for long. */
    void quiet() {
        memory.quiet();
    }

    /** Returns the bytes of receive memory. */
    public long heldBytes() {
        return memory.held();
    }

    // ---- the reader ----

    /** Returns the bytes that can be read. */
    public long readable() {
        return memory.readable();
    }

    /** Returns where the next byte lies. Only valid while something can be read. */
    public long address() {
        return memory.address();
    }

    /** Returns the slab in which the next byte lies. Only valid while something can be read. */
    public Slab slab() {
        return memory.slab();
    }

    /** Returns the bytes that lie at {@link #address} in one piece; 0 if nothing can be read. */
    public int piece() {
        return memory.piece();
    }

    /** Records that the next {@code n} bytes were read. */
    int consume(long n) {
        memory.consume(n);
        consumed += n;
        return memoryEffect();
    }

    /** See {@link ReceiveMemory#growUnread}. */
    boolean growUnread() {
        return memory.growUnread();
    }

    /** Returns whether the next piece may be lent; if not, it has to be copied. */
    public boolean mayLend() {
        return memory.mayLend();
    }

    /** Returns the bytes of another slab to grant so that the next piece may be lent; 0 if none helps. */
    int grantWantedToLend() {
        return memory.wantedToLend();
    }

    /**
     * Lends the next {@code n} bytes, in one piece. They count as read, and stay where they are until given back. No
     * memory is granted in exchange: most of what is lent comes back soon and is granted again, and other memory would
     * be registered and freed each time. {@link #mayLend} ensures that the peer can continue.
     */
    public Slab lend(int n) {
        Slab slab = memory.lend(n);
        consumed += n;
        return slab;
    }

    boolean isUsedUp() {
        return memory.isUsedUp();
    }

    /** Gives {@code n} bytes back, in any order. */
    int giveBack(Slab slab, int n) {
        memory.giveBack(slab, n);
        return memoryEffect();
    }

    private int memoryEffect() {
        return memory.hasFinished() || memory.wanted() > 0 ? Effects.MEMORY : Effects.NONE;
    }

    /** Returns the bytes read so far. */
    public long consumed() {
        return consumed;
    }

    /** Returns the number of messages that brought neither bytes nor room; a peer that keeps the rules sends few. */
    public long idleMessages() {
        return idleMessages;
    }
}
