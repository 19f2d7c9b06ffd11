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
import java.net.StandardProtocolFamily;
import java.nio.channels.CancelledKeyException;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.ClosedSelectorException;
import java.nio.channels.IllegalBlockingModeException;
import java.nio.channels.IllegalSelectorException;
import java.nio.channels.Pipe;
import java.nio.channels.SelectableChannel;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.channels.spi.SelectorProvider;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;

/** The contract of keys: registering, their sets and interest, cancelling, and what closing does to them. */
abstract class KeySuite extends NioSuite {

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
        Future<Integer> waiting = blocked(() -> selector.select());
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

    /** Programs open a selector for each provider that their channels name. */
    @Test
    void shouldTakeOnlyChannelsThatNameTheSelectorsProvider() throws IOException {
        SelectorProvider provider = kind().provider();
        Pipe pipe = provider.openPipe();
        List<SelectableChannel> channels = List.of(
                open(),
                openServer(),
                closing(provider.openSocketChannel(StandardProtocolFamily.UNIX)),
                closing(provider.openServerSocketChannel(StandardProtocolFamily.UNIX)),
                closing(pipe.source()),
                closing(pipe.sink()),
                closing(provider.openDatagramChannel()),
                closing(provider.openDatagramChannel(StandardProtocolFamily.INET)));
        for (SelectableChannel channel : channels) {
            assertSame(selector().provider(), channel.provider(), channel::toString);
            nonBlocking(channel).register(selector(), 0);
        }
        assertThrows(NullPointerException.class, () -> provider.openDatagramChannel(null));
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
        Future<Integer> waiting = blocked(() -> {
            int n;
            do {
                n = selector.select();
            } while (n == 0);
            return n;
        });
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
    void shouldReportToANewKeyAfterTheChannelWasBlockingForAWhile() throws IOException {
        Selector selector = selector();
        Selector another = selector();
        Pair p = nonBlockingPair();
        for (int i = 0; i < 3; i++) {
            for (Selector each : List.of(selector, selector, another)) {
                SelectionKey key = p.client().register(each, SelectionKey.OP_READ);
                assertEquals(0, each.selectNow());
                p.server().write(text("a"));
                await(each, key, SelectionKey.OP_READ);
                assertEquals("a", read(p.client(), 1));
                key.cancel();
                p.client().configureBlocking(true);
                p.server().write(text("b"));
                assertEquals(0, each.selectNow());
                assertTrue(each.selectedKeys().isEmpty());
                assertEquals("b", read(p.client(), 1));
                p.client().configureBlocking(false);
            }
        }
    }

    @Test
    void shouldNotReportAKeyCancelledDuringTheWait() throws Exception {
        Selector selector = selector();
        Pair p = nonBlockingPair();
        SelectionKey key = p.client().register(selector, SelectionKey.OP_READ);
        Future<Integer> waiting = blocked(() -> selector.select());
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
        Future<Integer> waiting = blocked(() -> {
            int n;
            do {
                n = selector.select();
            } while (n == 0);
            return n;
        });
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
        Future<Integer> waiting = blocked(() -> selector.select());
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
