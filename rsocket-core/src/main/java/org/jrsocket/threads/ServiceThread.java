/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.threads;

import java.io.IOException;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BiFunction;
import java.util.function.Consumer;
import org.jrsocket.os.Epoll;
import org.jrsocket.os.EventFd;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The transport's epoll loop: descriptors, tasks and timers, on one daemon thread. A callback that throws is logged and
 * does not affect the others.
 */
public final class ServiceThread implements ServiceLoop.Owned, Runnable {

    private static final Logger LOG = LoggerFactory.getLogger(ServiceThread.class);
    public static final String NAME = "jrsocket-service";

    private static final int BATCH = 64;
    private static final long WAKE = 0;
    /** The pause after something that failed; the next try may fail as well. */
    private static final long PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(1);
    /** How often the pause between two tries for memory doubles, since each may cost a full collection: to 128 ms. */
    private static final int DOUBLINGS = 7;

    private final Epoll epoll;
    private final EventFd wake;
    private final Queue<Runnable> tasks = new ConcurrentLinkedQueue<>();
    private final Map<Long, FdWatch> watches = new ConcurrentHashMap<>();
    private final AtomicLong nextId = new AtomicLong(WAKE + 1);
    private final ServiceTimers timers = new ServiceTimers();

    private final Thread thread;
    private final Leftovers leftovers = new Leftovers(this::wake);
    private final Runnable round = leftovers::round;
    private final Consumer<Runnable> calls = this::call;
    private long lastRound = System.nanoTime(); // of the leftovers; service thread only
    private volatile boolean sleeping;
    private final CallTime calling = new CallTime();
    private volatile boolean stopped;

    /**
     * Starts the thread.
     *
     * @param threads makes the thread from its name and what it runs
     */
    public ServiceThread(String name, BiFunction<String, Runnable, Thread> threads) throws IOException {
        wake = new EventFd();
        Epoll set = null;
        try {
            set = new Epoll(BATCH);
            set.add(wake.fd(), Epoll.IN, WAKE);
            epoll = set;
            thread = threads.apply(name, this);
            thread.start();
        } catch (IOException | RuntimeException | Error e) { // no thread or descriptor is available, for example
            wake.close();
            if (set != null) {
                set.close();
            }
            throw e;
        }
    }

    @Override
    public void execute(Runnable task) {
        tasks.add(task);
        wake();
    }

    public Leftovers leftovers() {
        return leftovers;
    }

    /** Wakes the thread, because there is something new for it. */
    void wake() {
        if (sleeping && Thread.currentThread() != thread) {
            wake.signal();
        }
    }

    @Override
    public Timer schedule(Runnable task, long nanos) {
        Timer timer = timers.add(task, nanos);
        wake();
        return timer;
    }

    @Override
    public Timer scheduleAgain(Runnable task, long nanos) {
        for (int tries = 1; ; tries++) {
            try {
                return schedule(task, nanos);
            } catch (OutOfMemoryError e) {
                if (!isCurrent() || stopped) {
                    throw e;
                }
                LockSupport.parkNanos(pauseNanos(tries));
            }
        }
    }

    /** Returns the pause after so many tries for memory. It is short first, because others may wait for this thread. */
    public static long pauseNanos(int tries) {
        return PAUSE_NANOS << Math.min(tries - 1, DOUBLINGS);
    }

    ServiceTimers timers() {
        return timers;
    }

    @Override
    public Watch watch(int fd, Runnable onReadable) throws IOException {
        FdWatch watch = new FdWatch(nextId.getAndIncrement(), fd, onReadable);
        add(watch);
        return watch;
    }

    private void add(FdWatch watch) throws IOException {
        if (stopped) { // the set's descriptor number may have been reused
            throw new IOException("the service thread has ended");
        }
        watches.put(watch.id, watch);
        try {
            epoll.add(watch.fd, Epoll.ONESHOT, watch.id); // no interest yet, so unarmed
        } catch (IOException e) {
            watches.remove(watch.id);
            throw e;
        }
    }

    /**
     * Watches like {@link #watch}, but once {@linkplain Watch#arm armed} the callback runs as long as the descriptor is
     * readable, until the watch is paused.
     */
    public SteadyWatch watchSteadily(int fd, Runnable onReadable) throws IOException {
        SteadyWatch watch = new SteadyWatch(nextId.getAndIncrement(), fd, onReadable);
        add(watch);
        return watch;
    }

    /** Returns how many timers are due in {@code nanos} or later. For tests. */
    int timersLaterThan(long nanos) {
        return timers.laterThan(nanos);
    }

    @Override
    public boolean isCurrent() {
        return Thread.currentThread() == thread;
    }

    /** Returns whether the thread is ending: what it is given from now on may never run. */
    public boolean hasEnded() {
        return stopped;
    }

    /** Returns for how long one callback has been running, in nanoseconds, if it hangs; otherwise 0. */
    public long hungNanos() {
        return calling.hungNanos();
    }

    @Override
    public void end() {
        stopped = true;
        wake.signal();
    }

    /**
     * Ends it after the turn under way. That may last: a logger, say, that waits for a lock of the caller's.
     *
     * @return false if it has not ended in time, so that it may still use what it was given; true on the service thread
     */
    public boolean stop(long nanos) {
        end();
        if (isCurrent()) {
            return true;
        }
        long start = System.nanoTime();
        boolean interrupted = false;
        long left = nanos;
        while (thread.isAlive() && left > 0) {
            try {
                TimeUnit.NANOSECONDS.timedJoin(thread, left);
            } catch (InterruptedException e) {
                interrupted = true;
            }
            left = nanos - (System.nanoTime() - start);
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
        return !thread.isAlive();
    }

    @Override
    public void run() {
        SleeperPool.COMMON.begin();
        try {
            while (!stopped) {
                try {
                    turn();
                } catch (Throwable t) {
                    survive("a turn of the service thread failed", t);
                    LockSupport.parkNanos(PAUSE_NANOS);
                }
            }
        } finally {
            stopped = true; // checked by those who wait for something from this thread
            runTasks(); // whoever came before that relies on it
            epoll.close();
            wake.close();
            SleeperPool.COMMON.end();
        }
    }

    private void turn() {
        // Announce sleep first, look for tasks second: whoever adds a task in between sees `sleeping` and signals.
        sleeping = true;
        long nanos = tasks.isEmpty() ? untilNextTimer() : 0;
        int n;
        try {
            n = epoll.await(nanos);
        } catch (IOException e) {
            LOG.error("waiting for the events of RDMA connections failed; it will be tried again", e);
            n = 0;
        }
        sleeping = false;
        for (int i = 0; i < n; i++) {
            long id = epoll.data(i);
            if (id == WAKE) {
                wake.clear();
                continue;
            }
            FdWatch watch = watches.get(id);
            if (watch != null) {
                call(watch.onReadable);
            }
        }
        runTasks();
        long now = System.nanoTime();
        // Asked now: a stream added since then must not wait as long as those whose writers keep coming back.
        if (leftovers.any() && now - lastRound >= leftovers.period()) {
            call(round);
            lastRound = now;
        }
        timers.run(now, calls);
    }

    private void runTasks() {
        for (Runnable task = tasks.poll(); task != null; task = tasks.poll()) {
            call(task);
        }
    }

    private long untilNextTimer() {
        long nanos = timers.untilNext();
        if (!leftovers.any()) {
            return nanos;
        }
        long period = leftovers.period();
        return nanos < 0 ? period : Math.min(nanos, period);
    }

    private void call(Runnable callback) {
        calling.begin();
        try {
            callback.run();
        } catch (Throwable t) {
            survive("a callback of the service thread failed", t);
        } finally {
            calling.end();
        }
    }

    /** Logs. The loop serves every connection of the process, so nothing ends it, not even a logger that fails too. */
    private static void survive(String what, Throwable cause) {
        try {
            LOG.error(what, cause);
        } catch (Throwable t) {
            // it cannot be reported anywhere
        }
    }

    private class FdWatch implements Watch {
        private final long id;
        private final int fd;
        private final Runnable onReadable;
        private boolean cancelled;

        FdWatch(long id, int fd, Runnable onReadable) {
            this.id = id;
            this.fd = fd;
            this.onReadable = onReadable;
        }

        @Override
        public void arm() throws IOException {
            interest(Epoll.IN | Epoll.ONESHOT);
        }

        final synchronized void interest(int events) throws IOException {
            if (!cancelled && !stopped) {
                epoll.modify(fd, events, id);
            }
        }

        @Override
        public synchronized void cancel() {
            if (!cancelled) {
                cancelled = true;
                watches.remove(id);
                if (!stopped) {
                    epoll.remove(fd);
                }
            }
        }
    }

    /**
     * A watch that stays armed, which saves a system call for each event. For a descriptor whose callback always takes
     * something.
     */
    public final class SteadyWatch extends FdWatch {

        SteadyWatch(long id, int fd, Runnable onReadable) {
            super(id, fd, onReadable);
        }

        @Override
        public void arm() throws IOException {
            interest(Epoll.IN);
        }

        /** Stops callbacks until the watch is armed again. */
        public void pause() throws IOException {
            interest(Epoll.ONESHOT);
        }
    }
}
