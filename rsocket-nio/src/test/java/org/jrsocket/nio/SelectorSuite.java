/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.nio;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.channels.CancelledKeyException;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.ClosedSelectorException;
import java.nio.channels.IllegalBlockingModeException;
import java.nio.channels.IllegalSelectorException;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
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

/** The contract of selectors and keys, whatever is ready: selecting, waking, registering, cancelling, closing. */
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
        Future<Integer> waiting = background(() -> selector.select());
        pause(60);
        selector.wakeup();
        assertEquals(0, get(waiting));
    }

    @Test
    void shouldBeWokenWhileItWaitsWithoutKeys() throws Exception {
        Selector selector = selector();
        Future<Integer> waiting = background(() -> selector.select());
        pause(60);
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
        pause(60);
        thread.interrupt();
        thread.join(30_000);
        assertTrue(flag.get());
        assertTrue(selector.isOpen());
    }

    // ---- registering ----

    @Test
    void shouldRefuseToRegisterABlockingChannel() throws IOException {
        Selector selector = selector();
        SocketChannel client = open();
        assertThrows(IllegalBlockingModeException.class, () -> client.register(selector, SelectionKey.OP_READ));
    }

    @Test
    void shouldRefuseToRegisterForWhatAChannelCannotDo() throws IOException {
        Selector selector = selector();
        SocketChannel client = nonBlocking(open());
        assertThrows(IllegalArgumentException.class, () -> client.register(selector, SelectionKey.OP_ACCEPT));
        ServerSocketChannel server = nonBlocking(openServer());
        assertThrows(IllegalArgumentException.class, () -> server.register(selector, SelectionKey.OP_READ));
    }

    @Test
    void shouldRefuseToRegisterAClosedChannel() throws IOException {
        Selector selector = selector();
        SocketChannel client = nonBlocking(open());
        client.close();
        assertThrows(ClosedChannelException.class, () -> client.register(selector, SelectionKey.OP_READ));
    }

    @Test
    void shouldRefuseToRegisterWithAClosedSelector() throws IOException {
        Selector selector = selector();
        selector.close();
        SocketChannel client = nonBlocking(open());
        assertThrows(ClosedSelectorException.class, () -> client.register(selector, SelectionKey.OP_READ));
        assertFalse(client.isRegistered());
    }

    @Test
    void shouldRefuseAChannelOfAnUnknownKind() throws IOException {
        Selector selector = selector();
        try (ForeignChannel foreign = new ForeignChannel(kind().provider())) {
            foreign.configureBlocking(false);
            assertThrows(IllegalSelectorException.class, () -> foreign.register(selector, 0));
        }
    }

    @Test
    void shouldRegisterWithAnAttachment() throws IOException {
        Selector selector = selector();
        SocketChannel client = nonBlocking(open());
        SelectionKey key = client.register(selector, 0, "attached");
        assertEquals("attached", key.attachment());
        assertEquals("attached", key.attach("other"));
        assertEquals("other", key.attachment());
        assertSame(key, client.keyFor(selector));
        assertSame(selector, key.selector());
        assertSame(client, key.channel());
        assertTrue(key.isValid());
        assertTrue(client.isRegistered());
        assertEquals(Set.of(key), selector.keys());
    }

    @Test
    void shouldUpdateTheKeyWhenRegisteredAgain() throws IOException {
        Selector selector = selector();
        SocketChannel client = nonBlocking(open());
        SelectionKey key = client.register(selector, SelectionKey.OP_READ, "a");
        assertSame(key, client.register(selector, SelectionKey.OP_WRITE, "b"));
        assertEquals(SelectionKey.OP_WRITE, key.interestOps());
        assertEquals("b", key.attachment());
    }

    @Test
    void shouldHaveKeysInTwoSelectors() throws IOException {
        Selector one = selector();
        Selector two = selector();
        Pair p = nonBlockingPair();
        SelectionKey a = p.client().register(one, SelectionKey.OP_READ);
        SelectionKey b = p.client().register(two, SelectionKey.OP_READ);
        assertNotSame(a, b);
        p.server().write(text("x"));
        await(one, a, SelectionKey.OP_READ);
        await(two, b, SelectionKey.OP_READ);
        a.cancel();
        one.selectNow();
        assertTrue(p.client().isRegistered());
        assertNull(p.client().keyFor(one));
        read(p.client(), 1);
        two.selectedKeys().clear();
        assertEquals(0, two.selectNow());
        p.server().write(text("y"));
        await(two, b, SelectionKey.OP_READ);
    }

    @Test
    void shouldRegisterWhileAnotherThreadSelects() throws Exception {
        Selector selector = selector();
        Pair p = nonBlockingPair();
        Future<Integer> waiting = background(() -> selector.select());
        pause(50);
        SelectionKey key = get(background(() -> p.client().register(selector, SelectionKey.OP_WRITE)));
        selector.wakeup();
        get(waiting);
        await(selector, key, SelectionKey.OP_WRITE);
    }

    @Test
    void shouldSurviveRegistrationsByManyThreads() throws Exception {
        Selector selector = selector();
        List<Pair> pairs = new ArrayList<>();
        for (int i = 0; i < 24; i++) {
            pairs.add(nonBlockingPair());
        }
        AtomicBoolean stop = new AtomicBoolean();
        Future<?> loop = background(() -> {
            while (!stop.get()) {
                selector.select(5);
                selector.selectedKeys().clear();
            }
        });
        List<Future<?>> registering = new ArrayList<>();
        for (int t = 0; t < 3; t++) {
            int first = t;
            registering.add(background(() -> {
                for (int round = 0; round < 20; round++) {
                    for (int i = first; i < pairs.size(); i += 3) {
                        SelectionKey key;
                        do {
                            try {
                                key = pairs.get(i).client().register(selector, SelectionKey.OP_WRITE);
                            } catch (CancelledKeyException e) {
                                selector.wakeup(); // not deregistered yet
                                key = null;
                            }
                        } while (key == null);
                        key.cancel();
                    }
                }
            }));
        }
        for (Future<?> f : registering) {
            get(f);
        }
        stop.set(true);
        get(loop);
        selector.selectNow();
        assertTrue(selector.keys().isEmpty());
    }

    // ---- keys and sets ----

    @Test
    void shouldNotLetAnybodyChangeTheKeys() throws IOException {
        Selector selector = selector();
        SelectionKey key = nonBlocking(open()).register(selector, 0);
        assertThrows(UnsupportedOperationException.class, () -> selector.keys().remove(key));
        assertThrows(UnsupportedOperationException.class, () -> selector.keys().clear());
        assertThrows(UnsupportedOperationException.class, () -> selector.keys().add(key));
    }

    @Test
    void shouldLetSelectedKeysBeRemovedButNotAdded() throws IOException {
        Selector selector = selector();
        SelectionKey key = nonBlockingPair().client().register(selector, SelectionKey.OP_WRITE);
        selector.select(10_000);
        assertThrows(UnsupportedOperationException.class, () -> selector.selectedKeys()
                .add(key));
        assertThrows(UnsupportedOperationException.class, () -> selector.selectedKeys()
                .addAll(Set.of(key)));
        assertThrows(UnsupportedOperationException.class, () -> selector.selectedKeys()
                .add(null));
        assertTrue(selector.selectedKeys().remove(key));
        assertFalse(selector.selectedKeys().remove(key));
        selector.select(10_000);
        var iterator = selector.selectedKeys().iterator();
        iterator.next();
        iterator.remove();
        assertTrue(selector.selectedKeys().isEmpty());
        selector.select(10_000);
        assertTrue(selector.selectedKeys().removeAll(Set.of(key)));
        selector.select(10_000);
        assertFalse(selector.selectedKeys().retainAll(Set.of(key)));
    }

    @Test
    void shouldGiveTheSameSetsAlways() throws IOException {
        Selector selector = selector();
        assertSame(selector.keys(), selector.keys());
        assertSame(selector.selectedKeys(), selector.selectedKeys());
        assertSame(kind().provider(), selector.provider());
    }

    @Test
    void shouldChangeInterestBitByBit() throws IOException {
        Selector selector = selector();
        SelectionKey key = nonBlocking(open()).register(selector, SelectionKey.OP_READ);
        assertEquals(SelectionKey.OP_READ, key.interestOpsOr(SelectionKey.OP_WRITE));
        assertEquals(SelectionKey.OP_READ | SelectionKey.OP_WRITE, key.interestOps());
        assertEquals(SelectionKey.OP_READ | SelectionKey.OP_WRITE, key.interestOpsAnd(~SelectionKey.OP_READ));
        assertEquals(SelectionKey.OP_WRITE, key.interestOps());
        assertSame(key, key.interestOps(0));
    }

    @Test
    void shouldRefuseInterestInWhatTheChannelCannotDo() throws IOException {
        Selector selector = selector();
        SelectionKey key = nonBlocking(open()).register(selector, SelectionKey.OP_READ);
        assertThrows(IllegalArgumentException.class, () -> key.interestOps(SelectionKey.OP_ACCEPT));
        assertThrows(IllegalArgumentException.class, () -> key.interestOpsOr(SelectionKey.OP_ACCEPT));
        assertEquals(SelectionKey.OP_READ, key.interestOps());
    }

    @Test
    void shouldReportNothingWithoutInterest() throws IOException {
        Selector selector = selector();
        Pair p = nonBlockingPair();
        SelectionKey key = p.client().register(selector, 0);
        p.server().write(text("a"));
        pause(20);
        assertEquals(0, selector.select(50));
        assertEquals(0, key.readyOps());
    }

    @Test
    void shouldTakeUpAnInterestThatAnotherThreadSets() throws Exception {
        Selector selector = selector();
        Pair p = nonBlockingPair();
        SelectionKey key = p.client().register(selector, 0);
        Future<Integer> waiting = background(() -> {
            int n;
            do {
                n = selector.select();
            } while (n == 0);
            return n;
        });
        pause(50);
        key.interestOps(SelectionKey.OP_WRITE);
        selector.wakeup();
        assertEquals(1, get(waiting));
    }

    // ---- cancelling ----

    @Test
    void shouldForgetACancelledKeyAtTheNextSelection() throws IOException {
        Selector selector = selector();
        Pair p = nonBlockingPair();
        SelectionKey key = p.client().register(selector, SelectionKey.OP_WRITE);
        selector.select(10_000);
        key.cancel();
        assertFalse(key.isValid());
        assertTrue(selector.keys().contains(key));
        selector.selectNow();
        assertFalse(selector.keys().contains(key));
        assertFalse(selector.selectedKeys().contains(key));
        assertFalse(p.client().isRegistered());
        assertNull(p.client().keyFor(selector));
    }

    @Test
    void shouldThrowCancelledKeyExceptionFromACancelledKey() throws IOException {
        Selector selector = selector();
        SelectionKey key = nonBlocking(open()).register(selector, SelectionKey.OP_READ, "still there");
        key.cancel();
        key.cancel();
        assertThrows(CancelledKeyException.class, key::interestOps);
        assertThrows(CancelledKeyException.class, () -> key.interestOps(0));
        assertThrows(CancelledKeyException.class, () -> key.interestOpsOr(0));
        assertThrows(CancelledKeyException.class, () -> key.interestOpsAnd(0));
        assertThrows(CancelledKeyException.class, key::readyOps);
        assertThrows(CancelledKeyException.class, key::isReadable);
        assertEquals("still there", key.attachment());
        assertSame(selector, key.selector());
    }

    @Test
    void shouldRefuseToRegisterAgainBeforeTheCancelledKeyIsGone() throws IOException {
        Selector selector = selector();
        SocketChannel client = nonBlocking(open());
        SelectionKey key = client.register(selector, SelectionKey.OP_READ);
        key.cancel();
        assertThrows(CancelledKeyException.class, () -> client.register(selector, SelectionKey.OP_READ));
        selector.selectNow();
        assertNotSame(key, client.register(selector, SelectionKey.OP_READ));
    }

    @Test
    void shouldBlockAgainRightAfterACancel() throws IOException {
        Selector selector = selector();
        Pair p = nonBlockingPair();
        SelectionKey key = p.client().register(selector, SelectionKey.OP_READ);
        selector.selectNow();
        assertThrows(IllegalBlockingModeException.class, () -> p.client().configureBlocking(true));
        key.cancel();
        p.client().configureBlocking(true);
        p.server().write(text("b"));
        assertEquals("b", read(p.client(), 1));
        selector.selectNow();
        assertFalse(p.client().isRegistered());
    }

    @Test
    void shouldNotReportAKeyCancelledDuringTheWait() throws Exception {
        Selector selector = selector();
        Pair p = nonBlockingPair();
        SelectionKey key = p.client().register(selector, SelectionKey.OP_READ);
        Future<Integer> waiting = background(() -> selector.select());
        pause(50);
        key.cancel();
        selector.wakeup();
        assertEquals(0, get(waiting));
        assertTrue(selector.keys().isEmpty());
    }

    @Test
    void shouldCancelTheKeysOfAClosedChannel() throws IOException {
        Selector selector = selector();
        Pair p = nonBlockingPair();
        SelectionKey key = p.client().register(selector, SelectionKey.OP_READ);
        selector.selectNow();
        p.client().close();
        assertFalse(key.isValid());
        assertEquals(0, selector.selectNow());
        assertTrue(selector.keys().isEmpty());
        assertFalse(p.client().isRegistered());
    }

    @Test
    void shouldGoOnWaitingWhenAChannelIsClosedDuringTheWait() throws Exception {
        Selector selector = selector();
        Pair p = nonBlockingPair();
        Pair other = nonBlockingPair();
        p.client().register(selector, SelectionKey.OP_READ);
        other.client().register(selector, SelectionKey.OP_READ);
        Future<Integer> waiting = background(() -> {
            int n;
            do {
                n = selector.select();
            } while (n == 0);
            return n;
        });
        pause(50);
        p.client().close();
        pause(20);
        other.server().write(text("x"));
        assertEquals(1, get(waiting));
        assertEquals(1, selector.keys().size());
    }

    @Test
    void shouldTellThePeerAtOnceWhenARegisteredChannelIsClosed() throws IOException {
        Selector selector = selector();
        Pair p = pair();
        p.client().configureBlocking(false);
        p.client().register(selector, SelectionKey.OP_READ);
        selector.selectNow();
        p.client().close();
        assertEquals(-1, p.server().read(bytes(1)));
        selector.selectNow();
    }

    // ---- closing ----

    @Test
    void shouldThrowClosedSelectorExceptionOnceClosed() throws IOException {
        Selector selector = selector();
        selector.close();
        assertFalse(selector.isOpen());
        assertThrows(ClosedSelectorException.class, selector::select);
        assertThrows(ClosedSelectorException.class, selector::selectNow);
        assertThrows(ClosedSelectorException.class, () -> selector.select(1));
        assertThrows(ClosedSelectorException.class, selector::keys);
        assertThrows(ClosedSelectorException.class, selector::selectedKeys);
        assertSame(selector, selector.wakeup());
        selector.close();
    }

    @Test
    void shouldDeregisterEverythingWhenClosed() throws IOException {
        Selector selector = selector();
        Pair p = nonBlockingPair();
        SelectionKey key = p.client().register(selector, SelectionKey.OP_READ);
        selector.selectNow();
        selector.close();
        assertFalse(key.isValid());
        assertFalse(p.client().isRegistered());
        assertThrows(CancelledKeyException.class, key::interestOps);
        p.client().configureBlocking(true);
        p.server().write(text("c"));
        assertEquals("c", read(p.client(), 1));
    }

    @Test
    void shouldEndAWaitWhenClosed() throws Exception {
        Selector selector = selector();
        nonBlockingPair().client().register(selector, SelectionKey.OP_READ);
        Future<Integer> waiting = background(() -> selector.select());
        pause(50);
        get(background(selector::close));
        try {
            get(waiting);
        } catch (Exception e) {
            assertInstanceOf(ClosedSelectorException.class, e);
        }
    }

    @Test
    void shouldCloseChannelsThatWereClosedWhileRegisteredWhenTheSelectorCloses() throws IOException {
        Selector selector = selector();
        ServerSocketChannel listener = nonBlocking(listening());
        listener.register(selector, SelectionKey.OP_ACCEPT);
        selector.selectNow();
        var address = listener.getLocalAddress();
        listener.close();
        selector.close();
        ServerSocketChannel again = openServer();
        again.bind(address);
    }

    @Test
    void shouldRegisterWithAnotherSelectorAfterOneClosed() throws IOException {
        Pair p = nonBlockingPair();
        Selector one = selector();
        p.client().register(one, SelectionKey.OP_WRITE);
        one.selectNow();
        one.close();
        Selector two = selector();
        SelectionKey key = p.client().register(two, SelectionKey.OP_WRITE);
        await(two, key, SelectionKey.OP_WRITE);
    }
}
