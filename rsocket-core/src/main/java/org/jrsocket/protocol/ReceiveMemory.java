/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.protocol;

import java.util.ArrayDeque;

/**
 * The ledger of receive memory: slabs in the order in which they were granted. The peer fills them in that order, each
 * to its last byte. The application reads them in that order, and may borrow parts, which it gives back in any order. A
 * slab that is filled, read and given back is finished: it, or another one in its place, is granted again.
 */
final class ReceiveMemory {

    private final int entries;
    private final GrantSizing sizing;
    private final ArrayDeque<Slab> granted; // not yet full, the one being filled first; has room for all entries
    private final SlabQueue unread = new SlabQueue(); // full, or being filled, and not yet read to the end
    private final SlabQueue finished = new SlabQueue();
    private int grantsDone; // by message, so without the first one: how many are full or were given up
    private boolean firstDone;
    private int grantsPosted; // by message
    private int grantsReached; // by message: how many are in the peer's memory
    private long held; // bytes of all slabs
    private long lentSlabs; // bytes of the slabs of which any part is lent
    private long lentOnly; // bytes of those among them that only wait to be given back
    private long readable;
    private boolean open = true;

    /** @param first the slab that our connection data grants */
    ReceiveMemory(Slab first, int entries, GrantSizing sizing) {
        this(first, entries, sizing, 0);
    }

    /** For tests: as if so many grants had already come and gone, since their counts may pass the largest int. */
    ReceiveMemory(Slab first, int entries, GrantSizing sizing, int grants) {
        this.entries = entries;
        this.granted = new ArrayDeque<>(entries);
        this.sizing = sizing;
        this.grantsDone = grants;
        this.grantsPosted = grants;
        this.grantsReached = grants;
        enter(first);
    }

    private void enter(Slab slab) {
        slab.renew();
        granted.add(slab);
        held += slab.length();
    }

    // ---- granting ----

    /**
     * Returns the bytes of the slab that should be granted now; 0 if none should be. It may take the place of the slab
     * that {@link #peekFinished} returns.
     */
    int wanted() {
        if (!open || granted.size() >= entries) {
            return 0;
        }
        long others = heldByOthers();
        // An application may keep for ever what it was lent, so that is not part of the window. mayLend leaves room for
        // a slab in addition to it, if need be a small one. If nothing is lent, a full window waits for a slab to be
        // read instead: small slabs between large ones would never again leave room for four large ones.
        int slab = sizing.slab();
        int size = lentOnly == 0 || others + slab <= sizing.most() ? slab : sizing.smallest();
        return others - lentOnly + size <= sizing.window() && others + size <= sizing.most() ? size : 0;
    }

    private long heldByOthers() {
        Slab replaced = finished.peek();
        return replaced == null ? held : held - replaced.length();
    }

    /** Takes {@code slab}, which the next message grants; its length may differ from what was wanted. */
    void grant(Slab slab) {
        if (!open || granted.size() >= entries) {
            throw new IllegalStateException("a grant too many");
        }
        enter(slab);
    }

    /** Records that the first {@code n} grants are posted. */
    void grantsPosted(int n) {
        grantsPosted = n;
    }

    /**
     * Records that the first {@code n} grants have reached the peer. What it sent before the last of them has arrived
     * here by now. So if all memory before that grant is full, the peer was waiting for it.
     */
    void grantsReached(int n) {
        if (n - grantsReached > 0) { // the difference, because the counts wrap from the largest int to the smallest
            grantsReached = n;
            if (firstDone && grantsDone - (n - 1) >= 0) {
                sizing.ranDry();
            }
        }
    }

    /** Returns a slab that is no longer in use, or null. The caller grants it again or frees it. */
    Slab takeFinished() {
        Slab slab = finished.poll();
        if (slab != null) {
            held -= slab.length();
        }
        return slab;
    }

    /** Returns the slab that {@link #takeFinished} would take, or null. */
    Slab peekFinished() {
        return finished.peek();
    }

    boolean hasFinished() {
        return !finished.isEmpty();
    }

    /** Records that all that will ever be in {@code slab} was read. */
    private void read(Slab slab) {
        sizing.read(slab.length());
        if (slab.lent == 0) {
            finished.add(slab);
        } else {
            lentOnly += slab.length();
        }
    }

    /**
     * Makes the window larger if the peer has filled all of it and nothing is read. Returns whether a slab is wanted,
     * which may be one that was refused before.
     */
    boolean growUnread() {
        if (!open || readable == 0 || !granted.isEmpty()) {
            return false;
        }
        if (wanted() == 0) {
            sizing.growUnread();
        }
        return wanted() > 0;
    }

    // ---- arriving ----

    /** Takes the peer's word that it has written {@code n} more bytes. Returns null, or what is wrong. */
    String arrived(int n) {
        Slab slab = firstDone && grantsDone == grantsPosted ? null : granted.peek();
        if (slab == null || n > slab.granted - slab.filled) {
            return "data of " + n + " bytes beyond the " + (slab == null ? 0 : slab.granted - slab.filled)
                    + " granted there";
        }
        if (slab.filled == slab.consumed && unread.peekLast() != slab) {
            unread.add(slab);
        }
        slab.filled += n;
        readable += n;
        if (slab.isFull()) {
            granted.remove();
            done();
            if (granted.isEmpty()) {
                sizing.ranDry();
            }
        }
        return null;
    }

    private void done() {
        if (firstDone) {
            grantsDone++;
        } else {
            firstDone = true;
        }
    }

    /**
     * Takes back what is left of the grants that the peer has seen, and gives up.
     *
     * @param seen how many grants it has seen by message, modulo 2^16
     * @return null, or what is wrong
     */
    String released(int seen) {
        int more = (short) (seen - grantsDone);
        if (more < 0 || more > grantsPosted - grantsDone) {
            return "a release of " + seen + " grants with " + grantsPosted + " posted and " + grantsDone + " used up";
        }
        int giveUp = more + (firstDone ? 0 : 1);
        for (int i = 0; i < giveUp; i++) {
            Slab slab = granted.remove();
            done();
            slab.granted = slab.filled;
            if (slab.isRead()) {
                unread.remove(slab);
                read(slab);
            }
        }
        sizing.quiet();
        return null;
    }

    /** Ends receiving: the peer sends no more, and what it was granted is free once what has come is read. */
    void end() {
        open = false;
        for (Slab slab = granted.poll(); slab != null; slab = granted.poll()) {
            slab.granted = slab.filled;
            if (slab.isRead()) {
                unread.remove(slab);
                read(slab);
            }
        }
    }

    /** Records that some seconds have passed: only what is read within such a time makes a connection busy. */
    void timePassed() {
        sizing.timePassed();
    }

    /** Records that nothing has come for long: what is granted from now on is small. */
    void quiet() {
        sizing.quiet();
    }

    // ---- reading ----

    long readable() {
        return readable;
    }

    /** Returns where the next byte to be read lies. */
    long address() {
        Slab slab = unread.peek();
        return slab.address() + slab.consumed;
    }

    /** Returns the slab in which it lies. */
    Slab slab() {
        return unread.peek();
    }

    /** Returns the bytes that lie there in one piece; 0 if nothing can be read. */
    int piece() {
        Slab slab = unread.peek();
        return slab == null ? 0 : slab.filled - slab.consumed;
    }

    /** Records that the next {@code n} bytes were read. */
    void consume(long n) {
        if (n > readable) {
            throw new IllegalArgumentException(n + " of " + readable + " bytes");
        }
        long left = n;
        while (left > 0) {
            int part = (int) Math.min(left, piece());
            consumePiece(part);
            left -= part;
        }
    }

    private void consumePiece(int n) {
        Slab slab = unread.peek();
        slab.consumed += n;
        readable -= n;
        if (slab.consumed == slab.filled) {
            unread.poll(); // is added again when the peer fills more of it
            if (slab.isRead()) {
                read(slab);
            }
        }
        if (readable == 0) {
            sizing.keptUp();
        }
    }

    /**
     * Returns whether the peer can continue to send when the slab to be read next is lent, even if what is lent never
     * comes back and there is no more memory. That takes another slab that is already granted, or one that is unread,
     * which can be copied from and then granted again. A peer that sends no more needs none.
     */
    boolean mayLend() {
        Slab slab = unread.peek();
        if (slab == null || slab.lent > 0) {
            return slab != null;
        }
        return (!open || hasAnother(slab)) && isRoomToLend(slab);
    }

    private boolean hasAnother(Slab slab) {
        return granted.size() > (granted.peek() == slab ? 1 : 0)
                || unread.hasSeveral(); // what comes after this one is untouched
    }

    /** Returns whether there is room for a slab in addition to all that is lent. */
    private boolean isRoomToLend(Slab slab) {
        return lentSlabs + slab.length() + sizing.slab() <= sizing.most();
    }

    /**
     * Returns the bytes of another slab to grant so that the slab to be read next may be lent; 0 if none helps. It may
     * take the place of the slab that {@link #peekFinished} returns.
     */
    int wantedToLend() {
        Slab slab = unread.peek();
        if (!open || slab == null || slab.lent > 0 || hasAnother(slab) || !isRoomToLend(slab)) {
            return 0;
        }
        long others = heldByOthers();
        int size = others + sizing.slab() <= sizing.most() ? sizing.slab() : sizing.smallest();
        return granted.size() < entries && others + size <= sizing.most() ? size : 0;
    }

    /**
     * Counts the next {@code n} bytes, which lie in one piece, as read, and keeps their slab until they are given back.
     */
    Slab lend(int n) {
        if (n < 1 || n > piece()) {
            throw new IllegalArgumentException(n + " of " + piece() + " bytes in one piece");
        }
        Slab slab = unread.peek();
        if (slab.lent == 0) {
            lentSlabs += slab.length();
        }
        slab.lent += n;
        consumePiece(n);
        return slab;
    }

    /**
     * Returns whether the peer has filled all that it was granted, or given it up, and all that came is read or lent.
     */
    boolean isUsedUp() {
        return open && granted.isEmpty() && unread.isEmpty();
    }

    void giveBack(Slab slab, int n) {
        if (n < 1 || n > slab.lent) {
            throw new IllegalArgumentException(n + " bytes given back of " + slab.lent + " that were lent");
        }
        slab.lent -= n;
        if (slab.lent == 0) {
            lentSlabs -= slab.length();
            if (slab.isRead()) {
                lentOnly -= slab.length();
                finished.add(slab);
            }
        }
    }

    /** Returns the bytes of all slabs. */
    long held() {
        return held;
    }
}
