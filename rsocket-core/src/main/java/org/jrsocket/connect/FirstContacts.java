/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.connect;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Predicate;
import org.jrsocket.connect.PeerMemory.Standing;
import org.jrsocket.stream.RdmaConnectException;

/**
 * Connections to hosts of which nothing is known. The first one to such a host asks it; those that begin meanwhile wait
 * for what it hears, and nothing is made for them: a pool that opens all its connections at once makes one queue pair
 * for a host that turns out to be silent. What the first meets holds for the others as far as it would be remembered:
 * of the host for all, of the port for those to that port. If it leaves before it has asked, another takes its place.
 * If it leaves after that, its request is still out, and the others wait for the answer. No wait outlasts an attempt's
 * own limit. Safe for use by many threads.
 */
final class FirstContacts {

    private static final class Contact {
        private WayAttempt first; // null: it left, and its request is out
        private final Set<WayAttempt> waiting = new LinkedHashSet<>();
    }

    private final PeerMemory memory;
    private final Map<InetAddress, Contact> contacts = new ConcurrentHashMap<>(); // changed with this object's lock

    FirstContacts(PeerMemory memory) {
        this.memory = memory;
    }

    /** What a new attempt is to do. If its host is UNKNOWN it is the first, if it was ASKED the attempt waits. */
    Standing join(WayAttempt attempt) {
        InetAddress host = attempt.remote().getAddress();
        if (memory.standing(attempt.remote()) == Standing.KNOWN) { // most are: no lock
            return Standing.KNOWN;
        }
        synchronized (this) { // and whoever learns more has to wait for it
            Standing standing = memory.standing(attempt.remote());
            if (standing == Standing.KNOWN || standing == Standing.SILENT) {
                return standing;
            }
            Contact contact = contacts.computeIfAbsent(host, key -> new Contact());
            if (standing == Standing.UNKNOWN && contact.first == null) {
                contact.first = attempt;
                return Standing.UNKNOWN;
            }
            contact.waiting.add(attempt);
            return Standing.ASKED;
        }
    }

    /** A request went out: from now on it counts how long the host is silent. */
    void asked(InetSocketAddress host) {
        if (contacts.containsKey(host.getAddress())) {
            waiting(host).forEach(WayAttempt::limitChanged); // without the lock, as all that has locks of its own
        }
    }

    private synchronized Collection<WayAttempt> waiting(InetSocketAddress host) {
        Contact contact = contacts.get(host.getAddress());
        return contact == null ? List.of() : List.copyOf(contact.waiting);
    }

    /** The host has answered: if the first is still there, it tells more when it is over. */
    void answered(InetSocketAddress host) {
        if (contacts.containsKey(host.getAddress())) {
            Collection<WayAttempt> free;
            synchronized (this) {
                Contact contact = contacts.get(host.getAddress());
                free = contact == null || contact.first != null ? List.of() : take(contact, any -> true);
            }
            free.forEach(WayAttempt::begin);
        }
    }

    /** An attempt that has joined is over; {@code why} is null if it is connected. */
    void over(WayAttempt attempt, RdmaConnectException why) {
        Collection<WayAttempt> ended = List.of();
        Collection<WayAttempt> free = List.of();
        InetAddress host = attempt.remote().getAddress();
        synchronized (this) {
            Contact contact = contacts.get(host);
            if (contact == null) {
                return;
            }
            contact.waiting.remove(attempt);
            if (contact.first == attempt) {
                contact.first = null;
                ended = take(contact, learnedBy(attempt, why));
                if (memory.standing(attempt.remote()) == Standing.KNOWN) {
                    free = take(contact, any -> true);
                } else if (!attempt.hasAsked() && !contact.waiting.isEmpty()) {
                    contact.first = contact.waiting.iterator().next();
                    free = take(contact, next -> next == contact.first);
                }
            }
            if (contact.first == null && contact.waiting.isEmpty()) {
                contacts.remove(host);
            }
        }
        ended.forEach(one -> one.endWith(why));
        free.forEach(WayAttempt::begin);
    }

    /** For whom the outcome holds too. */
    private static Predicate<WayAttempt> learnedBy(WayAttempt first, RdmaConnectException why) {
        if (why == null) {
            return any -> false;
        }
        return switch (TcpReason.of(why.reason())) {
            case UNRESOLVED, UNREACHABLE -> any -> true;
            // Its caller may have had less patience, and an open request speaks for itself.
            case TIMEOUT -> any -> !first.hasAsked() && first.isOverdue();
            case REFUSED, DENIED, UNABLE, PROTOCOL, NO_DEVICE ->
                other -> other.remote().getPort() == first.remote().getPort();
            default -> any -> false;
        };
    }

    private static Collection<WayAttempt> take(Contact contact, Predicate<WayAttempt> which) {
        List<WayAttempt> taken = new ArrayList<>(contact.waiting);
        taken.removeIf(which.negate());
        taken.forEach(contact.waiting::remove);
        return taken;
    }
}
