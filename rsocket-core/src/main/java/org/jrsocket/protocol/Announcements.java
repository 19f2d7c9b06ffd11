/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.protocol;

import java.util.Arrays;
import org.jrsocket.wire.Grant;
import org.jrsocket.wire.Imm;

/**
 * What we have to tell the peer so that it can send: slabs that it may fill, and its credit limit. A grant goes into
 * the peer's table, whose entries are used in turn, starting with the second; the limit is sent with it.
 * {@link ReceiveMemory} ensures that no entry is overwritten before the peer has used it.
 */
final class Announcements {

    private final long table;
    private final int tableKey;
    private final int entries;
    private int index = 1; // entry 0 stands for the first grant, which went out with our connection data

    private final Slab[] waiting;
    private int head;
    private int count;
    private int limit;
    private int announcedLimit;
    private boolean creditsWanted;

    /** @param limit the credits of our connection data */
    Announcements(long table, int tableKey, int entries, int limit) {
        this.table = table;
        this.tableKey = tableKey;
        this.entries = entries;
        this.waiting = new Slab[Math.min(entries, GrantSizing.MOST_GRANTS)];
        this.limit = limit;
        this.announcedLimit = limit;
    }

    void grant(Slab slab) {
        if (count == waiting.length) {
            throw new IllegalStateException("more grants than the peer's table has entries");
        }
        waiting[(head + count) % waiting.length] = slab;
        count++;
    }

    /** Sets the limit that goes out with the next message; {@code now} asks for a message of its own. */
    void credits(int newLimit, boolean now) {
        limit = newLimit;
        creditsWanted |= now && newLimit != announcedLimit;
    }

    boolean isEmpty() {
        return count == 0 && !creditsWanted;
    }

    boolean hasGrant() {
        return count > 0;
    }

    int announcedLimit() {
        return announcedLimit;
    }

    void buildGrant(RequestSink sink, boolean signaled) {
        Slab slab = waiting[head];
        waiting[head] = null;
        head = (head + 1) % waiting.length;
        count--;
        sink.grant(limitMessage(), table + (long) Grant.SIZE * index, tableKey, slab, signaled);
        index = (index + 1) % entries;
    }

    void buildCredits(RequestSink sink, boolean signaled) {
        sink.control(limitMessage(), signaled);
    }

    private int limitMessage() {
        announcedLimit = limit;
        creditsWanted = false;
        return Imm.sgl(limit);
    }

    /** Drops what is waiting: the peer sends no more, and needs neither grants nor credits. */
    void clear() {
        Arrays.fill(waiting, null);
        count = 0;
        creditsWanted = false;
    }
}
