/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.protocol;

import org.jrsocket.wire.Credits;

/**
 * One end of a connection: both halves, the memory they use, and what one half has to tell the other. A driver tells it
 * what happened and acts on the {@link Effects} that it returns. Used by one thread at a time, except that a writer may
 * copy between {@link SendMemory#reserve} and {@link #wrote}, and a reader between {@link Inbound#address} and
 * {@link #consume}, while other threads use it.
 */
public final class Connection {

    private final Inbound in;
    private final Outbound out;
    private final SendMemory sendMemory;
    private final SlabSource source;
    private final GrantTable table;
    private int sequenceAtUpdate;
    private boolean lendWaits; // for a slab that the source was not ready to give
    private int updatesDue; // data messages that the peer may still answer with a limit, at most all it has credits for

    /** Takes over what was made for the connection. Call {@link #open} once the connection is established. */
    public Connection(Inbound in, Outbound out, SendMemory sendMemory, SlabSource source, GrantTable table) {
        this.in = in;
        this.out = out;
        this.sendMemory = sendMemory;
        this.source = source;
        this.table = table;
    }

    /**
     * Begins work on the established connection. The peer is granted more than by the connection data, at once: it may
     * write all of that and close before the application here has looked, as when a server is busy. The grant also
     * tells a server whose client's RTU is lost that the client is there, which nothing else does for seconds.
     */
    public int open() {
        return grantMemory();
    }

    public Inbound in() {
        return in;
    }

    public Outbound out() {
        return out;
    }

    // ---- told of the device ----

    /** Takes a message that has arrived. The arguments are those of {@link Inbound#message}. */
    int received(int imm, int length) {
        int effects = in.message(imm, length);
        if (Effects.has(effects, Effects.LIMIT)) {
            effects |= takeUpdate(effects);
        }
        if (Effects.has(effects, Effects.ENDED)) {
            out.peerEnded();
        }
        if (Effects.has(effects, Effects.MEMORY)) {
            effects |= grantMemory();
        }
        if (Effects.has(effects, Effects.GONE)) {
            out.die();
        }
        return effects;
    }

    private int takeUpdate(int received) {
        int effects = out.limit(in.limit());
        boolean granted = false;
        if (Effects.has(received, Effects.GRANT | Effects.GRANT_POSSIBLE)) {
            int entry = in.tableIndex();
            int length = table.length(entry); // the length first: on iWARP a later grant may be arriving at this moment
            granted = length != 0;
            if (granted) {
                long address = table.address(entry);
                int key = table.key(entry);
                table.clear(entry);
                effects |= out.grant(address, key, length);
            }
            if (granted || Effects.has(received, Effects.GRANT)) {
                in.entryTaken();
            }
        }
        // A limit is an answer to data that we sent, and several may come at once. Without any data limits could go on
        // for ever, even back and forth.
        int sequence = out.sequence();
        updatesDue = Math.min(updatesDue + Credits.window(sequence, sequenceAtUpdate), Credits.MASK);
        sequenceAtUpdate = sequence;
        if (!granted) {
            if (updatesDue == 0) {
                in.broughtNothing();
            } else {
                updatesDue--;
            }
        }
        return effects;
    }

    /** Records that the receives counted by {@link Inbound#toRepost} were given back to the device. */
    int reposted() {
        boolean low = in.reposted();
        out.announceCredits(in.creditLimit(), low);
        return low ? Effects.SEND : Effects.NONE;
    }

    /** Handles the completion of the oldest request that asked for one. */
    int sendCompleted() {
        int effects = out.completed();
        in.grantsReached(out.grantsAcknowledged());
        sendMemory.acknowledged(out.acknowledged());
        return effects;
    }

    /** Stops sending for good. What has arrived can still be read, and more may be in the receive queue. */
    public void sendFailed() {
        out.die();
    }

    /** Stops sending and receiving for good. What has arrived can still be read. */
    void receiveFailed() {
        in.die();
        out.die();
    }

    /** Resets the connection because the peer broke the protocol. Nothing that it sends is used any more. */
    public void violated() {
        in.die();
        out.peerEnded();
        out.close(true, true);
    }

    /** Appends whatever may go; see {@link Outbound#build}. */
    int build(RequestSink sink) {
        int built = out.build(sink);
        in.announced(out.announcedLimit());
        in.grantsPosted(out.grantsBuilt());
        return built;
    }

    // ---- the writer ----

    /**
     * Returns the bytes that can be written at {@link SendMemory#reserve} in one piece, in another slab if necessary; 0
     * if the writer has to wait.
     */
    public int writeRoom() {
        int wanted = sendMemory.wanted();
        if (wanted > 0) {
            Slab slab = source.obtain(wanted, 1, false);
            if (slab != null) {
                sendMemory.add(slab);
            }
        }
        return sendMemory.room();
    }

    /** Adds a slab that was {@link SendMemory#wanted} before it was made, whether or not it still is. */
    public void addSendMemory(Slab slab) {
        sendMemory.add(slab);
    }

    public SendMemory sendMemory() {
        return sendMemory;
    }

    /** Records that {@code n} bytes were copied to the place that {@link SendMemory#reserve} returned. */
    public void wrote(int n) {
        if (n == 0) {
            sendMemory.wrote(0, out.written());
            return;
        }
        long address = sendMemory.reserve();
        int key = sendMemory.localKey();
        boolean last = sendMemory.wrote(n, out.written() + n);
        out.write(address, n, key, last);
    }

    /** Returns whether {@code n} bytes may go out at once: all is sent, and they fit where they are to be copied. */
    boolean mayWriteNow(RequestSink sink, int n) {
        return out.mayWriteNow(sink, n) && (out.isInline(n) || n <= sendMemory.room());
    }

    /** Builds the request for {@code n} bytes that were copied to {@link SendMemory#next}, if {@link #mayWriteNow}. */
    void writeCopied(RequestSink sink, int n) {
        long address = sendMemory.next();
        int key = sendMemory.localKey();
        boolean last = sendMemory.wrote(n, out.written() + n);
        out.writeNow(sink, address, n, key, last);
    }

    // ---- the reader ----

    /** Records that the next {@code n} bytes were read. */
    public int consume(long n) {
        return upkeep(in.consume(n));
    }

    /** Takes back {@code n} bytes that were lent. */
    public int giveBack(Slab slab, int n) {
        return upkeep(in.giveBack(slab, n));
    }

    /**
     * Continues after {@link Inbound#lend}. If with those bytes all that the peer was granted is used up, it is granted
     * more, because what is lent may never be given back.
     */
    public int lent() {
        return in.isUsedUp() ? grantMemory() : Effects.NONE;
    }

    /**
     * Grants another slab for a piece that {@link Inbound#mayLend} would not lend, if there is a slab and if that
     * helps. A reader that borrows everything would otherwise have to copy from the only slab that the peer has.
     */
    public int growToLend() {
        int wanted = in.grantWantedToLend();
        Slab finished = in.finished();
        if (wanted > 0 && finished != null) { // it waits for a larger one
            in.take();
            lendWaits = false;
            grant(finished);
            return Effects.SEND;
        }
        lendWaits = wanted > 0 && !source.isReady(wanted, 1, true);
        Slab slab = wanted == 0 || lendWaits ? null : source.obtain(wanted, 1, true);
        if (slab == null) {
            return Effects.NONE;
        }
        grant(slab);
        return Effects.SEND;
    }

    /**
     * Grants more to a peer that has filled all it was granted, up to about what TCP holds by default, for an
     * application that waits until a whole message has come before it reads.
     */
    public int growUnread() {
        return in.growUnread() ? grantMemory() : Effects.NONE;
    }

    /** Continues what waited because the source was not {@link SlabSource#isReady ready}: it has more, or refuses. */
    public int memoryCame() {
        int effects = lendWaits ? growToLend() : Effects.NONE;
        return effects | grantMemory();
    }

    private int upkeep(int effects) {
        return Effects.has(effects, Effects.MEMORY) ? effects | grantMemory() : effects;
    }

    /**
     * Grants what should be granted: finished slabs again, or others in their place. A finished slab is given up only
     * for one of the wanted size or for a larger one, because a connection keeps what it has while memory is short.
     * While the source is not ready, what is finished waits.
     */
    private int grantMemory() {
        boolean granted = false;
        for (Slab slab = in.finished(); slab != null; slab = in.finished()) {
            int wanted = in.grantWanted();
            boolean fits = wanted == 0 || wanted == slab.length();
            int least = Math.min(wanted, slab.length() + 1);
            if (!fits && !source.isReady(wanted, least, true)) {
                return granted ? Effects.SEND : Effects.NONE;
            }
            in.take();
            Slab next = fits ? null : source.obtain(wanted, least, true);
            if (wanted > 0) {
                grant(next == null ? slab : next);
                granted = true;
            }
            if (wanted == 0 || next != null) {
                source.release(slab);
            }
        }
        for (int wanted = in.grantWanted(); wanted > 0 && source.isReady(wanted, 1, true); wanted = in.grantWanted()) {
            Slab slab = source.obtain(wanted, 1, true);
            if (slab == null) {
                break;
            }
            grant(slab);
            granted = true;
        }
        return granted ? Effects.SEND : Effects.NONE;
    }

    private void grant(Slab slab) {
        in.grant(slab);
        out.announceGrant(slab);
    }

    // ---- time ----

    /** Shrinks memory to what an idle connection needs, after a long time in which nothing was sent or received. */
    public int quiet() {
        in.quiet();
        out.quiet();
        for (Slab slab = sendMemory.takeSurplus(); slab != null; slab = sendMemory.takeSurplus()) {
            source.release(slab);
        }
        return Effects.SEND;
    }

    /** Returns whether something is left to send that waits for the device or for the peer. */
    public boolean hasLeftover() {
        return out.waitsForCompletion() || out.waitsForPeer();
    }

    /** Returns what the peer did wrong, after {@link Effects#VIOLATION}. */
    public String violation() {
        return in.violation() != null ? in.violation() : out.violation();
    }
}
