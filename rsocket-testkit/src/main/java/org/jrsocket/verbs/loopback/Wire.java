/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.verbs.loopback;

import java.util.Arrays;
import java.util.Random;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;

/**
 * Decides when messages move, see {@link Delivery}. Keeps the queue pairs that have something to move in the order in
 * which they came. Allocates nothing once its queue is large enough.
 */
final class Wire {

    /** The number of messages moved for one queue pair before the next one's turn. */
    private static final int TURN = 16;

    private static final long SPIN_NANOS = 20_000;

    private final Delivery mode;
    private final long latency;
    private final Registry registry;
    private final AtomicLong sequence = new AtomicLong();
    private final SpinLock lock = new SpinLock();
    private LoopbackQp[] queue = new LoopbackQp[16]; // ring, guarded by lock
    private int head; // guarded by lock
    private volatile int count; // written under lock
    private final Thread thread;
    private volatile boolean parked;
    private volatile boolean closed;

    Wire(String name, Delivery mode, long latency, Registry registry) {
        this.mode = mode;
        this.latency = latency;
        this.registry = registry;
        if (mode == Delivery.THREAD) {
            thread = new Thread(this::run, name);
            thread.setDaemon(true);
            thread.start();
        } else {
            thread = null;
        }
    }

    /**
     * Returns the stamp that a message gets when it is posted: its number where steps need the order, the time where
     * there is latency, otherwise nothing, since both take time.
     */
    long stamp() {
        if (mode == Delivery.STEPPED) {
            return sequence.getAndIncrement();
        }
        return mode == Delivery.THREAD && latency > 0 ? System.nanoTime() : 0;
    }

    void close() {
        closed = true;
        LockSupport.unpark(thread);
    }

    /** Takes note that {@code qp} has something to move. Called with its lock held. */
    void ready(LoopbackQp qp) {
        if (mode == Delivery.IMMEDIATE) {
            Transfer.progress(qp, Integer.MAX_VALUE);
            return;
        }
        if (!qp.stalled) {
            enqueue(qp);
            if (parked) {
                LockSupport.unpark(thread);
            }
        }
    }

    private void enqueue(LoopbackQp qp) {
        lock.lock();
        try {
            if (qp.onWire) {
                return;
            }
            if (count == queue.length) {
                LoopbackQp[] larger = new LoopbackQp[2 * count];
                for (int i = 0; i < count; i++) {
                    larger[i] = queue[(head + i) % queue.length];
                }
                queue = larger;
                head = 0;
            }
            queue[(head + count) % queue.length] = qp;
            qp.onWire = true;
            count = count + 1;
        } finally {
            lock.unlock();
        }
    }

    private LoopbackQp dequeue() {
        lock.lock();
        try {
            if (count == 0) {
                return null;
            }
            LoopbackQp qp = queue[head];
            queue[head] = null;
            head = (head + 1) % queue.length;
            count = count - 1;
            qp.onWire = false;
            return qp;
        } finally {
            lock.unlock();
        }
    }

    // The thread.

    private void run() {
        long idleSince = System.nanoTime();
        while (!closed) {
            LoopbackQp qp = count == 0 ? null : dequeue();
            if (qp != null) {
                try {
                    turn(qp);
                } catch (RuntimeException | Error e) {
                    registry.violation("the wire failed: " + e);
                }
                idleSince = System.nanoTime();
            } else if (System.nanoTime() - idleSince < SPIN_NANOS) {
                Thread.onSpinWait();
            } else {
                parked = true;
                if (count == 0 && !closed) {
                    LockSupport.park(this);
                }
                parked = false;
            }
        }
    }

    private void turn(LoopbackQp qp) {
        long due = 0;
        qp.lock();
        try {
            if (latency > 0 && qp.sq.hasWork()) {
                due = qp.sq.stamp(qp.sq.slot(qp.sq.arrived)) + latency - System.nanoTime();
            }
            if (due <= 0) {
                Transfer.progress(qp, latency > 0 ? 1 : TURN);
            }
            if (qp.maySend() && qp.sq.hasWork() && !qp.stalled) {
                enqueue(qp);
            }
        } finally {
            qp.unlock();
        }
        if (due > 0 && count == 1) { // otherwise another one may be due earlier
            LockSupport.parkNanos(this, due);
        }
    }

    // Steps.

    /** Moves one message: the one posted first, or of a queue pair that {@code random} chooses. False if none can. */
    boolean step(Random random) {
        if (mode != Delivery.STEPPED) {
            throw new IllegalStateException("steps need Delivery.STEPPED, not " + mode);
        }
        for (LoopbackQp qp = choose(random); qp != null; qp = choose(random)) {
            qp.lock();
            try {
                int moved = Transfer.progress(qp, 1);
                if (qp.maySend() && qp.sq.hasWork() && !qp.stalled) {
                    enqueue(qp);
                }
                if (moved > 0) {
                    return true;
                }
            } finally {
                qp.unlock();
            }
        }
        return false;
    }

    private LoopbackQp choose(Random random) {
        LoopbackQp[] waiting = drain();
        if (waiting.length == 0) {
            return null;
        }
        LoopbackQp chosen = waiting[0];
        if (random != null) {
            chosen = waiting[random.nextInt(waiting.length)];
        } else {
            for (LoopbackQp qp : waiting) {
                chosen = firstSequence(qp) < firstSequence(chosen) ? qp : chosen;
            }
        }
        for (LoopbackQp qp : waiting) {
            if (qp != chosen) {
                enqueue(qp);
            }
        }
        return chosen;
    }

    private LoopbackQp[] drain() {
        LoopbackQp[] all = new LoopbackQp[8];
        int n = 0;
        for (LoopbackQp qp = dequeue(); qp != null; qp = dequeue()) {
            if (n == all.length) {
                all = Arrays.copyOf(all, 2 * n);
            }
            all[n++] = qp;
        }
        return Arrays.copyOf(all, n);
    }

    private static long firstSequence(LoopbackQp qp) {
        qp.lock();
        try {
            return qp.sq.hasWork() ? qp.sq.stamp(qp.sq.slot(qp.sq.arrived)) : Long.MAX_VALUE;
        } finally {
            qp.unlock();
        }
    }
}
