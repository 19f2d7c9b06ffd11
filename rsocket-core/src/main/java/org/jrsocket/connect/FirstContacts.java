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
import org.jrsocket.connect.PeerMemory.Standing;
import org.jrsocket.stream.RdmaConnectException;
import org.jrsocket.stream.RdmaConnectException.Reason;

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
        private boolean timed; // the service thread will look whether the host is silent
    }

    private final PeerMemory memory;
    private final Map<InetAddress, Contact> contacts = new ConcurrentHashMap<>(); // changed with this object's lock
    private boolean over; // with the lock: nobody waits any more

    FirstContacts(PeerMemory memory) {
        this.memory = memory;
    }

    /** What a new attempt is to do. If its host is UNKNOWN it is the first, if it was ASKED the attempt waits. */
    Standing join(WayAttempt attempt) {
        InetAddress host = attempt.remote().getAddress();
        if (memory.standing(attempt.remote()) == Standing.KNOWN) { // most are: without the lock
            return Standing.KNOWN;
        }
        Standing standing;
        boolean untimed;
        synchronized (this) { // and whoever learns more has to wait for it
            standing = memory.standing(attempt.remote());
            if (standing == Standing.KNOWN || standing == Standing.SILENT) {
                return standing;
            }
            if (over) {
                return Standing.KNOWN; // it finds out for itself
            }
            Contact contact = contacts.computeIfAbsent(host, key -> new Contact());
            if (standing == Standing.UNKNOWN && contact.first == null) {
                contact.first = attempt;
                return Standing.UNKNOWN;
            }
            contact.waiting.add(attempt);
            untimed = standing == Standing.ASKED && !contact.timed;
            contact.timed |= untimed;
        }
        if (untimed) {
            lookInTime(attempt);
        }
        return Standing.ASKED;
    }

    /** Its request went out: from now on it counts how long the host is silent. */
    void asked(WayAttempt attempt) {
        InetAddress host = attempt.remote().getAddress();
        if (contacts.containsKey(host)) {
            synchronized (this) {
                Contact contact = contacts.get(host);
                if (contact == null || contact.timed || contact.waiting.isEmpty()) {
                    return;
                }
                contact.timed = true;
            }
            lookInTime(attempt);
        }
    }

    /** Looks for all that wait, when the host has been silent for as long as they may wait for it. */
    private void lookInTime(WayAttempt any) {
        InetSocketAddress host = any.remote();
        any.service().schedule(new Look(host, any.maker()), memory.left(host, 0, -1, false));
    }

    /** Does not refer to the attempt, which has its connection. */
    private final class Look implements Runnable {
        private final InetSocketAddress host;
        private final WayAttempt.Maker maker;

        Look(InetSocketAddress host, WayAttempt.Maker maker) {
            this.host = host;
            this.maker = maker;
        }

        @Override
        public void run() {
            maker.takeCmEvents(); // what waits for this thread may be the answer
            look(host);
        }
    }

    /**
     * Without lambdas, as all on the way to those that wait: while they are linked, hundreds of threads that have gone
     * to TCP at once take the processor.
     */
    private void look(InetSocketAddress host) {
        WayAttempt again = null;
        Collection<WayAttempt> ended = List.of();
        Collection<WayAttempt> free = List.of();
        synchronized (this) {
            Contact contact = contacts.get(host.getAddress());
            if (contact == null) {
                return;
            }
            Standing standing = memory.standing(host);
            if (standing == Standing.SILENT) {
                ended = takeAll(contact);
            } else if (standing == Standing.ASKED && !contact.waiting.isEmpty()) { // by another request, meanwhile
                again = contact.waiting.iterator().next();
            } else if (standing == Standing.UNKNOWN && contact.first == null) { // the request counts no longer
                free = replaceFirst(contact);
            }
            contact.timed = again != null;
            removeIfOver(host.getAddress(), contact);
        }
        if (again != null) {
            lookInTime(again);
        }
        tell(ended, ended.isEmpty() ? null : silent(), free);
    }

    /** Without the lock, as all that wait have locks of their own. */
    private static void tell(Collection<WayAttempt> ended, RdmaConnectException why, Collection<WayAttempt> free) {
        for (WayAttempt one : ended) {
            one.end(why);
        }
        for (WayAttempt one : free) {
            one.begin();
        }
    }

    /**
     * With the lock.
     *
     * @return the one that is to begin, if any waits
     */
    private static Collection<WayAttempt> replaceFirst(Contact contact) {
        if (contact.waiting.isEmpty()) {
            return List.of();
        }
        contact.first = contact.waiting.iterator().next();
        contact.waiting.remove(contact.first);
        return List.of(contact.first);
    }

    /** What those hear that another one has found out for. */
    static RdmaConnectException silent() {
        return new RdmaConnectException(Reason.TIMEOUT, "it did not answer the request of another connection", null);
    }

    private void removeIfOver(InetAddress host, Contact contact) {
        if (contact.first == null && contact.waiting.isEmpty()) {
            contacts.remove(host);
        }
    }

    /** The host has answered: if the first is still there, it tells more when it is over. */
    void answered(InetSocketAddress host) {
        if (contacts.containsKey(host.getAddress())) {
            Collection<WayAttempt> free;
            synchronized (this) {
                Contact contact = contacts.get(host.getAddress());
                free = contact == null || contact.first != null ? List.of() : takeAll(contact);
            }
            tell(List.of(), null, free);
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
                ended = takeConcerned(contact, attempt, why);
                Standing standing = memory.standing(attempt.remote());
                if (standing == Standing.KNOWN || why == null && attempt.hasAsked()) {
                    free = takeAll(contact);
                } else if (standing == Standing.UNKNOWN || !attempt.hasAsked()) {
                    free = replaceFirst(contact);
                }
            }
            removeIfOver(host, contact);
        }
        tell(ended, why, free);
    }

    /** There is no RDMA any more. */
    void end() {
        List<WayAttempt> ended = new ArrayList<>();
        synchronized (this) {
            over = true;
            contacts.values().forEach(contact -> ended.addAll(takeAll(contact)));
        }
        tell(ended, new RdmaConnectException(Reason.RESOURCES, "the RDMA transport was closed", null), List.of());
    }

    /** Those for whom the outcome holds too. */
    private static Collection<WayAttempt> takeConcerned(Contact contact, WayAttempt first, RdmaConnectException why) {
        if (why == null) {
            return List.of();
        }
        return switch (TcpReason.of(why.reason())) {
            case UNRESOLVED, UNREACHABLE -> takeAll(contact);
            // Its caller may have had less patience, and an open request speaks for itself.
            case TIMEOUT -> first.isLost() ? takeAll(contact) : List.of();
            case REFUSED, DENIED, UNABLE, PROTOCOL, NO_DEVICE ->
                takeThoseTo(first.remote().getPort(), contact);
            default -> List.of();
        };
    }

    private static Collection<WayAttempt> takeAll(Contact contact) {
        List<WayAttempt> taken = List.copyOf(contact.waiting);
        contact.waiting.clear();
        return taken;
    }

    private static Collection<WayAttempt> takeThoseTo(int port, Contact contact) {
        List<WayAttempt> taken = new ArrayList<>(contact.waiting);
        taken.removeIf(one -> one.remote().getPort() != port);
        contact.waiting.removeIf(one -> one.remote().getPort() == port);
        return taken;
    }
}
