/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.nio;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.channels.ClosedSelectorException;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** The contract of selectors, whatever is ready: selecting and waking; {@code KeySuite} has that of their keys. */
abstract class SelectorSuite extends NioSuite {

    // ---- selecting ----

    @Test
    void shouldReturnZeroAtOnceFromSelectNowWhenNothingIsReady() throws IOException {
        Selector selector = selector();
        nonBlockingPair().client().register(selector, SelectionKey.OP_READ);
        assertEquals(0, selector.selectNow());
        assertTrue(selector.selectedKeys().isEmpty());
    }

    @Test
    void shouldReturnZeroWhenTheTimeIsOver() throws IOException {
        Selector selector = selector();
        nonBlockingPair().client().register(selector, SelectionKey.OP_READ);
        long start = System.nanoTime();
        assertEquals(0, selector.select(120));
        assertTrue(System.nanoTime() - start >= TimeUnit.MILLISECONDS.toNanos(119));
    }

    @Test
    void shouldWaitTheWholeTimeWithoutAnyKey() throws IOException {
        Selector selector = selector();
        long start = System.nanoTime();
        assertEquals(0, selector.select(50));
        assertTrue(System.nanoTime() - start >= TimeUnit.MILLISECONDS.toNanos(49));
    }

    @Test
    void shouldRefuseANegativeTime() throws IOException {
        Selector selector = selector();
        assertThrows(IllegalArgumentException.class, () -> selector.select(-1));
        assertThrows(IllegalArgumentException.class, () -> selector.select(k -> {}, -1));
    }

    @Test
    void shouldRefuseANullAction() throws IOException {
        Selector selector = selector();
        assertThrows(NullPointerException.class, () -> selector.select(null));
        assertThrows(NullPointerException.class, () -> selector.select(null, 1));
        assertThrows(NullPointerException.class, () -> selector.selectNow(null));
    }

    @Test
    void shouldReportAKeyOnceAndThenZeroWhileItStaysSelected() throws IOException {
        Selector selector = selector();
        Pair p = nonBlockingPair();
        SelectionKey key = p.client().register(selector, SelectionKey.OP_READ);
        p.server().write(text("a"));
        assertEquals(1, selector.select(10_000));
        assertTrue(selector.selectedKeys().contains(key));
        assertEquals(0, selector.select(10_000));
        assertEquals(0, selector.selectNow());
        assertTrue(selector.selectedKeys().contains(key));
    }

    @Test
    void shouldReportAKeyAgainWhenItWasRemovedAndDataIsLeft() throws IOException {
        Selector selector = selector();
        Pair p = nonBlockingPair();
        p.client().register(selector, SelectionKey.OP_READ);
        p.server().write(text("abc"));
        for (int i = 0; i < 3; i++) {
            assertEquals(1, selector.select(10_000));
            selector.selectedKeys().clear();
            assertEquals(1, read(p.client(), 1).length());
        }
        assertEquals(0, selector.selectNow());
    }

    @Test
    void shouldAddToTheReadySetOfASelectedKey() throws IOException {
        Selector selector = selector();
        Pair p = nonBlockingPair();
        SelectionKey key = p.client().register(selector, SelectionKey.OP_WRITE);
        assertEquals(1, selector.select(10_000));
        assertEquals(SelectionKey.OP_WRITE, key.readyOps());
        p.server().write(text("a"));
        key.interestOps(SelectionKey.OP_READ | SelectionKey.OP_WRITE);
        await(selector, p.client());
        assertEquals(SelectionKey.OP_READ | SelectionKey.OP_WRITE, key.readyOps());
        key.interestOps(SelectionKey.OP_READ);
        selector.selectNow();
        assertEquals(SelectionKey.OP_READ | SelectionKey.OP_WRITE, key.readyOps());
    }

    /** Selects until the channel is readable, without touching the selected keys. */
    private static void await(Selector selector, SocketChannel channel) throws IOException {
        for (int i = 0; i < 1000 && (channel.keyFor(selector).readyOps() & SelectionKey.OP_READ) == 0; i++) {
            selector.select(10);
            pause(1);
        }
    }

    @Test
    void shouldReplaceTheReadySetOfAKeyThatIsNotSelected() throws IOException {
        Selector selector = selector();
        Pair p = nonBlockingPair();
        SelectionKey key = p.client().register(selector, SelectionKey.OP_WRITE);
        selector.select(10_000);
        selector.selectedKeys().clear();
        p.server().write(text("a"));
        key.interestOps(SelectionKey.OP_READ);
        await(selector, key, SelectionKey.OP_READ);
        assertEquals(SelectionKey.OP_READ, key.readyOps());
    }

    @Test
    void shouldReportAllThatAreReadyAtOnce() throws IOException {
        Selector selector = selector();
        Set<SelectionKey> expected = new HashSet<>();
        for (int i = 0; i < 20; i++) {
            Pair p = nonBlockingPair();
            SelectionKey key = p.client().register(selector, SelectionKey.OP_READ);
            if (i % 2 == 0) {
                p.server().write(text("x"));
                expected.add(key);
            }
        }
        Set<SelectionKey> got = new HashSet<>();
        while (got.size() < expected.size()) {
            selector.select(10_000);
            got.addAll(selector.selectedKeys());
        }
        assertEquals(expected, got);
    }

    @Test
    void shouldRunTheActionOncePerReadyKey() throws IOException {
        Selector selector = selector();
        Pair p = nonBlockingPair();
        SelectionKey key = p.client().register(selector, SelectionKey.OP_READ | SelectionKey.OP_WRITE);
        List<SelectionKey> seen = new ArrayList<>();
        assertEquals(1, selector.select(seen::add));
        assertEquals(List.of(key), seen);
        assertTrue(selector.selectedKeys().isEmpty());
        assertEquals(1, selector.selectNow(seen::add));
        assertEquals(1, selector.select(seen::add, 1000));
        assertEquals(3, seen.size());
    }

    @Test
    void shouldSetTheReadyOpsBeforeTheAction() throws IOException {
        Selector selector = selector();
        Pair p = nonBlockingPair();
        p.client().register(selector, SelectionKey.OP_READ);
        p.server().write(text("z"));
        AtomicInteger ops = new AtomicInteger();
        while (selector.select(k -> ops.set(k.readyOps()), 1000) == 0) {
            pause(1);
        }
        assertEquals(SelectionKey.OP_READ, ops.get());
    }

    @Test
    void shouldTimeOutWithoutRunningTheAction() throws IOException {
        Selector selector = selector();
        nonBlockingPair().client().register(selector, SelectionKey.OP_READ);
        assertEquals(
                0,
                selector.select(
                        k -> {
                            throw new AssertionError();
                        },
                        30));
    }

    @Test
    void shouldRefuseToSelectWithinTheAction() throws IOException {
        Selector selector = selector();
        nonBlockingPair().client().register(selector, SelectionKey.OP_WRITE);
        assertThrows(
                IllegalStateException.class,
                () -> selector.select(k -> {
                    try {
                        selector.selectNow();
                    } catch (IOException e) {
                        throw new AssertionError(e);
                    }
                }));
    }

    @Test
    void shouldPassOnWhatTheActionThrows() throws IOException {
        Selector selector = selector();
        nonBlockingPair().client().register(selector, SelectionKey.OP_WRITE);
        assertThrows(
                ArithmeticException.class,
                () -> selector.select(k -> {
                    throw new ArithmeticException();
                }));
        assertEquals(1, selector.select(10_000));
    }

    @Test
    void shouldThrowWhenTheActionClosesTheSelector() throws IOException {
        Selector selector = selector();
        nonBlockingPair().client().register(selector, SelectionKey.OP_WRITE);
        assertThrows(
                ClosedSelectorException.class,
                () -> selector.select(k -> {
                    try {
                        selector.close();
                    } catch (IOException e) {
                        throw new AssertionError(e);
                    }
                }));
    }

    @Test
    void shouldLetTheActionCancelTheKey() throws IOException {
        Selector selector = selector();
        nonBlockingPair().client().register(selector, SelectionKey.OP_WRITE);
        assertEquals(1, selector.select(SelectionKey::cancel));
        assertEquals(0, selector.selectNow());
        assertTrue(selector.keys().isEmpty());
    }

    // ---- waking up ----

    @Test
    void shouldReturnAtOnceAfterAWakeup() throws IOException {
        Selector selector = selector();
        assertSame(selector, selector.wakeup());
        assertEquals(0, selector.select());
    }

    @Test
    void shouldTakeSeveralWakeupsForOne() throws IOException {
        Selector selector = selector();
        selector.wakeup().wakeup().wakeup();
        assertEquals(0, selector.select());
        long start = System.nanoTime();
        selector.select(60);
        assertTrue(System.nanoTime() - start >= TimeUnit.MILLISECONDS.toNanos(59));
    }

    @Test
    void shouldForgetAWakeupAfterSelectNow() throws IOException {
        Selector selector = selector();
        selector.wakeup();
        selector.selectNow();
        long start = System.nanoTime();
        selector.select(60);
        assertTrue(System.nanoTime() - start >= TimeUnit.MILLISECONDS.toNanos(59));
    }

    @Test
    void shouldBeWokenWhileItWaits() throws Exception {
        Selector selector = selector();
        nonBlockingPair().client().register(selector, SelectionKey.OP_READ);
        Future<Integer> waiting = blocked(() -> selector.select());
        selector.wakeup();
        assertEquals(0, get(waiting));
    }

    @Test
    void shouldBeWokenWhileItWaitsWithoutKeys() throws Exception {
        Selector selector = selector();
        Future<Integer> waiting = blocked(() -> selector.select());
        selector.wakeup();
        assertEquals(0, get(waiting));
    }

    @Test
    void shouldReportWhatIsReadyAfterAWakeup() throws IOException {
        Selector selector = selector();
        nonBlockingPair().client().register(selector, SelectionKey.OP_WRITE);
        selector.wakeup();
        assertEquals(1, selector.select());
    }

    @Test
    void shouldNeverLoseAWakeup() throws Exception {
        Selector selector = selector();
        nonBlockingPair().client().register(selector, SelectionKey.OP_READ);
        AtomicInteger turn = new AtomicInteger();
        Future<?> waiter = background(() -> {
            for (int i = 1; i <= 2000; i++) {
                selector.select();
                turn.set(i);
            }
        });
        for (int i = 1; i <= 2000; i++) {
            selector.wakeup();
            while (turn.get() < i && !waiter.isDone()) {
                Thread.onSpinWait();
            }
        }
        get(waiter);
    }

    @Test
    void shouldReturnAtOnceToAnInterruptedThread() throws Exception {
        Selector selector = selector();
        nonBlockingPair().client().register(selector, SelectionKey.OP_READ);
        get(background(() -> {
            Thread.currentThread().interrupt();
            assertEquals(0, selector.select());
            assertTrue(Thread.interrupted());
        }));
        assertTrue(selector.isOpen());
    }

    @Test
    void shouldReturnWhenTheWaitingThreadIsInterrupted() throws Exception {
        Selector selector = selector();
        nonBlockingPair().client().register(selector, SelectionKey.OP_READ);
        AtomicBoolean flag = new AtomicBoolean();
        Thread thread = new Thread(() -> {
            try {
                selector.select();
                flag.set(Thread.currentThread().isInterrupted());
            } catch (IOException e) {
                throw new AssertionError(e);
            }
        });
        thread.start();
        awaitWaiting(thread);
        thread.interrupt();
        thread.join(30_000);
        assertTrue(flag.get());
        assertTrue(selector.isOpen());
    }
}
