/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.aio;

import java.io.IOException;
import java.nio.channels.ClosedSelectorException;
import java.nio.channels.Selector;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;

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
 * <p>A thread whose handler throws ends, and another takes its place, as with the JDK. It goes on if memory is lacking,
 * or a thread: no other may be to be had. What is ready and who is idle takes no memory to note, so neither is lost.
 *
 * <p>{@code lock} is never held while a channel's {@link Readiness} is taken, nor during a selection; the package
 * documentation has the whole order.
 */
final class EventLoop implements Worker.Work {

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

    private final Handlers.Group group;
    private final Threads threads;
    private final Selector selector;

    private final ReentrantLock lock = new ReentrantLock();
    private final Condition selected = lock.newCondition();
    // Guarded by lock.
    private final Queue<Runnable> tasks = new ConcurrentLinkedQueue<>(); // loses none where memory is lacking
    private final ReadyChannels ready = new ReadyChannels();
    private final IdleWorkers idle = new IdleWorkers();
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

    EventLoop(Handlers.Group group, Selector selector, Threads threads) {
        this.group = group;
        this.selector = selector;
        this.threads = threads;
    }

    Selector selector() {
        return selector;
    }

    /** Starts the given numbers of threads of the pool, and of internal threads. */
    void start(int pooled, int internal) {
        for (int i = 0; i < pooled + internal; i++) {
            Worker worker = new Worker(this, i >= pooled, lock.newCondition());
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

    /** Takes the lock. The JDK's may need memory to wait; a state that is half changed must not stay so. */
    private void enter() {
        try {
            lock.lock();
        } catch (OutOfMemoryError e) {
            while (!lock.tryLock()) {
                LockSupport.parkNanos(Worker.PAUSE_NANOS);
            }
        }
    }

    private void count(int more) {
        enter();
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
            if (!idle.wakeOne() && selecting) {
                selector.wakeup();
            }
        } finally {
            lock.unlock();
        }
    }

    // ---- who does what ----

    @Override
    public boolean next(Worker me) throws IOException {
        Thread.interrupted(); // a selection would return at once
        if (!me.internal) {
            Handlers.begin(group);
        }
        lock.lock();
        try {
            me.works = false;
            me.event = null;
            me.task = null;
            while (true) {
                me.task = tasks.poll();
                if (me.task == null) {
                    me.event = ready.take();
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
                    idle.await(me);
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
            idle.wakeOne(); // and that one calls the next
        }
        if (leader == me) {
            if (handoversLeft > 0) {
                handoversLeft--;
                leader = null;
                idle.wakeOne();
            } else if (!ticking && !idle.isEmpty()) {
                quiet = 0;
                turnsAtTick = -1;
                tickLater();
            }
        }
    }

    /** Called with the lock held. */
    private boolean mayLead(Worker me) {
        if (me.internal && idle.hasPooled()) {
            if (leader == null || leader == me) {
                leader = null;
                idle.wakeOne();
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
            ready.find(selector, now);
        } finally {
            enter();
            selecting = false;
            selections++;
            ready.addFound();
            selected.signalAll();
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
        enter();
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
                idle.wakeOne();
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

    @Override
    public void failed(IOException e) {
        threads.failed(e);
    }

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
                        idle.wakeOne();
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
            while (idle.wakeOne()) {
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

    @Override
    public boolean isReplaced(Worker me) {
        enter();
        try {
            if (ending) {
                return false;
            }
        } finally {
            lock.unlock();
        }
        try {
            threads.start(new Worker(this, me.internal, lock.newCondition()));
            return true;
        } catch (RejectedExecutionException e) {
            return false;
        }
    }

    @Override
    public void ended(Worker me, boolean replaced) {
        enter();
        try {
            if (leader == me) {
                leader = null;
                idle.wakeOne();
            }
            if (!replaced) {
                workers--;
            }
            if (workers == 0 && ending) {
                close();
            }
        } finally {
            lock.unlock();
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
