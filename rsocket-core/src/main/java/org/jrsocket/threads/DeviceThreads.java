/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.threads;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.WeakHashMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.BiFunction;
import java.util.function.LongSupplier;
import org.jrsocket.verbs.Device;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Threads that call the kernel and wait for a device. One whose firmware does not answer can take a minute, so each
 * device has threads of its own, and so has what concerns no device in particular. There are none while there is
 * nothing to do. Thread-safe.
 */
final class DeviceThreads {

    private static final Logger LOG = LoggerFactory.getLogger(DeviceThreads.class);

    /** How long a thread waits for something to do. */
    private static final long IDLE_NANOS = TimeUnit.SECONDS.toNanos(10);

    /** The pause after a thread could not be created: the JVM prints a line on stdout for each try. */
    private static final long PAUSE_NANOS = TimeUnit.SECONDS.toNanos(1);

    private final String name;
    private final int most;
    private final BiFunction<String, Runnable, Thread> makes;
    private final LongSupplier clock;
    private final Map<Thread, CallTime> all = new ConcurrentHashMap<>();
    private final Pool ofNone;

    // Guarded by this.
    private final Map<Device, Pool> ofDevices = new WeakHashMap<>(); // forgets a lost one
    private boolean ended;

    /** @param most the maximum number for each device */
    DeviceThreads(String name, int most) {
        this(name, most, Threads::daemon, System::nanoTime);
    }

    /**
     * @param makes makes a thread from its name and what it runs
     * @param clock nanoseconds, as {@link System#nanoTime}
     */
    DeviceThreads(String name, int most, BiFunction<String, Runnable, Thread> makes, LongSupplier clock) {
        this.name = name;
        this.most = most;
        this.makes = makes;
        this.clock = clock;
        ofNone = new Pool(name);
    }

    /**
     * The threads of one device. Where no more can be created, those that there are do the work. A task is taken, a
     * thread created, and the end of one decided with the lock held. So there is no task without a thread, and none
     * that was refused is run. (The JDK's pools promise neither once a thread cannot be created.)
     */
    private final class Pool implements Runnable {
        private final String withName;

        // Guarded by this.
        private final Queue<Runnable> tasks = new ConcurrentLinkedQueue<>(); // loses none where memory is lacking
        private int waiting; // tasks
        private int workers;
        private int idle; // of them
        private boolean shut;
        private boolean refused; // the last thread could not be created
        private long refusedAt;

        Pool(String withName) {
            this.withName = withName;
        }

        /** Returns false if there are to be no more tasks. */
        synchronized boolean execute(Runnable task) {
            if (shut) {
                return false;
            }
            tasks.add(task);
            waiting++;
            if (waiting <= idle) {
                notify();
            } else if (workers < most) {
                boolean taken = false;
                try {
                    create();
                    taken = true;
                } finally {
                    if (!taken) { // there is no thread, so this is the only task
                        tasks.poll(); // not clear(), which may need memory, and would leave it to the next thread
                        waiting = 0;
                    }
                }
            }
            return true;
        }

        /** Creates a thread. Throws what prevents that if there is no other. */
        private void create() {
            if (refused && clock.getAsLong() - refusedAt < PAUSE_NANOS) {
                if (workers == 0) {
                    throw new OutOfMemoryError("unable to create native thread, less than a second ago");
                }
                return;
            }
            Thread fresh = null;
            try {
                fresh = makes.apply(withName, this);
                all.put(fresh, new CallTime());
                fresh.start();
                workers++;
                refused = false;
            } catch (RuntimeException | Error e) {
                if (fresh != null) {
                    all.remove(fresh);
                }
                if (String.valueOf(e.getMessage()).contains("native thread")) {
                    refusedAt = clock.getAsLong();
                    refused = true;
                }
                if (workers == 0) {
                    throw e;
                }
            }
        }

        @Override
        public void run() {
            CallTime calling = all.get(Thread.currentThread());
            for (Runnable task = next(); task != null; task = next()) {
                calling.begin();
                run(task);
                calling.end();
            }
            all.remove(Thread.currentThread());
        }

        private void run(Runnable task) {
            try {
                task.run();
            } catch (Throwable t) {
                survive(t);
            }
        }

        private void survive(Throwable cause) {
            try {
                LOG.error("a task of a thread {} failed", withName, cause);
            } catch (Throwable t) {
                // it cannot be reported anywhere
            }
        }

        /** Waits for a task. Returns null if the thread is to end. */
        private synchronized Runnable next() {
            long start = System.nanoTime();
            while (waiting == 0) {
                long left = IDLE_NANOS - (System.nanoTime() - start);
                if (shut || left <= 0) {
                    workers--;
                    notifyAll(); // whoever waits for the end
                    return null;
                }
                idle++;
                try {
                    TimeUnit.NANOSECONDS.timedWait(this, left);
                } catch (InterruptedException | OutOfMemoryError e) { // the latter instead of the former
                    // left over from a task
                } finally {
                    idle--;
                }
            }
            waiting--;
            Thread.interrupted(); // what the last task has left is not for the next
            return tasks.poll();
        }

        synchronized void shut() {
            shut = true;
            notifyAll();
        }

        /** Waits until no thread is left. Returns false if some are after {@code nanos}. */
        synchronized boolean awaitEnd(long nanos) throws InterruptedException {
            long start = System.nanoTime();
            for (long left = nanos; workers > 0 && left > 0; left = nanos - (System.nanoTime() - start)) {
                TimeUnit.NANOSECONDS.timedWait(this, left);
            }
            return workers == 0;
        }
    }

    /**
     * Has {@code task} run soon.
     *
     * @param device the device that it may have to wait for; null if none or unknown
     * @return false if these threads have ended
     * @throws OutOfMemoryError if there is no memory, or no thread and none can be created; the task is not run then
     */
    boolean execute(Device device, Runnable task) {
        return of(device).execute(task);
    }

    private Pool of(Device device) {
        if (device == null) {
            return ofNone;
        }
        synchronized (this) {
            Pool pool = ofDevices.get(device);
            if (pool == null) {
                if (ended) {
                    return ofNone; // which has ended, too
                }
                pool = new Pool(name + " " + device.name());
                ofDevices.put(device, pool);
            }
            return pool;
        }
    }

    /** Returns for how long, in nanoseconds, the one has been in a task that hangs longest; 0 if none does. */
    long hungNanos() {
        long longest = 0;
        for (CallTime each : all.values()) {
            longest = Math.max(longest, each.hungNanos());
        }
        return longest;
    }

    /** Returns whether the caller is one of them. */
    boolean isCurrent() {
        return all.containsKey(Thread.currentThread());
    }

    /**
     * Lets them take no more, and waits for what they have, despite interrupts, after which the thread is interrupted.
     *
     * @return false if that is not done after {@code nanos}
     */
    boolean end(long nanos) {
        long start = System.nanoTime();
        List<Pool> pools;
        synchronized (this) {
            ended = true;
            pools = new ArrayList<>(ofDevices.values());
        }
        pools.add(ofNone);
        pools.forEach(Pool::shut);
        boolean done = true;
        boolean interrupted = false;
        for (int i = 0; i < pools.size(); ) {
            try {
                done &= pools.get(i).awaitEnd(nanos - (System.nanoTime() - start));
                i++;
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
        return done;
    }
}
