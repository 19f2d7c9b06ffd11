/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.stream;

import java.net.InetAddress;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.TimeUnit;
import org.jrsocket.verbs.CmId;
import org.jrsocket.wire.ConnData;

/**
 * Which requests a listener may answer, which wait for that, and which are turned away. A handshake that its client
 * never ends costs what a connection costs, so these are bounded apart from the backlog, in number, by source address
 * and in time: nobody fills a listener without completing handshakes.
 *
 * <p>A request waits, unanswered, while its source or the listener has too many handshakes under way or the application
 * has not accepted what is ready. It waits no longer than {@link Limits#heldNanos}, which is less than clients give
 * RDMA: they are to hear "busy" and not to take the host for silent.
 *
 * <p>It knows no lock: all calls are its listener's, with its lock.
 */
final class Admission {

    /**
     * What is bounded.
     *
     * @param halfOpen handshakes under way
     * @param halfOpenPerSource those of one address
     * @param held requests that wait
     * @param heldPerSource those of one address
     * @param handshakeNanos how long a client that was answered has to say that it is ready, while nobody waits for its
     *     place
     * @param graceNanos how long while somebody does
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
         * A handshake pins 32 KiB: 2 MiB for one address, 8 MiB for all. An honest client needs milliseconds for
         * one, so 64 of its connections may begin at a time. Requests that are never completed take up all of them from
         * 32 a second on, and keep others of that address out from 128 a second on.
         */
        static final Limits DEFAULT = new Limits(
                256,
                64,
                1024,
                512,
                TimeUnit.SECONDS.toNanos(2),
                TimeUnit.MILLISECONDS.toNanos(500),
                TimeUnit.SECONDS.toNanos(1));

        Limits handshakeNanos(long nanos) {
            return new Limits(
                    halfOpen, halfOpenPerSource, held, heldPerSource, nanos, Math.min(graceNanos, nanos), heldNanos);
        }

        Limits heldNanos(long nanos) {
            return new Limits(halfOpen, halfOpenPerSource, held, heldPerSource, handshakeNanos, graceNanos, nanos);
        }
    }

    /** A request that was checked. */
    record Request(CmId id, ConnData peer, InetAddress source, long since) {}

    private final Limits limits;
    private final Map<InetAddress, Integer> halfOpenOf = new HashMap<>();
    private final Map<InetAddress, Integer> heldOf = new HashMap<>();
    private final Queue<Request> held = new ArrayDeque<>(); // the oldest first
    private int halfOpen;

    Admission(Limits limits) {
        this.limits = limits;
    }

    /** Whether a handshake with {@code source} may begin. */
    boolean mayOpen(InetAddress source) {
        return halfOpen < limits.halfOpen && halfOpenOf.getOrDefault(source, 0) < limits.halfOpenPerSource;
    }

    /** One has begun. */
    void opened(InetAddress source) {
        halfOpen++;
        halfOpenOf.merge(source, 1, Integer::sum);
    }

    /** One is over, with a connection or without. */
    void over(InetAddress source) {
        halfOpen--;
        release(halfOpenOf, source);
    }

    /** Lets a request wait; false if it is to be turned away. */
    boolean hold(Request request) {
        if (held.size() >= limits.held || heldOf.getOrDefault(request.source, 0) >= limits.heldPerSource) {
            return false;
        }
        held.add(request);
        heldOf.merge(request.source, 1, Integer::sum);
        return true;
    }

    /** The oldest request that need not wait for its source any longer, or null. */
    Request next() {
        for (Iterator<Request> each = held.iterator(); each.hasNext() && halfOpen < limits.halfOpen; ) {
            Request request = each.next();
            if (mayOpen(request.source)) {
                each.remove();
                release(heldOf, request.source);
                return request;
            }
        }
        return null;
    }

    /** Requests that have waited too long; they wait no more. */
    List<Request> expired(long now) {
        List<Request> all = new ArrayList<>();
        while (!held.isEmpty() && now - held.peek().since >= limits.heldNanos) {
            Request request = held.poll();
            release(heldOf, request.source);
            all.add(request);
        }
        return all;
    }

    /** All that wait; none does any more. */
    List<Request> takeHeld() {
        List<Request> all = List.copyOf(held);
        held.clear();
        heldOf.clear();
        return all;
    }

    int held() {
        return held.size();
    }

    private static void release(Map<InetAddress, Integer> counts, InetAddress source) {
        counts.computeIfPresent(source, (address, count) -> count == 1 ? null : count - 1);
    }
}
