/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.aio;

import java.io.IOException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.LockSupport;

/** A thread of a group. It does what it is given, one thing at a time. */
final class Worker implements Runnable {

    /** Gives workers something to do. */
    interface Work {

        /**
         * Waits for something to do, and gives it to the worker. Returns false if there will be nothing more.
         *
         * @throws IOException if the selector has failed, and no thread selects any more
         */
        boolean next(Worker me) throws IOException;

        /** Tells of such a failure. */
        void failed(IOException e);

        /** Has another thread take the place of one that ends. Returns false if there are fewer from now on. */
        boolean isReplaced(Worker me);

        void ended(Worker me, boolean replaced);
    }

    /** The pause where memory is lacking to go on. */
    static final long PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(1);

    final boolean internal; // not of the pool
    private final Work work;

    // For the owner; guarded by its lock, as are the next four.
    final Condition called;
    Worker nextIdle;
    boolean waits;
    boolean works; // is busy with what it was given
    long turns;

    // What it was given.
    Runnable task;
    Readiness event;

    Worker(Work work, boolean internal, Condition called) {
        this.work = work;
        this.internal = internal;
        this.called = called;
    }

    @Override
    public void run() {
        boolean replaced = false;
        try {
            while (isToWork()) {
                try {
                    if (task != null) {
                        task.run();
                    } else {
                        event.handle(!internal);
                    }
                } catch (OutOfMemoryError e) {
                    report(e);
                } catch (Throwable t) {
                    try {
                        replaced = work.isReplaced(this);
                    } catch (OutOfMemoryError none) {
                        report(t);
                        continue;
                    }
                    throw t;
                }
            }
        } finally {
            task = null;
            event = null;
            work.ended(this, replaced);
        }
    }

    /** Waits for something to do. Returns false if there will be nothing more. */
    private boolean isToWork() {
        while (true) {
            try {
                return work.next(this);
            } catch (IOException e) {
                fail(e); // and goes on with what is left to do: there may be no other thread
            } catch (OutOfMemoryError e) {
                LockSupport.parkNanos(PAUSE_NANOS);
            }
        }
    }

    private void fail(IOException e) {
        boolean told = false;
        while (!told) {
            try {
                work.failed(e);
                told = true;
            } catch (OutOfMemoryError again) { // nobody else would close the channels
                LockSupport.parkNanos(PAUSE_NANOS);
            }
        }
    }

    /** Tells what the thread would tell if it ended. */
    private void report(Throwable thrown) {
        Thread me = Thread.currentThread();
        try {
            me.getUncaughtExceptionHandler().uncaughtException(me, thrown);
        } catch (Throwable t) {
            // as at the end of a thread, nobody hears of it
        }
    }
}
