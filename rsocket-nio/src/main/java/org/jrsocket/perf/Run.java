/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.perf;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jrsocket.threads.Threads;

/**
 * One run of a client, which Ctrl-C (or another end of the JVM) ends early: what was measured by then is still printed.
 * Owns the open connection. Safe for use by many threads.
 */
final class Run implements AutoCloseable {

    /** How long a client may take to notice that it is to stop, before its connection is closed. */
    private static final long NOTICE_MILLIS = 300;

    private static final long PRINT_MILLIS = 3_000;

    private final CountDownLatch ended = new CountDownLatch(1);
    private final Thread hook = Threads.daemon("perf-interrupt", this::interrupt);
    private volatile boolean stopped;
    private volatile Link link;

    Run() {
        Runtime.getRuntime().addShutdownHook(hook);
    }

    private void interrupt() {
        stopped = true;
        try {
            if (!ended.await(NOTICE_MILLIS, TimeUnit.MILLISECONDS)) {
                Link open = link;
                if (open != null) {
                    open.close();
                }
                ended.await(PRINT_MILLIS, TimeUnit.MILLISECONDS);
            }
        } catch (InterruptedException e) {
            // the JVM ends anyway
        }
    }

    /** Sets the connection to be closed if the peer no longer answers. */
    Link use(Link opened) {
        link = opened;
        if (stopped) {
            opened.close();
        }
        return opened;
    }

    boolean isStopped() {
        return stopped;
    }

    /** Sleeps, unless or until the run is to stop. */
    void sleep(long nanos) {
        long deadline = System.nanoTime() + nanos;
        for (long left = nanos; left > 0 && !stopped; left = deadline - System.nanoTime()) {
            try {
                TimeUnit.NANOSECONDS.sleep(Math.min(left, 50_000_000));
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                stopped = true;
            }
        }
    }

    /**
     * Ends the run, after the result was printed. Returns only if the JVM goes on: otherwise the caller would end it
     * too. On JDK 17, if the caller does so with a failure once the hooks have run, its status is the one that counts.
     */
    @Override
    public void close() {
        boolean ends = false;
        try {
            Runtime.getRuntime().removeShutdownHook(hook);
        } catch (IllegalStateException e) {
            ends = true;
        }
        ended.countDown();
        while (ends) {
            try {
                Thread.sleep(Long.MAX_VALUE);
            } catch (InterruptedException e) {
                // the JVM ends
            }
        }
    }
}
