/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.connect;

import java.net.InetAddress;
import java.util.concurrent.TimeUnit;
import org.jrsocket.connect.PeerState.Kind;
import org.jrsocket.stream.PendingConnect.Answer;

/** What is known about one host. Callers hold its lock. */
final class KnownHost {

    /** A silent host is asked again after this time, and then after twice as long each time. */
    static final long FIRST_PAUSE_NANOS = TimeUnit.SECONDS.toNanos(10);
    /**
     * How long a host that left a request unanswered counts as in doubt, if TCP does not say whether it is there at
     * all.
     */
    static final long DOUBT_NANOS = TimeUnit.MINUTES.toNanos(1);
    /** The longest that an attempt may take, apart from longer head starts. */
    static final long MOST_NANOS = TimeUnit.SECONDS.toNanos(2);
    /** How many times its usual answer time a host is given. */
    private static final int MARGIN = 4;
    /**
     * Connections that begin while the first one to an unknown host is waiting have the head start divided by this.
     * That is enough for a host that has RDMA. Without it, a pool that opens all its connections at once would have
     * only one of them over RDMA.
     */
    private static final int FOLLOWERS = 4;

    /** What is known about a host, just after {@link #objection} had nothing against it. */
    enum Standing {
        /** It has answered before, or nothing is to be remembered: any attempt may ask it. */
        KNOWN,
        /** It has not been asked. */
        UNKNOWN,
        /** It has been asked, and has never answered so far. */
        ASKED,
        /** It has turned out to be silent. */
        SILENT
    }

    private final long headStartNanos;
    private final long unansweredNanos;
    private boolean owing; // it has not answered a request, nor any after that
    private long owingSince; // when the oldest of those went out
    private boolean hasAnswered; // at least once
    private long lastAnswer; // when that was
    private long usualNanos; // how long its answers take; grows at once, shrinks slowly
    private int silences; // in a row
    private long until; // end of the pause after the last silence, or of the trial
    private boolean foreign; // it speaks rsocket but does not know our extension
    private boolean trial; // one connection is asking it again, because it is foreign
    private boolean probeScheduled;
    private final BrokenPath path = new BrokenPath();

    KnownHost(long headStartNanos, long unansweredNanos) {
        this.headStartNanos = headStartNanos;
        this.unansweredNanos = unansweredNanos;
    }

    // ---- questions ----

    /** Returns how long it may be silent. */
    long limit() {
        return Math.max(headStartNanos, Math.min(MARGIN * usualNanos, MOST_NANOS));
    }

    /** Returns the same for connections that are not the first of those that wait. */
    long followersLimit() {
        return hasAnswered ? limit() : headStartNanos / FOLLOWERS;
    }

    /** Returns for how long it has owed an answer; -1 if it owes none. */
    long owed(long now) {
        return owing && now - owingSince < Math.max(DOUBT_NANOS, 2 * limit()) ? now - owingSince : -1;
    }

    /** Returns how long ago it last answered; {@link Long#MAX_VALUE} if it never has. */
    long sinceAnswer(long now) {
        return hasAnswered ? now - lastAnswer : Long.MAX_VALUE;
    }

    /** Returns its standing as one more connection sees it. */
    Standing standing(long now) {
        if (hasAnswered) {
            return Standing.KNOWN;
        }
        return isSilent(now) ? Standing.SILENT : owed(now) >= 0 ? Standing.ASKED : Standing.UNKNOWN;
    }

    /** Returns whether to leave it alone: until a probe is answered or, if it is foreign, the pause is over. */
    private boolean isSilent(long now) {
        return silences == 0 ? owed(now) >= followersLimit() : !foreign || until - now > 0;
    }

    /** Returns its state, for display. */
    PeerState state(InetAddress address, long now) {
        long broken = path.left(now);
        Kind kind = silences > 0
                ? Kind.SILENT
                : broken > 0 ? Kind.PATH : owed(now) >= 0 || !hasAnswered ? Kind.ASKED : Kind.ANSWERS;
        long avoided = kind == Kind.SILENT ? Math.max(0, until - now) : broken;
        return new PeerState(address, 0, kind, avoided, usualNanos);
    }

    // ---- what happens; the memory of peers has methods of the same names ----

    /** Returns why one more connection is not to ask it; null if it is to, which then counts as begun. */
    TcpReason objection(long now) {
        if (isSilent(now)) {
            return TcpReason.REMEMBERED;
        }
        if (path.isAvoided(now)) {
            return TcpReason.PATH;
        }
        if (silences > 0) { // its application might see a probe, so one connection asks, and the others learn from that
            until = now + MOST_NANOS;
            trial = true;
        }
        path.used(now);
        return null;
    }

    long arrangeProbe(long now) {
        if (silences == 0 || foreign || probeScheduled) {
            return -1;
        }
        probeScheduled = true;
        return Math.max(0, until - now);
    }

    boolean beginProbe(long now) {
        probeScheduled = false;
        if (silences == 0) {
            return false;
        }
        silent(now);
        return true;
    }

    boolean asked(long now) {
        boolean paused = silences > 0 && !trial && until - now > 0; // it had begun when the silence was noticed
        if (paused || owed(now) >= 0) {
            return false;
        }
        owing = true;
        owingSince = now;
        return true;
    }

    void answered(Answer answer, long nanos, long now) {
        owing = false;
        silences = 0;
        hasAnswered = true;
        lastAnswer = now;
        if (answer != Answer.REFUSED) {
            foreign = answer == Answer.FOREIGN;
            usualNanos = Math.max(nanos, usualNanos - (usualNanos - nanos) / 8);
        }
    }

    void lost(long now) {
        path.lost(now);
    }

    void reached(long now) {
        if (owed(now) >= limit()) {
            silent(now);
        }
    }

    void down() {
        owing = false;
    }

    void unreachable(long now) {
        owing = false;
        if (silences == 0 || trial) { // else another attempt has said so at the same time
            silent(now);
        }
    }

    private void silent(long now) {
        long pause = FIRST_PAUSE_NANOS << Math.min(silences, 20);
        silences++;
        trial = false;
        until = now + Math.min(pause, unansweredNanos);
        owing = false;
    }
}
