/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.threads;

import java.util.NavigableSet;
import java.util.NoSuchElementException;
import java.util.concurrent.ConcurrentSkipListSet;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;

/** The timers of a service thread. Any thread may add and cancel them; that thread runs them. */
final class ServiceTimers {

    /** A timer. A cancelled one lets go of its task, and of its place among the others, at once. */
    private final class Due implements ServiceLoop.Timer, Comparable<Due> {
        private final long deadline;
        private final long order;
        private volatile Runnable task;

        Due(long deadline, long order, Runnable task) {
            this.deadline = deadline;
            this.order = order;
            this.task = task;
        }

        @Override
        public void cancel() {
            task = null;
            giveUpPlace();
        }

        private void giveUpPlace() {
            try {
                timers.remove(this);
            } catch (OutOfMemoryError e) {
                // Removing takes a little memory. It has no task any more, and the service thread tries again.
            }
        }

        /** Runs it, unless it was cancelled, and only then removes it: it must not be lost for lack of memory. */
        private void fire(Consumer<Runnable> call) {
            Runnable due = task;
            task = null;
            if (due != null) {
                call.accept(due);
            }
            timers.remove(this);
        }

        @Override
        public int compareTo(Due other) {
            int byTime = Long.signum(deadline - other.deadline);
            return byTime != 0 ? byTime : Long.compare(order, other.order);
        }
    }

    private final AtomicLong orders = new AtomicLong();
    /** Whoever adds a timer also makes its place, because without memory for that the timer would be lost later. */
    private final NavigableSet<Due> timers = new ConcurrentSkipListSet<>();

    private volatile Runnable placed = () -> {};

    /** Sets what is done when a timer has got its place; for tests. */
    void afterPlacing(Runnable action) {
        placed = action;
    }

    /** @throws OutOfMemoryError if there is no memory for it; it is never run then */
    ServiceLoop.Timer add(Runnable task, long nanos) {
        Due due = new Due(System.nanoTime() + nanos, orders.getAndIncrement(), task);
        try {
            timers.add(due);
            placed.run();
        } catch (OutOfMemoryError e) { // which may be thrown when it has its place
            due.cancel();
            throw e;
        }
        return due;
    }

    /** Returns the nanoseconds until the next one is due, or -1 if there is none. */
    long untilNext() {
        Due first = first();
        return first == null ? -1 : Math.max(0, first.deadline - System.nanoTime());
    }

    /** Runs those that are due. Called on the service thread. */
    void run(long now, Consumer<Runnable> call) {
        for (Due due = first(); due != null && due.deadline - now <= 0; due = first()) {
            due.fire(call);
        }
    }

    private Due first() {
        try {
            return timers.isEmpty() ? null : timers.first();
        } catch (NoSuchElementException e) { // it was cancelled in the meantime
            return null;
        }
    }

    /** Returns how many are due in {@code nanos} or later. For tests. */
    int laterThan(long nanos) {
        return timers.tailSet(new Due(System.nanoTime() + nanos, 0, null)).size();
    }
}
