/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.connect;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicInteger;
import org.jrsocket.connect.Adapters.Local;

/**
 * The ways by which connections leave this host. Where devices are named, those that reach the peer take turns; else
 * there is one, and the kernel's routes choose it. What is known of peers is known of each way by itself: a peer may be
 * silent over one of them alone. Safe for use by many threads.
 */
final class Ways {

    /**
     * One way.
     *
     * @param from the address to bind to, null if the routes choose
     * @param memory what is known of peers over it
     */
    record Way(InetAddress from, PeerMemory memory) {

        /** Where a connection is to be bound whose application has bound it to {@code local}, or to nothing. */
        InetSocketAddress bind(InetSocketAddress local) {
            return from == null ? local : new InetSocketAddress(from, local == null ? 0 : local.getPort());
        }
    }

    private final Adapters adapters;
    private final Settings settings;
    private final Way routed;
    private final Map<InetAddress, Way> ways = new ConcurrentHashMap<>(); // of this host's addresses: a few
    private final Map<InetAddress, AtomicInteger> turns = new ConcurrentHashMap<>();

    /** @param settings how long which memory lasts */
    Ways(Adapters adapters, Settings settings) {
        this.adapters = adapters;
        this.settings = settings;
        this.routed = new Way(null, newMemory());
    }

    private PeerMemory newMemory() {
        return new PeerMemory(
                settings.connectNanos(), settings.unansweredNanos(), settings.rejectedNanos(), NanoClock.SYSTEM);
    }

    /** The one that the kernel's routes choose. */
    Way routed() {
        return routed;
    }

    /** Whose local address that is. */
    Way of(InetAddress local) {
        return ways.getOrDefault(local, routed);
    }

    /** All that were used. */
    Collection<Way> all() {
        List<Way> all = new ArrayList<>(ways.values());
        all.add(routed);
        return all;
    }

    /**
     * The ways to a peer, the one whose turn it is first.
     *
     * @param local where the application has bound the socket, or null
     */
    List<Way> to(InetSocketAddress local, InetAddress peer, Devices devices) {
        boolean bound = local != null && !local.getAddress().isAnyLocalAddress();
        if (devices == Devices.ROUTED || bound || peer.isLoopbackAddress() || peer.isLinkLocalAddress()) {
            return List.of(routed);
        }
        List<Way> found = new ArrayList<>();
        Set<String> taken = new HashSet<>(); // a device takes one turn, however many addresses it has
        for (Local each : adapters.locals()) {
            InetAddress address = each.address();
            if (address.equals(peer)) {
                return List.of(routed); // this host
            }
            if (address.getAddress().length == peer.getAddress().length
                    && devices.include(each.device(), address)
                    && (devices.names(address)
                            || each.network().contains(peer.getAddress()) && taken.add(each.device()))) {
                found.add(ways.computeIfAbsent(address, key -> new Way(key, newMemory())));
            }
        }
        if (found.isEmpty()) {
            return List.of(routed);
        }
        if (found.size() > 1) {
            Collections.rotate(found, -Math.floorMod(turn(peer), found.size()));
        }
        return found;
    }

    /** Of each peer for itself: two that are connected to by turns would else always have the same way. */
    private int turn(InetAddress peer) {
        AtomicInteger turn = turns.get(peer);
        if (turn == null) {
            if (turns.size() >= PeerMemory.CAPACITY) {
                turns.clear();
            }
            int first = ThreadLocalRandom.current().nextInt(); // programs that connect once take turns too
            turn = turns.computeIfAbsent(peer, key -> new AtomicInteger(first));
        }
        return turn.getAndIncrement();
    }
}
