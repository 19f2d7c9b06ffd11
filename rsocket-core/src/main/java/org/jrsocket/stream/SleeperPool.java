/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.stream;

/**
 * Sleepers of platform threads that nobody uses at the moment, for the next thread that sleeps. They are kept while
 * there is a service thread, and so a transport: a web application that is stopped leaves no descriptor behind. Safe
 * for use by many threads.
 */
final class SleeperPool {

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

    /** Null if there is none. */
    synchronized Sleeper take() {
        if (count == 0) {
            return null;
        }
        Sleeper taken = kept[--count];
        kept[count] = null;
        return taken;
    }

    /** Keeps it, or closes it. */
    synchronized void give(Sleeper sleeper) {
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
