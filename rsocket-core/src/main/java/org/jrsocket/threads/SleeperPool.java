/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.threads;

import java.io.IOException;

/**
 * Sleepers of platform threads that nobody uses at the moment, for the next thread that sleeps. They are kept while
 * there is a service thread, and so a transport: a web application that is stopped leaves no descriptor behind. Safe
 * for use by many threads.
 */
public final class SleeperPool {

    /** The pool of the process. */
    public static final SleeperPool COMMON = new SleeperPool();

    private static final int LIMIT = 256;

    // Guarded by this.
    private final Sleeper[] kept = new Sleeper[LIMIT];
    private int count;
    private int users;

    /** From now on sleepers are kept, until {@link #end}. */
    synchronized void begin() {
        users++;
    }

    /** The last one that ends closes what is kept. */
    synchronized void end() {
        users--;
        while (users == 0 && count > 0) {
            take().close();
        }
    }

    /** Returns a sleeper for the calling thread, which has to be given back with {@link #release}. */
    public Sleeper acquire() throws IOException {
        Sleeper taken = Threads.isVirtual() ? null : take();
        Sleeper sleeper = taken != null ? taken : new Sleeper();
        sleeper.begin();
        return sleeper;
    }

    public void release(Sleeper sleeper) {
        sleeper.end();
        if (sleeper.hasDescriptor()) {
            give(sleeper);
        }
    }

    /** Null if there is none. */
    private synchronized Sleeper take() {
        if (count == 0) {
            return null;
        }
        Sleeper taken = kept[--count];
        kept[count] = null;
        return taken;
    }

    /** Keeps it, or closes it. */
    private synchronized void give(Sleeper sleeper) {
        if (users > 0 && count < LIMIT) {
            kept[count++] = sleeper;
        } else {
            sleeper.close();
        }
    }

    /** For tests. */
    synchronized int users() {
        return users;
    }
}
