/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.connect;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.Iterator;
import java.util.Set;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.jrsocket.threads.Threads;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Looks up names of the rules in force again that could not be looked up, until all are known or the rules are
 * replaced. Belongs to these rules, and exists only if they have such names.
 */
final class LateNames implements Runnable {

    /** Where the JDK remembers for 10 s that there is no such name, as it does by default, the second look finds it. */
    static final long FIRST_PAUSE = TimeUnit.SECONDS.toNanos(5);

    static final long LONGEST_PAUSE = TimeUnit.MINUTES.toNanos(1);

    /** The pause after lack of memory. */
    private static final long LACK_NANOS = TimeUnit.MILLISECONDS.toNanos(200);

    private static final Logger LOG = LoggerFactory.getLogger(LateNames.class);

    /** Runs one task at a time, after a pause. */
    interface Background {

        /** Has a task run after a while; does nothing once it was ended. */
        void after(long nanos, Runnable task);

        /** Waits for no task any more. One that runs may go on. */
        void end();
    }

    /** A thread, from the first task on until this is ended. */
    static final class OwnThread implements Background {

        private final ScheduledThreadPoolExecutor thread = new ScheduledThreadPoolExecutor(
                1, task -> Threads.daemon("jrsocket-names", task), new ThreadPoolExecutor.DiscardPolicy());

        @Override
        public void after(long nanos, Runnable task) {
            ScheduledFuture<?> unused = thread.schedule(task, nanos, TimeUnit.NANOSECONDS);
        }

        @Override
        public void end() {
            thread.shutdownNow();
        }
    }

    /** Is told of addresses. */
    interface Owner {

        /** Takes the addresses of a name that {@code by} has looked up. */
        void found(LateNames by, String name, InetAddress[] addresses);
    }

    private final Rules rules;
    private final Set<String> names; // that are unknown; of the task's thread, once it has started, as the pause
    private final Background background;
    private final Owner owner;
    private long pause = FIRST_PAUSE;
    private volatile boolean over;

    LateNames(Rules rules, Background background, Owner owner) {
        this.rules = rules;
        this.names = rules.unknownNames();
        this.background = background;
        this.owner = owner;
    }

    /** Begins, unless no thread is to be had, and then the names stay unknown until the rules are read again. */
    void start() {
        try {
            background.after(pause, this);
        } catch (RuntimeException | OutOfMemoryError e) { // the application needs no RDMA
            LOG.warn("names in rules that cannot be looked up are not looked up again: {}", e.toString());
            background.end();
        }
    }

    /** Ends it. A look-up that is under way goes on, but what it finds does not count. */
    void end() {
        over = true;
        background.end();
    }

    @Override
    public void run() {
        try {
            for (Iterator<String> left = names.iterator(); left.hasNext(); ) {
                String name = left.next();
                if (over) {
                    return;
                }
                InetAddress[] addresses = lookUp(name);
                if (addresses != null) {
                    owner.found(this, name, addresses);
                    left.remove();
                }
            }
        } finally {
            pause = Math.min(2 * pause, LONGEST_PAUSE);
            again();
        }
    }

    /** Has it run again. Without memory for that it waits, because nothing else would. */
    private void again() {
        while (!over) {
            try {
                background.after(pause, this);
                return;
            } catch (OutOfMemoryError e) {
                LockSupport.parkNanos(LACK_NANOS);
            }
        }
    }

    /** Returns null if the name still cannot be looked up. */
    private InetAddress[] lookUp(String name) {
        try {
            return rules.lookUp(name);
        } catch (UnknownHostException e) {
            return null;
        } catch (RuntimeException | LinkageError | OutOfMemoryError e) { // of a resolver that the application brings
            LOG.debug("looking up {} failed", name, e);
            return null;
        }
    }
}
