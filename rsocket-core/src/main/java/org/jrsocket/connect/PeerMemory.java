/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.connect;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.Iterator;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/**
 * What is known of peers: hosts that do not answer over RDMA, addresses and ports that refuse it, and how long those
 * that answer take. From it follows whether RDMA is worth an attempt, and how long one may last. Bounded, and forgets
 * by itself. Safe for use by many threads.
 */
final class PeerMemory {

    /** Enough for any real set of peers; a client that talks to more pays for some of them twice. */
    static final int CAPACITY = 4096;

    /** A silent host is asked again after this time, by one connection, and then after twice as long each time. */
    static final long FIRST_PAUSE_NANOS = TimeUnit.SECONDS.toNanos(10);
    /**
     * The same for a port that refuses and had taken RDMA connections before: its server may be starting. A refusal
     * costs a round trip.
     */
    static final long FIRST_REFUSAL_NANOS = TimeUnit.MILLISECONDS.toNanos(100);
    /**
     * How long a host counts as one in doubt that left a request unanswered, if TCP does not say whether it is there at
     * all.
     */
    static final long DOUBT_NANOS = TimeUnit.MINUTES.toNanos(1);
    /** The most that an attempt may take, head starts that are longer excepted. */
    static final long MOST_NANOS = TimeUnit.SECONDS.toNanos(2);
    /** How many times its usual time a host is given. */
    private static final int MARGIN = 4;
    /**
     * How many head starts this host may take itself, for resolving and for making queues, before the peer is asked.
     */
    private static final int PREPARATION = 5;

    private record Refusal(long until, long pause) {}

    private final Map<InetAddress, Host> hosts = new ConcurrentHashMap<>();
    private final Map<InetSocketAddress, Refusal> refusals = new ConcurrentHashMap<>();
    /** Addresses and ports that took an RDMA connection. */
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

    /** What is known of one host. Its lock guards it all. */
    private final class Host {
        private boolean open; // there is a request that it has not answered, nor any after it
        private long openSince; // of the oldest of those
        private boolean spoke;
        private long spokeAt;
        private long usual; // how long its answers take: at once more, slowly less
        private int silences; // in a row
        private long until; // of the last silence: not to be asked before

        /** How long it may be silent. */
        long limit() {
            return Math.max(headStartNanos, Math.min(MARGIN * usual, MOST_NANOS));
        }

        /** For how long it has owed an answer; -1 if it owes none. */
        long owed(long now) {
            return open && now - openSince < Math.max(DOUBT_NANOS, 2 * limit()) ? now - openSince : -1;
        }

        boolean isOverdue(long now) {
            return owed(now) >= limit();
        }

        /** @return whether to leave it alone */
        boolean isSilent(long now) {
            if (silences > 0) {
                if (until - now > 0) {
                    return true;
                }
                until = now + MOST_NANOS; // one asks; the others learn from that
                return false;
            }
            return isOverdue(now);
        }

        void silent(long now) {
            long pause = FIRST_PAUSE_NANOS << Math.min(silences, 20);
            silences++;
            until = now + Math.min(pause, unansweredNanos);
            open = false;
        }
    }

    // ---- asking ----

    /** Whether an attempt over RDMA would be wasted, as far as is known. If not, the caller is taken to make it. */
    boolean knows(InetSocketAddress peer) {
        if (!refusals.isEmpty()) {
            Refusal refusal = refusals.get(peer);
            long over = refusal == null ? 0 : clock.getAsLong() - refusal.until;
            if (over < 0) {
                return true;
            }
            if (refusal != null && over >= rejectedNanos) {
                refusals.remove(peer, refusal);
            }
        }
        Host host = host(peer);
        if (host == null || unansweredNanos == 0) {
            return false;
        }
        synchronized (host) {
            return host.isSilent(clock.getAsLong());
        }
    }

    /**
     * How long an attempt may still go on. Silence is what ends it, not time: an attempt that waits for this host's own
     * work, or for a peer that is answering others, is not one that a silent host keeps waiting. Those that ask a host
     * of which nothing is known wait no longer than the first of them.
     *
     * @param age of the attempt, nanoseconds
     * @param asked how long ago its own request went out, negative if it has not
     */
    long left(InetSocketAddress peer, long age, long asked) {
        Host host = host(peer);
        long most = Math.max(MOST_NANOS, (PREPARATION + 1) * headStartNanos) - age;
        if (host == null) {
            return Math.min(most, asked < 0 ? PREPARATION * headStartNanos - age : headStartNanos - asked);
        }
        synchronized (host) {
            long now = clock.getAsLong();
            long sign = host.spoke ? now - host.spokeAt : Long.MAX_VALUE;
            long silence = unansweredNanos == 0 ? asked : Math.max(asked, host.owed(now));
            long limit = silence < 0 ? PREPARATION * headStartNanos : host.limit();
            return Math.min(most, limit - Math.min(silence < 0 ? age : silence, sign));
        }
    }

    // ---- learning ----

    /** A request went out. */
    void asked(InetSocketAddress peer) {
        Host host = host(peer);
        if (host == null) {
            makeRoom(hosts);
            host = hosts.computeIfAbsent(peer.getAddress(), address -> new Host());
        }
        synchronized (host) {
            long now = clock.getAsLong();
            if (host.owed(now) < 0) {
                host.open = true;
                host.openSince = now;
            }
        }
    }

    /**
     * The host said something.
     *
     * @param nanos after how long it would have the connection; negative if it would not
     */
    void answered(InetSocketAddress peer, long nanos) {
        Host host = host(peer);
        if (host != null) {
            synchronized (host) {
                host.open = false;
                host.silences = 0;
                host.spoke = true;
                host.spokeAt = clock.getAsLong();
                if (nanos >= 0) {
                    host.usual = Math.max(nanos, host.usual - (host.usual - nanos) / 8);
                }
            }
        }
    }

    /** TCP reached the host: if it owes an answer over RDMA, it is there and silent. */
    void reached(InetSocketAddress peer) {
        Host host = host(peer);
        if (host != null) {
            synchronized (host) {
                long now = clock.getAsLong();
                if (host.isOverdue(now)) {
                    host.silent(now);
                }
            }
        }
    }

    /** TCP did not reach it either: nothing is to be learned from its silence. */
    void down(InetSocketAddress peer) {
        Host host = host(peer);
        if (host != null) {
            synchronized (host) {
                host.open = false;
            }
        }
    }

    /** There is no way to the host over RDMA, although TCP reached it. */
    void unreachable(InetSocketAddress peer) {
        asked(peer);
        Host host = host(peer);
        if (host != null) {
            synchronized (host) {
                host.silent(clock.getAsLong());
            }
        }
    }

    /** Nobody was asked: a reason to spare this address and port, but not for long. */
    void unserved(InetSocketAddress peer) {
        refuse(peer, rejectedNanos);
    }

    /** Nobody takes RDMA connections on this port, although somebody takes TCP's. */
    void rejected(InetSocketAddress peer) {
        Refusal last = refusals.get(peer);
        long soon = last == null ? FIRST_REFUSAL_NANOS : 2 * last.pause;
        refuse(peer, willing.contains(peer) ? Math.min(rejectedNanos, soon) : rejectedNanos);
    }

    private void refuse(InetSocketAddress peer, long pause) {
        if (pause > 0) {
            makeRoom(refusals);
            refusals.put(peer, new Refusal(clock.getAsLong() + pause, pause));
        }
    }

    /** RDMA worked: whatever was remembered is outdated. */
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

    /** How many peers are remembered, of the kind of which there are most. */
    int size() {
        return Math.max(hosts.size(), refusals.size());
    }

    private Host host(InetSocketAddress peer) {
        return hosts.get(peer.getAddress());
    }

    private static void makeRoom(Map<?, ?> map) {
        Iterator<?> keys = map.keySet().iterator();
        while (map.size() >= CAPACITY && keys.hasNext()) { // any: they all cost the same to find out again
            keys.next();
            keys.remove();
        }
    }
}
