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
import org.jrsocket.connect.KnownHost.Standing;
import org.jrsocket.stream.RdmaConnectException;
import org.jrsocket.stream.RdmaConnectException.Reason;
import org.jrsocket.threads.ServiceLoop;

/**
 * The connections to hosts of which nothing is known. The first one to such a host sends a request. Those that begin in
 * the meantime wait for its outcome, and nothing is made for them: a pool that opens all its connections at once makes
 * one queue pair for a host that turns out to be silent. The outcome of the first holds for the others as far as it
 * would be remembered: what concerns the host for all, what concerns the port for those to that port. If the first
 * leaves before it has asked, another takes its place. If it leaves later, its request is still out, and the others
 * wait for the answer. No wait outlasts an attempt's own limit. Safe for use by many threads.
 */
final class FirstContacts {

    /** A connection that is to be made, to a host of which something may be known. */
    interface Attempt {

        InetSocketAddress remote();

        /** Returns whether its request went out. */
        boolean hasAsked();

        /** Returns whether it has had its head start and still could not ask. */
        boolean isLost();

        /** Lets it begin soon, by itself, if it still waits. May be called by any thread, with any lock held. */
        void begin();

        /**
         * Ends it if it has not begun; may be called as {@link #begin}. Returns false if it has begun or was over
         * before.
         */
        boolean end(RdmaConnectException why);

        ServiceLoop service();

        Answers answers();
    }

    /** Where the answer of a host may be waiting. */
    interface Answers {

        /** Takes events as {@link StreamFactory#takeCmEvents} does. */
        void takeCmEvents();
    }

    private static final class Contact {
        private Attempt first; // null: it has left, and its request is out
        private final Set<Attempt> waiting = new LinkedHashSet<>();
        private boolean timed; // the service thread will check whether the host is silent
    }

    private final PeerMemory memory;
    private final Map<InetAddress, Contact> contacts = new ConcurrentHashMap<>(); // changed under this object's lock
    private boolean over; // guarded by this: attempts do not wait any more

    FirstContacts(PeerMemory memory) {
        this.memory = memory;
    }

    /** Returns what a new attempt is to do: if its host is UNKNOWN it is the first; if the host was ASKED it waits. */
    Standing join(Attempt attempt) {
        boolean joined = false;
        try {
            Standing standing = place(attempt);
            joined = true;
            return standing;
        } finally {
            if (!joined) { // no memory
                over(attempt, null);
            }
        }
    }

    private Standing place(Attempt attempt) {
        InetAddress host = attempt.remote().getAddress();
        if (memory.standing(attempt.remote()) == Standing.KNOWN) { // as most are: no need for the lock
            return Standing.KNOWN;
        }
        Standing standing;
        boolean untimed;
        synchronized (this) { // whoever learns more has to wait for the lock
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

    /** Records that the attempt's request went out: from now on the host's silence counts. */
    void asked(Attempt attempt) {
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

    /** Schedules a look, for all that wait, at the time when the host has been silent for as long as they may wait. */
    private void lookInTime(Attempt any) {
        InetSocketAddress host = any.remote();
        boolean timed = false;
        try {
            any.service().schedule(new Look(host, any.answers()), memory.left(host, 0, -1, false));
            timed = true;
        } finally {
            if (!timed) { // no memory: the next one tries again
                untimed(host.getAddress());
            }
        }
    }

    private synchronized void untimed(InetAddress host) {
        Contact contact = contacts.get(host);
        if (contact != null) {
            contact.timed = false;
        }
    }

    /** A scheduled look. It holds no reference to the attempt, which holds its connection. */
    private final class Look implements Runnable {
        private final InetSocketAddress host;
        private final Answers answers;

        Look(InetSocketAddress host, Answers answers) {
            this.host = host;
            this.answers = answers;
        }

        @Override
        public void run() {
            answers.takeCmEvents(); // the answer may be waiting for this thread
            look(host);
        }
    }

    /**
     * Ends or frees those that wait. There are no lambdas on the way to them: while lambdas are linked, hundreds of
     * threads that have gone to TCP at once take the processor.
     */
    private void look(InetSocketAddress host) {
        Attempt again = null;
        Collection<Attempt> ended = List.of();
        Collection<Attempt> free = List.of();
        synchronized (this) {
            Contact contact = contacts.get(host.getAddress());
            if (contact == null) {
                return;
            }
            Standing standing = memory.standing(host);
            if (standing == Standing.SILENT) {
                ended = takeAll(contact);
            } else if (standing == Standing.ASKED && !contact.waiting.isEmpty()) { // by a later request
                again = contact.waiting.iterator().next();
            } else if (standing == Standing.UNKNOWN && contact.first == null) { // the request no longer counts
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

    /** Tells attempts to end or begin. Called without the lock, because each of them has a lock of its own. */
    private static void tell(Collection<Attempt> ended, RdmaConnectException why, Collection<Attempt> free) {
        for (Attempt one : ended) {
            one.end(why);
        }
        for (Attempt one : free) {
            one.begin();
        }
    }

    /**
     * Makes the next attempt the first. Called with the lock held.
     *
     * @return the attempt that is to begin, if one is waiting
     */
    private static Collection<Attempt> replaceFirst(Contact contact) {
        if (contact.waiting.isEmpty()) {
            return List.of();
        }
        contact.first = contact.waiting.iterator().next();
        contact.waiting.remove(contact.first);
        return List.of(contact.first);
    }

    /** Returns the failure of those for which another attempt has found out that the host is silent. */
    static RdmaConnectException silent() {
        return new RdmaConnectException(Reason.TIMEOUT, "it did not answer the request of another connection", null);
    }

    private void removeIfOver(InetAddress host, Contact contact) {
        if (contact.first == null && contact.waiting.isEmpty()) {
            contacts.remove(host);
        }
    }

    /** Records that the host has answered. If the first attempt is still there, its outcome will say more. */
    void answered(InetSocketAddress host) {
        if (contacts.containsKey(host.getAddress())) {
            Collection<Attempt> free;
            synchronized (this) {
                Contact contact = contacts.get(host.getAddress());
                free = contact == null || contact.first != null ? List.of() : takeAll(contact);
            }
            tell(List.of(), null, free);
        }
    }

    /**
     * Records that an attempt that has joined is over.
     *
     * @param why null if it is connected, or could not even begin, and so has nothing to say about the host
     */
    void over(Attempt attempt, RdmaConnectException why) {
        Collection<Attempt> ended = List.of();
        Collection<Attempt> free = List.of();
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

    /** Ends all waits, because there is no RDMA any more. */
    void end() {
        List<Attempt> ended = new ArrayList<>();
        synchronized (this) {
            over = true;
            contacts.values().forEach(contact -> ended.addAll(takeAll(contact)));
        }
        tell(ended, new RdmaConnectException(Reason.RESOURCES, "the RDMA transport was closed", null), List.of());
    }

    /** Takes the waiting attempts for which the outcome holds too. */
    private static Collection<Attempt> takeConcerned(Contact contact, Attempt first, RdmaConnectException why) {
        if (why == null) {
            return List.of();
        }
        return switch (TcpReason.of(why.reason())) {
            case UNRESOLVED, UNREACHABLE -> takeAll(contact);
            // Its caller may have been less patient, and the silence after an open request counts by itself.
            case TIMEOUT -> first.isLost() ? takeAll(contact) : List.of();
            case REFUSED, DENIED, UNABLE, PROTOCOL, NO_DEVICE ->
                takeThoseTo(first.remote().getPort(), contact);
            default -> List.of();
        };
    }

    private static Collection<Attempt> takeAll(Contact contact) {
        List<Attempt> taken = List.copyOf(contact.waiting);
        contact.waiting.clear();
        return taken;
    }

    private static Collection<Attempt> takeThoseTo(int port, Contact contact) {
        List<Attempt> taken = new ArrayList<>(contact.waiting);
        taken.removeIf(one -> one.remote().getPort() != port);
        contact.waiting.removeIf(one -> one.remote().getPort() == port);
        return taken;
    }
}
