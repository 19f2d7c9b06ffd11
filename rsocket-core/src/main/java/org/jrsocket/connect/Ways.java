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
import org.jrsocket.connect.GidTables.Local;
import org.jrsocket.stream.PendingConnect.Answer;

/**
 * The ways by which connections leave this host. If devices are named, those that reach the peer take turns; otherwise
 * there is one way, which the kernel's routes choose. Each way remembers its peers separately, because a peer may be
 * silent over one way alone. Safe for use by many threads.
 */
final class Ways {

    /**
     * A way out of this host.
     *
     * @param from the address to bind to, null if the routes choose
     * @param memory what is known about peers over it
     * @param firstContacts the connections over it to hosts of which nothing is known
     */
    record Way(InetAddress from, PeerMemory memory, FirstContacts firstContacts) {

        Way(InetAddress from, PeerMemory memory) {
            this(from, memory, new FirstContacts(memory));
        }

        /** Returns where to bind a connection that its application has bound to {@code local}, or to nothing. */
        InetSocketAddress bind(InetSocketAddress local) {
            return from == null ? local : new InetSocketAddress(from, local == null ? 0 : local.getPort());
        }

        /** Records that the host answered, {@code nanos} after it was asked. */
        void answered(InetSocketAddress peer, Answer answer, long nanos) {
            memory.answered(peer, answer, nanos);
            firstContacts.answered(peer);
        }
    }

    private final Adapters adapters;
    private final Settings settings;
    private final Way routed;
    private final Map<InetAddress, Way> ways = new ConcurrentHashMap<>(); // one for each address of this host: a few
    private final Map<InetAddress, AtomicInteger> turns = new ConcurrentHashMap<>();

    /** @param settings say how long memories last */
    Ways(Adapters adapters, Settings settings) {
        this.adapters = adapters;
        this.settings = settings;
        this.routed = new Way(null, newMemory());
    }

    private PeerMemory newMemory() {
        return new PeerMemory(
                settings.connectNanos(), settings.unansweredNanos(), settings.rejectedNanos(), NanoClock.SYSTEM);
    }

    /** Returns the way that the kernel's routes choose. */
    Way routed() {
        return routed;
    }

    /** Returns the way that has this local address. */
    Way of(InetAddress local) {
        return ways.getOrDefault(local, routed);
    }

    /** Returns all ways that were used. */
    Collection<Way> all() {
        List<Way> all = new ArrayList<>(ways.values());
        all.add(routed);
        return all;
    }

    /**
     * Returns the ways to a peer, the one whose turn it is first.
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

    /**
     * Returns the number of the turn. Each peer has turns of its own, because two peers that are connected to
     * alternately would otherwise always have the same way.
     */
    private int turn(InetAddress peer) {
        AtomicInteger turn = turns.get(peer);
        if (turn == null) {
            if (turns.size() >= PeerMemory.CAPACITY) {
                turns.clear();
            }
            int first = ThreadLocalRandom.current().nextInt(); // so programs that connect once take turns too
            turn = turns.computeIfAbsent(peer, key -> new AtomicInteger(first));
        }
        return turn.getAndIncrement();
    }
}
