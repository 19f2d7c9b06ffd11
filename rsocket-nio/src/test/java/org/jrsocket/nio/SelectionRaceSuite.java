/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.nio;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.ByteBuffer;
import java.nio.channels.Pipe;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import java.nio.channels.spi.SelectorProvider;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/**
 * Threads that write, or set a key's interest, while another selects. Whichever step of a selection they meet, one that
 * begins afterwards reports the key, and so does the next as long as it is ready.
 */
abstract class SelectionRaceSuite extends NioSuite {

    private static final int ROUNDS = 3000;
    /** Fewer do where two threads get a processor in turn, and not often. */
    private static final int LEAST_ROUNDS = 30;

    private static final long ENOUGH_NANOS = TimeUnit.SECONDS.toNanos(10);
    /** Of a turn: there is none any more. */
    private static final int OVER = Integer.MAX_VALUE;

    /** Fruitless looks, after which a thread gives way: there may be one processor. */
    private static final int PATIENCE = 500;

    /**
     * Lets another thread set the interest of a key that is ready, again and again, while this one selects without
     * waiting. Whichever step of a selection the change meets, a later selection reports the key.
     */
    private static void assertHeeded(SelectionKey key, int interest) throws Exception {
        Selector selector = key.selector();
        AtomicInteger turn = new AtomicInteger();
        Future<?> setting = background(() -> {
            for (int round = 1; isTurn(turn, round); round++) {
                key.interestOps(interest);
            }
        });
        try {
            long start = System.nanoTime();
            for (int round = 1; isWorthIt(round, start); round++) {
                turn.set(round);
                long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(20);
                for (int looks = 0; !selector.selectedKeys().contains(key); looks++) {
                    selector.selectNow();
                    int current = round;
                    assertTrue(System.nanoTime() - deadline < 0, () -> "round " + current + ": never reported: " + key);
                    giveWay(looks);
                }
                selector.selectedKeys().clear();
                key.interestOps(0);
                assertEquals(0, selector.selectNow());
            }
        } finally {
            turn.set(OVER);
        }
        get(setting);
    }

    private static boolean isWorthIt(int round, long start) {
        return round <= LEAST_ROUNDS || round <= ROUNDS && System.nanoTime() - start < ENOUGH_NANOS;
    }

    /** Waits for that round; false when there is none any more. */
    private static boolean isTurn(AtomicInteger turn, int round) {
        for (int looks = 0; turn.get() < round; looks++) {
            giveWay(looks);
        }
        return turn.get() != OVER;
    }

    private static void giveWay(int looks) {
        if (looks % PATIENCE == PATIENCE - 1) {
            Thread.yield();
        } else {
            Thread.onSpinWait();
        }
    }

    /** Beside a channel of the kind that has nothing. */
    private Selector selectorWithAQuietChannel() throws Exception {
        Selector selector = selector();
        nonBlockingPair().client().register(selector, SelectionKey.OP_READ);
        return selector;
    }

    @Test
    void shouldHeedTheInterestInAPipe() throws Exception {
        Pipe pipe = kind().provider().openPipe();
        closing(pipe.sink()).write(text("a"));
        SelectionKey key = nonBlocking(closing(pipe.source())).register(selectorWithAQuietChannel(), 0);
        assertHeeded(key, SelectionKey.OP_READ);
    }

    @Test
    void shouldHeedTheInterestInAConnectionToAPlainSocket() throws Exception {
        SelectorProvider plain = NioKind.plainProvider();
        SocketChannel client = open();
        try (var server = plain.openServerSocketChannel().bind(anyPort())) {
            client.connect(server.getLocalAddress());
            closing(server.accept()).write(text("a"));
        }
        SelectionKey key = nonBlocking(client).register(selectorWithAQuietChannel(), 0);
        assertHeeded(key, SelectionKey.OP_READ);
        assertEquals(1, client.read(ByteBuffer.allocate(1)));
    }

    @Test
    void shouldHeedTheInterestInAConnection() throws Exception {
        Pair p = nonBlockingPair();
        p.server().write(text("a"));
        SelectionKey key = p.client().register(selectorWithAQuietChannel(), 0);
        assertHeeded(key, SelectionKey.OP_READ);
    }

    /** The next selection is to be as good as the first, whatever the first one found it by. */
    @Test
    void shouldReportAgainWhatWasReadInPart() throws Exception {
        Selector selector = selector();
        Pair p = nonBlockingPair();
        SelectionKey key = p.client().register(selector, SelectionKey.OP_READ);
        AtomicInteger turn = new AtomicInteger();
        Future<?> writing = background(() -> {
            for (int round = 1; isTurn(turn, round); round++) {
                assertEquals(2, p.server().write(text("ab")));
            }
        });
        try {
            long start = System.nanoTime();
            for (int round = 1; isWorthIt(round, start); round++) {
                turn.set(round);
                int current = round;
                assertEquals(1, selector.select(20_000));
                selector.selectedKeys().clear();
                assertEquals("a", read(p.client(), 1));
                assertEquals(1, selector.selectNow(), () -> "round " + current + ": not reported again: " + key);
                selector.selectedKeys().clear();
                assertEquals("b", read(p.client(), 1));
                assertEquals(0, selector.selectNow());
            }
        } finally {
            turn.set(OVER);
        }
        get(writing);
    }
}
