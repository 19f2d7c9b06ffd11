/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.connect;

import java.net.InetAddress;
import org.jrsocket.connect.PeerMemory.Standing;
import org.jrsocket.connect.PeerState.Kind;

/** What {@link PeerMemory} knows about one host. Callers hold its lock. */
final class KnownHost {

    /** How many times its usual answer time a host is given. */
    private static final int MARGIN = 4;
    /**
     * Connections that begin while the first one to an unknown host is waiting have the head start divided by this.
     * That is enough for a host that has RDMA. Without it, a pool that opens all its connections at once would have
     * only one of them over RDMA.
     */
    private static final int FOLLOWERS = 4;

    private final long headStartNanos;
    private final long unansweredNanos;
    boolean open; // it has not answered a request, nor any after that
    long openSince; // when the oldest of those went out
    boolean spoke;
    long spokeAt;
    long usual; // how long its answers take; grows at once, shrinks slowly
    int silences; // in a row
    long until; // end of the pause after the last silence
    boolean foreign; // it speaks rsocket but does not know our extension
    boolean asking; // a connection is asking it, because it is foreign
    boolean probing; // a probe is scheduled
    final BrokenPath path = new BrokenPath();

    KnownHost(long headStartNanos, long unansweredNanos) {
        this.headStartNanos = headStartNanos;
        this.unansweredNanos = unansweredNanos;
    }

    /** Returns how long it may be silent. */
    long limit() {
        return Math.max(headStartNanos, Math.min(MARGIN * usual, PeerMemory.MOST_NANOS));
    }

    /** Returns the same for connections that are not the first of those that wait. */
    long followersLimit() {
        return spoke ? limit() : headStartNanos / FOLLOWERS;
    }

    /** Returns for how long it has owed an answer; -1 if it owes none. */
    long owed(long now) {
        return open && now - openSince < Math.max(PeerMemory.DOUBT_NANOS, 2 * limit()) ? now - openSince : -1;
    }

    boolean isOverdue(long now) {
        return owed(now) >= limit();
    }

    /** Returns its standing as one more connection sees it. */
    Standing standing(long now) {
        if (spoke) {
            return Standing.KNOWN;
        }
        return isSilent(now) ? Standing.SILENT : owed(now) >= 0 ? Standing.ASKED : Standing.UNKNOWN;
    }

    /** Returns whether to leave it alone: until a probe is answered or, if it is foreign, the pause is over. */
    private boolean isSilent(long now) {
        return silences == 0 ? owed(now) >= followersLimit() : !foreign || until - now > 0;
    }

    /** Returns why one more connection is not to ask it; null if it is to, which then counts as begun. */
    TcpReason objection(long now) {
        if (isSilent(now)) {
            return TcpReason.REMEMBERED;
        }
        if (silences > 0) { // its application might see a probe, so one connection asks, and the others learn from that
            until = now + PeerMemory.MOST_NANOS;
            asking = true;
        }
        if (path.isAvoided(now)) {
            return TcpReason.PATH;
        }
        path.used(now);
        return null;
    }

    void silent(long now) {
        long pause = PeerMemory.FIRST_PAUSE_NANOS << Math.min(silences, 20);
        silences++;
        asking = false;
        until = now + Math.min(pause, unansweredNanos);
        open = false;
    }

    /** Returns its state, for display. */
    PeerState state(InetAddress address, long now) {
        long broken = path.left(now);
        Kind kind = silences > 0
                ? Kind.SILENT
                : broken > 0 ? Kind.PATH : owed(now) >= 0 || !spoke ? Kind.ASKED : Kind.ANSWERS;
        long avoided = kind == Kind.SILENT ? Math.max(0, until - now) : broken;
        return new PeerState(address, 0, kind, avoided, usual);
    }
}
