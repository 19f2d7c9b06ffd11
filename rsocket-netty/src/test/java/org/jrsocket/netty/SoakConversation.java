/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.netty;

import java.util.Random;
import java.util.concurrent.atomic.AtomicInteger;

/** One connection's plan: what each end sends, and how it ends. */
final class SoakConversation {

    /** How an end leaves. */
    enum Ending {
        /** Sends all, then shuts its output down, and closes when the other has done so too. */
        ORDERLY,
        /** Closes in the middle. */
        CLOSE,
        /** The same with SO_LINGER 0. */
        RESET
    }

    /** Bytes of one direction. {@code sent} is the sender's event loop's, {@code received} the reader's. */
    static final class Direction {
        final long base;
        final long total;
        volatile long sent;
        volatile long received;

        Direction(Random random, int largest) {
            base = random.nextInt(1 << 24);
            // mostly little
            total = 8L + random.nextInt(random.nextInt(4) == 0 ? largest : 1 + largest / 32);
        }

        @Override
        public String toString() {
            return sent + " sent and " + received + " received of " + total;
        }
    }

    private final long id;
    private final Ending clientEnding;
    private final Ending serverEnding;
    private final AtomicInteger open = new AtomicInteger(2);
    private final Direction up;
    private final Direction down;
    private final long seed;

    SoakConversation(long id, Random random, int largest) {
        this.id = id;
        up = new Direction(random, largest);
        down = new Direction(random, largest);
        int kind = random.nextInt(8);
        clientEnding = kind == 0 ? Ending.CLOSE : kind == 1 ? Ending.RESET : Ending.ORDERLY;
        serverEnding = kind == 2 ? Ending.CLOSE : kind == 3 ? Ending.RESET : Ending.ORDERLY;
        seed = random.nextLong();
    }

    long id() {
        return id;
    }

    Random random(boolean client) {
        return new Random(client ? seed : ~seed);
    }

    Direction out(boolean client) {
        return client ? up : down;
    }

    Direction in(boolean client) {
        return client ? down : up;
    }

    Ending ending(boolean client) {
        return client ? clientEnding : serverEnding;
    }

    /** Whether every byte must arrive. */
    boolean isOrderly() {
        return clientEnding == Ending.ORDERLY && serverEnding == Ending.ORDERLY;
    }

    /**
     * An end is closed. Returns whether that is the end of the conversation: the other end need not know of one that is
     * broken off early.
     */
    boolean closed(boolean client) {
        return isOrderly() ? open.decrementAndGet() == 0 : client;
    }

    @Override
    public String toString() {
        return "conversation " + id + " (client " + clientEnding + ", server " + serverEnding + "): up " + up
                + ", down " + down;
    }
}
