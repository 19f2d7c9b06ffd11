/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.stream;

import java.net.InetAddress;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.jrsocket.verbs.CmId;
import org.jrsocket.verbs.Device;
import org.jrsocket.wire.ConnData;

/**
 * Decides which requests a listener may answer, which have to wait, and which are turned away. A handshake that its
 * client never ends costs as much as a connection. Handshakes are therefore bounded apart from the backlog, in number,
 * by source address and in time, so that nobody can fill a listener without completing handshakes. Those whose device
 * is still at work for them are also bounded by device.
 *
 * <p>A request waits, unanswered, while its source or the listener has too many handshakes under way or the application
 * has not accepted the connections that are ready. It waits for {@link Limits#heldNanos}, or little longer. Clients
 * listen for longer than that, even once they have turned to TCP, so they are told "busy" and do not go on taking the
 * host for silent.
 *
 * <p>This class has no lock of its own: the listener makes all calls with its lock held.
 */
final class Admission {

    /**
     * The limits.
     *
     * @param halfOpen handshakes under way
     * @param halfOpenPerSource handshakes under way with one address
     * @param held requests that wait
     * @param heldPerSource waiting requests of one address
     * @param handshakeNanos how long a client that was answered has to say that it is ready, while no request waits for
     *     its place
     * @param graceNanos how long it has while one does
     * @param heldNanos how long a request waits
     */
    record Limits(
            int halfOpen,
            int halfOpenPerSource,
            int held,
            int heldPerSource,
            long handshakeNanos,
            long graceNanos,
            long heldNanos) {

        /**
         * A handshake pins 32 KiB: 2 MiB for one address, 8 MiB for all. An honest client needs milliseconds for one,
         * so 64 of its connections may begin at a time. Requests that are never completed fill all places from 32 a
         * second on, and keep out others of the same address from 128 a second on.
         */
        static final Limits DEFAULT = new Limits(
                256,
                64,
                1024,
                512,
                TimeUnit.SECONDS.toNanos(2),
                TimeUnit.MILLISECONDS.toNanos(500),
                TimeUnit.SECONDS.toNanos(1));

        /** Returns how long a request may wait for its device. */
        long deviceNanos() {
            return 4 * heldNanos;
        }

        /** Returns the time between two looks at what takes too long. */
        long tickNanos() {
            return Math.min(handshakeNanos, heldNanos) / 4 + 1;
        }

        Limits handshakeNanos(long nanos) {
            return new Limits(
                    halfOpen, halfOpenPerSource, held, heldPerSource, nanos, Math.min(graceNanos, nanos), heldNanos);
        }

        Limits heldNanos(long nanos) {
            return new Limits(halfOpen, halfOpenPerSource, held, heldPerSource, handshakeNanos, graceNanos, nanos);
        }
    }

    /** A checked request. */
    record Request(CmId id, Device device, ConnData peer, InetAddress source, long since) {}

    private final Limits limits;
    private final int makingPerDevice;
    private final Map<Device, Integer> makingOn = new HashMap<>();
    private final Map<InetAddress, Integer> halfOpenOf = new HashMap<>();
    private final Map<InetAddress, Integer> heldOf = new HashMap<>();
    /** The oldest first. An array that cannot grow for lack of memory would lose them. */
    private final Queue<Request> held = new LinkedBlockingQueue<>();

    private int halfOpen;

    Admission(Limits limits) {
        this.limits = limits;
        this.makingPerDevice = Math.max(1, limits.halfOpen / 4); // one that hangs leaves the others room
    }

    /** Returns whether a handshake for this request may begin. */
    boolean mayOpen(Request request) {
        return halfOpen < limits.halfOpen
                && halfOpenOf.getOrDefault(request.source, 0) < limits.halfOpenPerSource
                && makingOn.getOrDefault(request.device, 0) < makingPerDevice;
    }

    /** Counts a handshake that has begun; the device now makes what it needs. */
    void opened(Request request) {
        halfOpenOf.merge(request.source, 1, Integer::sum);
        boolean counted = false;
        try {
            makingOn.merge(request.device, 1, Integer::sum);
            counted = true;
        } finally { // no memory
            if (!counted) {
                release(halfOpenOf, request.source);
            }
        }
        halfOpen++;
    }

    /** Counts that the device has made what a handshake needs, or has failed to. */
    void made(Request request) {
        release(makingOn, request.device);
    }

    /** Counts a handshake that has ended, with or without a connection. */
    void over(Request request) {
        halfOpen--;
        release(halfOpenOf, request.source);
    }

    /** Makes a request wait. Returns false if it has to be turned away. */
    boolean hold(Request request) {
        if (held.size() >= limits.held || heldOf.getOrDefault(request.source, 0) >= limits.heldPerSource) {
            return false;
        }
        heldOf.merge(request.source, 1, Integer::sum);
        boolean added = false;
        try {
            held.add(request);
            added = true;
        } finally { // no memory
            if (!added) {
                release(heldOf, request.source);
            }
        }
        return true;
    }

    /** Returns whether a waiting request lacks what a handshake with a silent client would give back. */
    boolean wantsPlace() {
        boolean wants = false;
        for (Request each : held) {
            wants |= halfOpen >= limits.halfOpen || halfOpenOf.getOrDefault(each.source, 0) >= limits.halfOpenPerSource;
        }
        return wants;
    }

    /** Takes the oldest request that may begin a handshake now, or returns null. */
    Request next() {
        for (Iterator<Request> each = held.iterator(); each.hasNext() && halfOpen < limits.halfOpen; ) {
            Request request = each.next();
            if (mayOpen(request)) {
                release(heldOf, request.source); // first, as below
                each.remove();
                return request;
            }
        }
        return null;
    }

    /** Removes and returns the oldest request if it has waited too long; otherwise returns null. */
    Request nextExpired(long now) {
        if (held.isEmpty() || now - held.peek().since < limits.heldNanos) {
            return null;
        }
        release(heldOf, held.peek().source); // first, because it may need memory
        return held.poll();
    }

    /** Removes and returns all waiting requests. */
    List<Request> takeHeld() {
        List<Request> all = List.copyOf(held);
        held.clear();
        heldOf.clear();
        return all;
    }

    int held() {
        return held.size();
    }

    private static <K> void release(Map<K, Integer> counts, K key) {
        counts.computeIfPresent(key, (same, count) -> count == 1 ? null : count - 1);
    }
}
