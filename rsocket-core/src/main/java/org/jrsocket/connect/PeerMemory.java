/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.connect;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.LongSupplier;

/**
 * Peers that are better not asked for RDMA for a while: a host that did not answer, an address and port that refused. So only the first
 * connection pays for finding out. Bounded, and forgets by itself. Safe for use by many threads.
 */
final class PeerMemory {

    /** Enough for any real set of peers; a client that talks to more pays for some of them twice. */
    static final int CAPACITY = 4096;

    /** By InetAddress for a host, by InetSocketAddress for one port of it. */
    private final Map<Object, Long> deadlines = new ConcurrentHashMap<>();
    /** Hosts whose RDMA answered the last time. */
    private final Set<InetAddress> answered = ConcurrentHashMap.newKeySet();
    private final long unansweredNanos;
    private final long rejectedNanos;
    private final LongSupplier clock;

    /** @param clock nanoseconds, as {@link System#nanoTime} */
    PeerMemory(long unansweredNanos, long rejectedNanos, LongSupplier clock) {
        this.unansweredNanos = unansweredNanos;
        this.rejectedNanos = rejectedNanos;
        this.clock = clock;
    }

    /**
     * The host did not answer, and would not on another port either. One that did answer before may only have been busy: it gets a second chance
     * soon.
     */
    void unanswered(InetSocketAddress peer) {
        if (answered.remove(peer.getAddress())) {
            put(peer, rejectedNanos);
        } else {
            put(peer.getAddress(), unansweredNanos);
        }
    }

    /** The host was not asked, or did not answer in less time than it is usually given: not a reason to avoid it for long. */
    void cutShort(InetSocketAddress peer) {
        put(peer, rejectedNanos);
    }

    /** The host answered that nobody listens on this port over RDMA. */
    void rejected(InetSocketAddress peer) {
        answered(peer);
        put(peer, rejectedNanos);
    }

    /** RDMA worked: whatever was remembered is outdated. */
    void worked(InetSocketAddress peer) {
        answered(peer);
        if (!deadlines.isEmpty()) {
            deadlines.remove(peer.getAddress());
            deadlines.remove(peer);
        }
    }

    private void answered(InetSocketAddress peer) {
        if (answered.size() >= CAPACITY) {
            answered.clear();
        }
        answered.add(peer.getAddress());
    }

    /** Whether an attempt over RDMA would be wasted, as far as is known. */
    boolean knows(InetSocketAddress peer) {
        return !deadlines.isEmpty() && (isAlive(peer.getAddress()) || isAlive(peer));
    }

    int size() {
        return deadlines.size();
    }

    private boolean isAlive(Object key) {
        Long deadline = deadlines.get(key);
        if (deadline == null) {
            return false;
        }
        if (deadline - clock.getAsLong() > 0) {
            return true;
        }
        deadlines.remove(key, deadline);
        return false;
    }

    private void put(Object key, long nanos) {
        if (nanos <= 0) {
            return;
        }
        long now = clock.getAsLong();
        if (deadlines.size() >= CAPACITY) {
            deadlines.values().removeIf(deadline -> deadline - now <= 0);
        }
        var keys = deadlines.keySet().iterator();
        while (deadlines.size() >= CAPACITY && keys.hasNext()) { // any: they all cost the same to find out again
            keys.next();
            keys.remove();
        }
        deadlines.put(key, now + nanos);
    }
}
