/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.connect;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.jrsocket.connect.KnownHost.Standing;
import org.jrsocket.connect.PeerState.Kind;
import org.jrsocket.stream.PendingConnect.Answer;

/**
 * What is known about peers: hosts that do not answer over RDMA, addresses and ports that refuse it, and how long
 * answers take. This decides whether RDMA is worth an attempt, and how long an attempt may last. Bounded, and forgets
 * by itself. Safe for use by many threads.
 */
final class PeerMemory {

    /**
     * Enough for any real set of peers. A client that talks to more forgets those that it has not talked to for the
     * longest time, and has to find out about them again.
     */
    static final int CAPACITY = 4096;

    /**
     * A port that had taken RDMA connections is left alone only if it refuses again this long after the first time, and
     * then for this long: its server may be about to listen, and connections that use TCP in the meantime stay with
     * TCP. A refusal costs a round trip.
     */
    static final long FIRST_REFUSAL_NANOS = TimeUnit.MILLISECONDS.toNanos(100);
    /** How many head starts this host itself may take to resolve addresses and make queues before the peer is asked. */
    private static final int PREPARATION = 5;

    /** @param pause 0 for the first refusal of a port that had taken connections, which causes no pause yet */
    private record Refusal(long until, long pause) {}

    private final Map<InetAddress, KnownHost> hosts = bounded();
    private final Map<InetSocketAddress, Refusal> refusals = bounded();
    /** The addresses and ports that have taken an RDMA connection. */
    private final Set<InetSocketAddress> willing = ConcurrentHashMap.newKeySet();

    private final long headStartNanos;
    private final long unansweredNanos;
    private final long rejectedNanos;
    private final LongSupplier clock;

    /** @param clock nanoseconds, as {@link System#nanoTime} */
    PeerMemory(long headStartNanos, long unansweredNanos, long rejectedNanos, LongSupplier clock) {
        this.headStartNanos = headStartNanos;
        this.unansweredNanos = unansweredNanos;
        this.rejectedNanos = rejectedNanos;
        this.clock = clock;
    }

    // ---- asking ----

    /**
     * Returns why an attempt over RDMA would be wasted, as far as is known; null if it would not, in which case the
     * caller is expected to make it.
     */
    TcpReason objection(InetSocketAddress peer) {
        if (!refusals.isEmpty()) {
            Refusal refusal = refusals.get(peer);
            long over = refusal == null ? 0 : clock.getAsLong() - refusal.until;
            if (over < 0) {
                return TcpReason.REMEMBERED;
            }
            if (refusal != null && over >= Math.max(rejectedNanos, 2 * FIRST_REFUSAL_NANOS)) {
                refusals.remove(peer, refusal);
            }
        }
        KnownHost host = host(peer);
        if (host == null || unansweredNanos == 0) {
            return null;
        }
        synchronized (host) {
            return host.objection(clock.getAsLong());
        }
    }

    /**
     * Decides whether a silent host is to be probed by the caller, who is then expected to schedule that.
     *
     * @return after how many nanoseconds; negative if it is not to be probed, or if a probe is scheduled already
     */
    long arrangeProbe(InetSocketAddress peer) {
        KnownHost host = host(peer);
        if (host == null) {
            return -1;
        }
        synchronized (host) {
            return host.arrangeProbe(clock.getAsLong());
        }
    }

    /**
     * Records that a probe is about to be sent, which counts as a silence unless it is answered. Returns false if there
     * is no need.
     */
    boolean beginProbe(InetSocketAddress peer) {
        KnownHost host = host(peer);
        if (host == null) {
            return false;
        }
        synchronized (host) {
            return host.beginProbe(clock.getAsLong());
        }
    }

    /**
     * Returns how long an attempt may still go on. Silence is what ends it, not time: an attempt that waits for this
     * host's own work, or for a peer that is answering others, is not kept waiting by a silent host. Of those that ask
     * a host of which nothing is known, the first waits for the whole head start, the others for a part of it.
     *
     * @param age the age of the attempt, nanoseconds
     * @param asked how long ago its own request went out, negative if it has not
     * @param first what {@link #asked} returned for its own request
     */
    long left(InetSocketAddress peer, long age, long asked, boolean first) {
        KnownHost host = host(peer);
        long most = most() - age;
        if (host == null) {
            return Math.min(most, asked < 0 ? PREPARATION * headStartNanos - age : headStartNanos - asked);
        }
        synchronized (host) {
            long now = clock.getAsLong();
            long silence = unansweredNanos == 0 ? asked : Math.max(asked, host.owed(now));
            long limit = silence < 0
                    ? PREPARATION * headStartNanos
                    : first || unansweredNanos == 0 ? host.limit() : host.followersLimit();
            return Math.min(most, limit - Math.min(silence < 0 ? age : silence, host.sinceAnswer(now)));
        }
    }

    /** Returns the longest that an attempt may take, nanoseconds. */
    long most() {
        return Math.max(KnownHost.MOST_NANOS, (PREPARATION + 1) * headStartNanos);
    }

    Standing standing(InetSocketAddress peer) {
        if (unansweredNanos == 0) {
            return Standing.KNOWN;
        }
        KnownHost host = host(peer);
        if (host == null) {
            return Standing.UNKNOWN;
        }
        synchronized (host) {
            return host.standing(clock.getAsLong());
        }
    }

    /** Returns the age of an attempt that begins now. */
    AttemptAge newAttempt() {
        return new AttemptAge(clock);
    }

    // ---- learning ----

    /**
     * Records that a request went out.
     *
     * @return whether it is the only one that the host has not answered
     */
    boolean asked(InetSocketAddress peer) {
        KnownHost host = hostToBe(peer);
        synchronized (host) {
            return host.asked(clock.getAsLong());
        }
    }

    private KnownHost hostToBe(InetSocketAddress peer) {
        KnownHost host = host(peer);
        if (host == null) {
            host = hosts.computeIfAbsent(peer.getAddress(), address -> new KnownHost(headStartNanos, unansweredNanos));
        }
        return host;
    }

    /**
     * Records that the host answered.
     *
     * @param nanos how long the answer took
     */
    void answered(InetSocketAddress peer, Answer answer, long nanos) {
        KnownHost host = hostToBe(peer); // it may have been forgotten in the meantime
        synchronized (host) {
            host.answered(answer, nanos, clock.getAsLong());
        }
    }

    /** Records that a connection over RDMA was lost on the path to the host. */
    void lost(InetSocketAddress peer) {
        if (unansweredNanos > 0) {
            KnownHost host = hostToBe(peer);
            synchronized (host) {
                host.lost(clock.getAsLong());
            }
        }
    }

    /** Records that TCP reached the host: if it owes an answer over RDMA, it is up and silent. */
    void reached(InetSocketAddress peer) {
        KnownHost host = host(peer);
        if (host != null) {
            synchronized (host) {
                host.reached(clock.getAsLong());
            }
        }
    }

    /** Records that TCP did not reach the host either: nothing is to be learned from its silence. */
    void down(InetSocketAddress peer) {
        KnownHost host = host(peer);
        if (host != null) {
            synchronized (host) {
                host.down();
            }
        }
    }

    /** Records that the host cannot be reached over RDMA, although TCP reached it. */
    void unreachable(InetSocketAddress peer) {
        asked(peer);
        KnownHost host = host(peer);
        if (host != null) {
            synchronized (host) {
                host.unreachable(clock.getAsLong());
            }
        }
    }

    /**
     * Records that no device serves the address, so nothing was asked: a reason to leave it alone, but not for long.
     */
    void unserved(InetSocketAddress peer) {
        refuse(peer, rejectedNanos);
    }

    /** Records that nothing takes RDMA connections on this port, although something takes TCP connections. */
    void rejected(InetSocketAddress peer) {
        if (!willing.contains(peer)) {
            refuse(peer, rejectedNanos);
            return;
        }
        Refusal last = refusals.get(peer);
        if (last == null) {
            refuse(peer, 0);
        } else if (clock.getAsLong() - last.until >= (last.pause == 0 ? FIRST_REFUSAL_NANOS : 0)) {
            refuse(peer, Math.min(rejectedNanos, last.pause == 0 ? FIRST_REFUSAL_NANOS : 2 * last.pause));
        } // else it was asked before the last refusal arrived, or soon after, so this is nothing new
    }

    private void refuse(InetSocketAddress peer, long pause) {
        if (rejectedNanos > 0) {
            refusals.put(peer, new Refusal(clock.getAsLong() + pause, pause));
        }
    }

    /** Records that RDMA worked: what was remembered is outdated. */
    void worked(InetSocketAddress peer) {
        if (!refusals.isEmpty()) {
            refusals.remove(peer);
        }
        if (!willing.contains(peer)) {
            if (willing.size() >= CAPACITY) {
                willing.clear();
            }
            willing.add(peer);
        }
    }

    // ---- for people ----

    List<PeerState> states() {
        List<PeerState> states = new ArrayList<>();
        hosts.forEach((address, host) -> {
            synchronized (host) {
                states.add(host.state(address, clock.getAsLong()));
            }
        });
        refusals.forEach((peer, refusal) -> {
            long left = refusal.until - clock.getAsLong();
            if (left > 0) {
                states.add(new PeerState(peer.getAddress(), peer.getPort(), Kind.REFUSED, left, 0));
            }
        });
        return states;
    }

    /**
     * Forgets everything.
     *
     * @return how many peers there were
     */
    int clear() {
        int count = hosts.size() + refusals.size();
        hosts.clear();
        refusals.clear();
        willing.clear();
        return count;
    }

    /** Returns how many hosts or how many refusals are remembered, whichever is more. For tests. */
    int size() {
        return Math.max(hosts.size(), refusals.size());
    }

    private KnownHost host(InetSocketAddress peer) {
        return hosts.get(peer.getAddress());
    }

    /** Returns a map with one lock, which is held no longer than a lookup takes, except to show the whole map. */
    private static <K, V> Map<K, V> bounded() {
        return Collections.synchronizedMap(new RecentlyUsed<>());
    }

    /** A map that drops its least recently used entry to make room. */
    private static final class RecentlyUsed<K, V> extends LinkedHashMap<K, V> {

        RecentlyUsed() {
            super(16, 0.75f, true);
        }

        @Override
        protected boolean removeEldestEntry(Map.Entry<K, V> eldest) {
            return size() > CAPACITY;
        }
    }
}
