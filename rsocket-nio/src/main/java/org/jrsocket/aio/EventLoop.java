/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.aio;

import java.io.IOException;
import java.nio.channels.CancelledKeyException;
import java.nio.channels.ClosedSelectorException;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;

/**
 * The threads of a group and the selector that they share. One of them, the leader, selects; they all handle what it
 * finds, one event at a time.
 *
 * <p>A leader that has found one event handles it itself, and stays the leader: waking another thread for each message
 * would take longer than most handlers do. If there is more to do, others are woken. If the leader's handler takes
 * long, the lead is taken from it: by a thread that comes back from its own work, or else at the {@link #tick}, which
 * wakes one. After that, for a while, the lead is passed on at each find ({@link #handoversLeft}).
 *
 * <p>Threads of the pool call handlers. In groups whose pool is not a fixed one there is also an internal thread. It
 * only finishes operations, so it is always available, and it leads while no thread of the pool is free.
 *
 * <p>{@code lock} is never held while a channel's {@link Readiness} is taken, nor during a selection; the package
 * documentation has the whole order.
 */
final class EventLoop {

    /** The number of ticks without work after which ticking stops. */
    private static final int QUIET_TICKS = 20;

    /** The number of finds at which the lead is passed on after it had to be taken from a thread. */
    private static final int HANDOVERS = 64;

    /** The source of threads. */
    interface Threads {
        /** @throws RejectedExecutionException if there are no more */
        void start(Worker worker);

        /** Has another thread call {@link EventLoop#tick} soon. */
        void scheduleTick();

        /** Called when the selector has failed, and no thread selects any more. */
        void failed(IOException e);
    }

    private final RAsynchronousChannelGroup group;
    private final Threads threads;
    private final Selector selector;

    private final ReentrantLock lock = new ReentrantLock();
    private final Condition selected = lock.newCondition();
    // Guarded by lock.
    private final Deque<Runnable> tasks = new ArrayDeque<>();
    private final Deque<Readiness> ready = new ArrayDeque<>();
    private final Deque<Worker> idle = new ArrayDeque<>(); // of the pool
    private final Deque<Worker> idleInternal = new ArrayDeque<>();
    private Worker leader; // selects, or will when it comes back from a handler; null: the next free thread leads
    private boolean selecting;
    private long selections;
    private int workers;
    private boolean broken; // the selector has failed: no thread selects any more
    private boolean ending;
    private boolean ticking;
    private int quiet; // consecutive ticks in which the leader waited
    private long turnsAtTick;
    private int handoversLeft;

    private final List<Readiness> found = new ArrayList<>(); // used by the thread that selects
    private final Consumer<SelectionKey> collector = this::collect;

    EventLoop(RAsynchronousChannelGroup group, Selector selector, Threads threads) {
        this.group = group;
        this.selector = selector;
        this.threads = threads;
    }

    Selector selector() {
        return selector;
    }

    /** A thread of the group. */
    final class Worker implements Runnable {
        final boolean internal;
        private final Condition called = lock.newCondition();
        // Guarded by lock.
        private boolean waits;
        private boolean works; // is busy with what next() gave it
        private long turns;

        // What next() gave it.
        private Runnable task;
        private Readiness event;

        private Worker(boolean internal) {
            this.internal = internal;
        }

        @Override
        public void run() {
            boolean died = true;
            try {
                while (true) {
                    Thread.interrupted(); // a selection would return at once
                    if (!internal) {
                        Handlers.begin(group);
                    }
                    try {
                        if (!next(this)) {
                            break;
                        }
                    } catch (IOException e) {
                        threads.failed(e);
                        continue; // with what is left to do: there may be no other thread
                    }
                    if (task != null) {
                        task.run();
                    } else {
                        event.handle(!internal);
                    }
                }
                died = false;
            } finally {
                task = null;
                event = null;
                ended(this, died);
            }
        }
    }

    /** Starts the given numbers of threads of the pool, and of internal threads. */
    void start(int pooled, int internal) {
        for (int i = 0; i < pooled + internal; i++) {
            Worker worker = new Worker(i >= pooled);
            count(1);
            try {
                threads.start(worker);
            } catch (RejectedExecutionException e) {
                count(-1); // an executor that takes fewer; the JDK makes do with them too
            } catch (RuntimeException | Error e) {
                count(-1);
                throw e;
            }
        }
    }

    private void count(int more) {
        lock.lock();
        try {
            workers += more;
        } finally {
            lock.unlock();
        }
    }

    /**
     * Runs a task on a thread of the pool.
     *
     * @throws RejectedExecutionException if all of them have ended
     */
    void execute(Runnable task) {
        lock.lock();
        try {
            if (workers == 0) {
                throw new RejectedExecutionException(); // no message, like the JDK's
            }
            tasks.add(task);
            if (!wakeIdleWorker() && selecting) {
                selector.wakeup();
            }
        } finally {
            lock.unlock();
        }
    }

    // ---- who does what ----

    /** Waits for something to do. Returns false if there will be nothing more. */
    private boolean next(Worker me) throws IOException {
        lock.lock();
        try {
            me.works = false;
            me.event = null;
            me.task = null;
            while (true) {
                me.task = tasks.poll();
                if (me.task == null) {
                    me.event = ready.poll();
                }
                if (me.task != null || me.event != null) {
                    begin(me);
                    return true;
                }
                if (ending) {
                    return false;
                }
                if (!broken && mayLead(me)) {
                    lead(me);
                } else {
                    waitForCall(me);
                }
            }
        } finally {
            lock.unlock();
        }
    }

    /** Called with the lock held. */
    private void begin(Worker me) {
        me.works = true;
        me.turns++;
        if (!tasks.isEmpty() || !ready.isEmpty()) {
            wakeIdleWorker(); // and that one calls the next
        }
        if (leader == me) {
            if (handoversLeft > 0) {
                handoversLeft--;
                leader = null;
                wakeIdleWorker();
            } else if (!ticking && !(idle.isEmpty() && idleInternal.isEmpty())) {
                quiet = 0;
                turnsAtTick = -1;
                tickLater();
            }
        }
    }

    /** Called with the lock held. */
    private boolean mayLead(Worker me) {
        if (me.internal && !idle.isEmpty()) {
            if (leader == null || leader == me) {
                leader = null;
                wakeIdleWorker();
            }
            return false;
        }
        // A thread that is here is preferred to one that is away, and one that calls handlers to one that does not.
        return leader == null || leader == me || leader.works || leader.internal && !me.internal;
    }

    /** Called with the lock held, which it releases while it waits. */
    private void lead(Worker me) throws IOException {
        leader = me;
        if (selecting) { // the previous leader, which has to come out
            selector.wakeup();
            while (selecting && leader == me) {
                selected.awaitUninterruptibly();
            }
            return;
        }
        try {
            select(false);
        } catch (IOException e) {
            broken = true; // the next selection would fare no better
            throw e;
        }
    }

    /** Called with the lock held, which it releases while it selects. */
    private void select(boolean now) throws IOException {
        assert !selecting;
        selecting = true;
        lock.unlock();
        try {
            if (now) {
                selector.selectNow(collector);
            } else {
                Thread.interrupted(); // while interrupted, this selection and all that follow would return at once
                selector.select(collector);
            }
            for (int i = 0; i < found.size(); i++) {
                if (!found.get(i).found()) {
                    found.set(i, null);
                }
            }
        } finally {
            lock.lock();
            selecting = false;
            selections++;
            for (int i = 0; i < found.size(); i++) {
                if (found.get(i) != null) {
                    ready.add(found.get(i));
                }
            }
            found.clear();
            selected.signalAll();
        }
    }

    private void collect(SelectionKey key) {
        Readiness channel = (Readiness) key.attachment();
        try {
            channel.seen = key.readyOps();
            found.add(channel);
        } catch (CancelledKeyException e) {
            // closed in the meantime: no operation waits any more
        }
    }

    /** Wakes an idle thread. Returns false if all threads are busy. Called with the lock held. */
    private boolean wakeIdleWorker() {
        Worker called = idle.poll();
        if (called == null) {
            called = idleInternal.poll();
        }
        if (called == null) {
            return false;
        }
        called.waits = false;
        called.called.signal();
        return true;
    }

    /** Called with the lock held. */
    private void waitForCall(Worker me) {
        (me.internal ? idleInternal : idle).push(me);
        me.waits = true;
        while (me.waits) {
            me.called.awaitUninterruptibly();
        }
    }

    /** Schedules a tick; if there is no memory or thread for it now, the next find tries again. With the lock held. */
    private void tickLater() {
        try {
            threads.scheduleTick();
            ticking = true;
        } catch (OutOfMemoryError e) {
            // until then, a leader that is away for long keeps the lead
        }
    }

    /** Takes the lead from a thread that is away for long. Called from time to time while there is work. */
    void tick() {
        lock.lock();
        try {
            Worker current = leader;
            if (ending || current == null) {
                ticking = false;
                return;
            }
            if (!current.works) {
                quiet = current.turns == turnsAtTick ? quiet + 1 : 0;
            } else if (current.turns == turnsAtTick) {
                leader = null;
                handoversLeft = HANDOVERS;
                wakeIdleWorker();
            }
            turnsAtTick = current.turns;
            ticking = false;
            if (quiet < QUIET_TICKS && leader != null) {
                tickLater();
            }
        } finally {
            lock.unlock();
        }
    }

    // ---- the end ----

    /**
     * Makes the selector forget a channel that was closed. When this returns, what the kernel keeps for the channel,
     * such as its port, is free.
     */
    void forget() {
        lock.lock();
        try {
            if (!selector.isOpen()) {
                return;
            }
            // A selection in progress may have dealt with cancelled keys already, and may only be reporting what it
            // found.
            long enough = selections + (selecting ? 2 : 1);
            while (selections < enough) {
                if (selecting) {
                    selector.wakeup();
                    selected.awaitUninterruptibly();
                } else {
                    select(true);
                    if (!ready.isEmpty()) {
                        wakeIdleWorker();
                    }
                }
            }
        } catch (IOException | ClosedSelectorException e) {
            // the next thread that selects has to deal with it, or the group has ended in the meantime
        } finally {
            lock.unlock();
        }
    }

    /** Ends the threads soon, once they have done what there is to do. */
    void end() {
        lock.lock();
        try {
            ending = true;
            while (wakeIdleWorker()) {
                // all of them
            }
            if (selecting) {
                selector.wakeup();
            }
            if (workers == 0) {
                close();
            }
        } finally {
            lock.unlock();
        }
    }

    private void ended(Worker me, boolean died) {
        boolean replace;
        lock.lock();
        try {
            if (leader == me) {
                leader = null;
                wakeIdleWorker();
            }
            replace = died && !ending;
            if (!replace) {
                leave();
            }
        } finally {
            lock.unlock();
        }
        if (replace) {
            replace(me);
        }
    }

    private void replace(Worker gone) {
        boolean started = false;
        try {
            threads.start(new Worker(gone.internal));
            started = true;
        } catch (RejectedExecutionException e) {
            // there are fewer threads from now on
        } finally { // also if no thread can be had
            if (!started) {
                lock.lock();
                try {
                    leave();
                } finally {
                    lock.unlock();
                }
            }
        }
    }

    /** Called with the lock held. */
    private void leave() {
        workers--;
        if (workers == 0 && ending) {
            close();
        }
    }

    private void close() {
        try {
            selector.close();
        } catch (IOException e) {
            // it is closed all the same
        }
    }
}
