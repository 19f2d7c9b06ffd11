/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.threads;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The service threads among which a transport divides its streams, so that the wake-ups of virtual threads are not all
 * made by one. There is one thread for every eight processors, and eight at most. The first one also does everything
 * that concerns no stream, or is done for one stream after the other. Thread-safe.
 */
public final class ServiceLoops {

    private static final Logger LOG = LoggerFactory.getLogger(ServiceLoops.class);

    private static final int PROCESSORS = 8;
    private static final int MOST = 8;

    private final List<ServiceThread> loops;
    private final AtomicInteger turn = new AtomicInteger();

    /**
     * Starts {@code count - 1} more threads. If there is no thread or descriptor for one of them, there are fewer.
     *
     * @param first belongs to the caller
     */
    public ServiceLoops(ServiceThread first, int count) {
        loops = new ArrayList<>(count); // so that a thread that has started is always known
        loops.add(first);
        try {
            while (loops.size() < count) {
                loops.add(new ServiceThread(ServiceThread.NAME + "-" + (loops.size() + 1), Threads::daemon));
            }
        } catch (IOException | OutOfMemoryError e) {
            LOG.debug("{} service threads instead of {}: {}", loops.size(), count, e.toString());
        }
    }

    /** Returns how many threads this host warrants. */
    public static int warranted() {
        return warranted(Runtime.getRuntime().availableProcessors());
    }

    static int warranted(int processors) {
        return Math.max(1, Math.min(processors / PROCESSORS, MOST));
    }

    /** Returns the thread that does everything else, too. */
    public ServiceThread first() {
        return loops.get(0);
    }

    /** Returns the thread for the next stream: each in turn. */
    public ServiceThread next() {
        return loops.get(Math.floorMod(turn.getAndIncrement(), loops.size()));
    }

    /** Returns whether the caller is one of the threads. */
    public boolean isCurrent() {
        for (int i = 0; i < loops.size(); i++) {
            if (loops.get(i).isCurrent()) {
                return true;
            }
        }
        return false;
    }

    /** Returns for how long one of the threads has been in one callback, in nanoseconds; 0 if none hangs. */
    public long hungNanos() {
        return loops.stream().mapToLong(ServiceThread::hungNanos).max().orElse(0);
    }

    /** Ends the threads that were started here. */
    public void endOthers() {
        for (ServiceThread loop : loops.subList(1, loops.size())) {
            loop.end();
        }
    }

    /**
     * Ends all threads, after what each is about to do.
     *
     * @return false if one has not ended in time; see {@link ServiceThread#stop}
     */
    public boolean stop(long nanos) {
        loops.forEach(ServiceThread::end);
        long start = System.nanoTime();
        boolean stopped = true;
        for (ServiceThread loop : loops) {
            stopped &= loop.stop(Math.max(0, nanos - (System.nanoTime() - start)));
        }
        return stopped;
    }
}
