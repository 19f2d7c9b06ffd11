/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.nio;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.Pipe;
import java.nio.channels.SelectableChannel;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.spi.AbstractSelectableChannel;
import java.nio.channels.spi.AbstractSelector;
import java.nio.channels.spi.SelectorProvider;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import org.jrsocket.stream.RdmaStream;
import org.jrsocket.stream.StreamLock;
import org.junit.jupiter.api.Test;

/** What is too seldom for {@link SelectorStressTest}: two threads that meet at a given step. */
class SelectorRaceTest extends LoopbackChannelTests {

    /** A key of a JDK selector that has another thread's selection come between the call and the change. */
    private static final class SlowKey extends SelectionKey {
        private final SelectionKey key;
        private final Selector outer;

        SlowKey(SelectionKey key, Selector outer) {
            this.key = key;
            this.outer = outer;
        }

        @Override
        public SelectionKey interestOps(int ops) {
            try {
                assertEquals(0, outer.selectNow());
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
            return key.interestOps(ops);
        }

        @Override
        public SelectableChannel channel() {
            return key.channel();
        }

        @Override
        public Selector selector() {
            return key.selector();
        }

        @Override
        public boolean isValid() {
            return key.isValid();
        }

        @Override
        public void cancel() {
            key.cancel();
        }

        @Override
        public int interestOps() {
            return key.interestOps();
        }

        @Override
        public int readyOps() {
            return key.readyOps();
        }
    }

    @Test
    void shouldHeedAnInterestThatASelectionComesInBetween() throws IOException {
        RSelector selector = (RSelector) selector();
        nonBlockingPair().client().register(selector, SelectionKey.OP_READ);
        Pipe pipe = kind.provider().openPipe();
        closing(pipe.sink()).write(text("a"));
        SelectionKey key = nonBlocking(closing(pipe.source())).register(selector, 0);
        SelectionKey inner = selector.selection().jdk().keys().iterator().next();
        assertEquals(key, inner.attachment());
        ((RSelectionKey) key).inner(new SlowKey(inner, selector));
        key.interestOps(SelectionKey.OP_READ);
        assertEquals(1, selector.selectNow());
        assertTrue(key.isReadable());
    }

    /** In the JDK selector's place: has something happen when it is asked, and never finds anything. */
    static final class EventfulSelector extends AbstractSelector {
        Action event = () -> {};

        EventfulSelector(SelectorProvider provider) {
            super(provider);
        }

        @Override
        public int selectNow(Consumer<SelectionKey> action) throws IOException {
            Action now = event;
            event = () -> {};
            try {
                now.run();
            } catch (Exception e) {
                throw new IOException(e);
            }
            return 0;
        }

        @Override
        public int select(Consumer<SelectionKey> action, long timeout) throws IOException {
            throw new IOException("there is something to select, or was");
        }

        @Override
        public Selector wakeup() {
            return this;
        }

        @Override
        protected void implCloseSelector() {}

        @Override
        protected SelectionKey register(AbstractSelectableChannel channel, int ops, Object attachment) {
            throw new UnsupportedOperationException();
        }

        @Override
        public Set<SelectionKey> keys() {
            return Set.of();
        }

        @Override
        public Set<SelectionKey> selectedKeys() {
            return Set.of();
        }

        @Override
        public int selectNow() {
            throw new UnsupportedOperationException();
        }

        @Override
        public int select(long timeout) {
            throw new UnsupportedOperationException();
        }

        @Override
        public int select() {
            throw new UnsupportedOperationException();
        }
    }

    /** Its keys are in an epoll set, which reports none of an interest that the JDK's selector has not taken over. */
    @Test
    void shouldHaveTheJdksSelectorTakeOverWhatHasChangedWhileItWasAsked() throws IOException {
        EventfulSelector jdk = new EventfulSelector(JdkChannels.defaultProvider());
        RSelector selector = closing(new RSelector(((RSelectorProvider) kind.provider()).services(), jdk, 0));
        Selection selection = selector.selection();
        List<String> asked = new ArrayList<>();
        jdk.event = () -> {
            asked.add("changes");
            selection.innerInterest(0, 0); // as any change of a key in there
        };
        selection.innerInterest(0, 0);
        assertEquals(0, selector.selectNow());
        jdk.event = () -> asked.add("takes over");
        assertEquals(0, selector.selectNow());
        assertEquals(List.of("changes", "takes over"), asked);
    }

    /** It is looking at another key just then. */
    @Test
    void shouldFindWhatBecameReadyBeforeItWasWokenUp() throws IOException {
        Selector selector = selector();
        ScriptedChannel one = nonBlocking(closing(new ScriptedChannel(kind.provider())));
        ScriptedChannel other = nonBlocking(closing(new ScriptedChannel(kind.provider())));
        RSelectionKey looked = (RSelectionKey) one.register(selector, SelectionKey.OP_READ);
        RSelectionKey looking = (RSelectionKey) other.register(selector, SelectionKey.OP_READ);
        assertEquals(0, selector.selectNow());
        other.meanwhile = () -> {
            other.meanwhile = () -> {};
            one.ready = SelectionKey.OP_READ;
            looked.refresh();
            selector.wakeup();
        };
        looking.refresh();
        looked.refresh(); // it looks at this one first
        assertEquals(1, selector.select());
    }

    /** It has polled the key, and is about to arm it: no later poll finds the message, and no event tells of it. */
    @Test
    void shouldReportAgainWhatItFoundWhenItWasAboutToSleep() throws IOException {
        EventfulSelector jdk = new EventfulSelector(JdkChannels.defaultProvider());
        RSelector selector = closing(new RSelector(((RSelectorProvider) kind.provider()).services(), jdk, 0));
        selector.selection().innerInterest(0, SelectionKey.OP_READ); // so that it asks the JDK's in each selection
        Pair p = nonBlockingPair();
        SelectionKey key = p.client().register(selector, SelectionKey.OP_READ);
        p.server().write(text("a"));
        await(selector, key, SelectionKey.OP_READ);
        assertEquals("a", read(p.client(), 1));
        selector.selectedKeys().clear();
        assertEquals(0, selector.selectNow()); // from here on it polls the key
        jdk.event = () -> p.server().write(text("ab"));
        assertEquals(1, selector.select());
        for (int i = 0; i < 2; i++) {
            selector.selectedKeys().clear();
            assertEquals(1, selector.selectNow());
            assertEquals(i == 0 ? "a" : "b", read(p.client(), 1));
        }
        selector.selectedKeys().clear();
        assertEquals(0, selector.selectNow());
    }

    /** Adding takes the stream's lock, and whoever has that may be about to wake the selector. */
    @Test
    void shouldBeSignalledWhileWhoeverAddsAStreamWaitsForThatStream() throws Exception {
        RdmaStream[] streams = {stream(pair()), stream(pair())};
        SelectorEpollSet set = new SelectorEpollSet(-1);
        set.add(new RSelectionKey(null, null, null), streams[0]);
        AtomicBoolean signalled = new AtomicBoolean();
        StreamLock.whileHeld(streams[1], () -> {
            Failing adding =
                    new Failing(() -> set.add(new RSelectionKey(null, null, null), streams[1])); // waits for us
            assertTrue(adding.thread.isAlive());
            signalled.set(endsInTime(background(set::signal)));
        });
        assertTrue(signalled.get(), "whoever signals waits for whoever adds");
        assertEquals(1, set.await(TimeUnit.SECONDS.toNanos(20)));
        set.close();
    }

    private static RdmaStream stream(Pair pair) {
        return ((RSocketChannel) pair.client()).stream();
    }

    private static boolean endsInTime(Future<?> task) {
        try {
            task.get(10, TimeUnit.SECONDS);
            return true;
        } catch (TimeoutException e) {
            return false;
        } catch (InterruptedException | ExecutionException e) {
            throw new AssertionError(e);
        }
    }
}
