/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.nio;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.Pipe;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.channels.spi.SelectorProvider;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.Future;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledForJreRange;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.JRE;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A selection reports all that is ready, however it ends and whatever else is ready; nothing else wakes a selector. */
abstract class SelectionFairnessSuite extends NioSuite {

    private static final int LOOPS = 40;
    /** More than a selector of ours polls. */
    private static final int TOO_MANY_LOOPS = 80;

    private static final int MESSAGE = 64;

    // ---- selections that do not sleep ----

    @Test
    void shouldSeeWithSelectNowWhatCameAfterEarlierSelections() throws IOException {
        Selector selector = selector();
        Pair p = nonBlockingPair();
        SelectionKey key = p.client().register(selector, SelectionKey.OP_READ);
        for (int i = 0; i < 3; i++) {
            settle(selector);
            p.server().write(text("a"));
            awaitReported(key, selector::selectNow);
            assertEquals("a", read(p.client(), 1));
            selector.selectedKeys().clear();
        }
    }

    @Test
    void shouldSeeWhatCameAlthoughItIsWokenBeforeEachSelection() throws IOException {
        Selector selector = selector();
        Pair p = nonBlockingPair();
        SelectionKey key = p.client().register(selector, SelectionKey.OP_READ);
        settle(selector);
        p.server().write(text("a"));
        awaitReported(key, () -> selector.wakeup().select());
    }

    @Test
    void shouldSeeWhatCameAlthoughTheThreadIsInterrupted() throws Exception {
        Selector selector = selector();
        Pair p = nonBlockingPair();
        SelectionKey key = p.client().register(selector, SelectionKey.OP_READ);
        settle(selector);
        p.server().write(text("a"));
        get(background(() -> {
            Thread.currentThread().interrupt();
            awaitReported(key, selector::select);
            assertTrue(Thread.interrupted());
        }));
    }

    @Test
    void shouldReportAReaderBesideAKeyThatIsAlwaysReady() throws IOException {
        Selector selector = selector();
        Pair busy = nonBlockingPair();
        Pair quiet = nonBlockingPair();
        busy.client().register(selector, SelectionKey.OP_WRITE);
        SelectionKey reader = quiet.client().register(selector, SelectionKey.OP_READ);
        for (int i = 0; i < 3; i++) {
            for (int j = 0; j < 100; j++) { // as in settle
                assertEquals(1, selector.select(10_000));
                selector.selectedKeys().clear();
            }
            quiet.server().write(text("a"));
            awaitReported(reader, selector::select);
            assertEquals("a", read(quiet.client(), 1));
            selector.selectedKeys().clear();
        }
    }

    @Test
    void shouldReportAServerBesideAKeyThatIsAlwaysReady() throws IOException {
        Selector selector = selector();
        nonBlockingPair().client().register(selector, SelectionKey.OP_WRITE);
        ServerSocketChannel listener = nonBlocking(listening());
        SelectionKey key = listener.register(selector, SelectionKey.OP_ACCEPT);
        assertEquals(1, selector.select());
        selector.selectedKeys().clear();
        nonBlocking(open()).connect(listener.getLocalAddress());
        awaitReported(key, selector::select);
    }

    @Tag("jdk21")
    @EnabledForJreRange(min = JRE.JAVA_21)
    @Test
    void shouldLeaveNobodyOutOnAVirtualThread() throws Exception {
        FutureTask<?> task = new FutureTask<>(() -> {
            shouldSeeWithSelectNowWhatCameAfterEarlierSelections();
            shouldSeeWhatCameAlthoughItIsWokenBeforeEachSelection();
            shouldReportAReaderBesideAKeyThatIsAlwaysReady();
            shouldServeBothTransportsInOneSelector();
            return null;
        });
        Thread.class.getMethod("startVirtualThread", Runnable.class).invoke(null, task);
        get(task);
    }

    /** Until it has forgotten whatever it may remember of keys that were active. */
    private static void settle(Selector selector) throws IOException {
        for (int i = 0; i < 100; i++) {
            assertEquals(0, selector.selectNow());
        }
    }

    private interface Selection {
        int select() throws IOException;
    }

    /** Until the key is among the selected; other keys are removed from them. */
    private static void awaitReported(SelectionKey key, Selection selection) throws IOException {
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(20);
        do {
            selection.select();
            if (key.selector().selectedKeys().contains(key)) {
                return;
            }
            key.selector().selectedKeys().clear();
        } while (System.nanoTime() - deadline < 0);
        throw new AssertionError("never reported: " + key);
    }

    // ---- many at once ----

    /** A message that goes back and forth: each time it comes back the next one is sent. */
    private static final class Loop {
        final ByteBuffer message = ByteBuffer.allocate(MESSAGE);
        final SocketChannel channel;
        int rounds;

        Loop(SocketChannel channel) {
            this.channel = channel;
        }

        void send() throws IOException {
            message.clear();
            assertEquals(MESSAGE, channel.write(message)); // the only one on its way
            message.clear();
        }

        /** Whether a message is complete. */
        boolean receive() throws IOException {
            assertTrue(channel.read(message) >= 0, "the connection ended");
            return !message.hasRemaining();
        }
    }

    /** Sends back what comes, on a thread and with a selector of its own, until the test is over. */
    private void echo(List<SocketChannel> channels) throws IOException {
        Selector selector = selector();
        for (SocketChannel channel : channels) {
            channel.register(selector, SelectionKey.OP_READ, new Loop(channel));
        }
        Future<?> unused = background(() -> {
            while (selector.isOpen()) {
                selector.select();
                for (SelectionKey key : selector.selectedKeys()) {
                    Loop loop = (Loop) key.attachment();
                    if (loop.receive()) {
                        loop.send();
                    }
                }
                selector.selectedKeys().clear();
            }
        });
    }

    /** By rounds, whatever time they take. */
    private static void run(Selector selector, int rounds) throws IOException {
        for (SelectionKey key : selector.keys()) {
            ((Loop) key.attachment()).send();
        }
        for (int done = 0; done < rounds; ) {
            assertTrue(selector.select(20_000) > 0, () -> "nothing came back: " + rounds(selector));
            for (SelectionKey key : selector.selectedKeys()) {
                Loop loop = (Loop) key.attachment();
                if (loop.receive()) {
                    loop.rounds++;
                    done++;
                    loop.send();
                }
            }
            selector.selectedKeys().clear();
        }
    }

    private static List<Integer> rounds(Selector selector) {
        return selector.keys().stream()
                .map(key -> ((Loop) key.attachment()).rounds)
                .sorted()
                .toList();
    }

    @Tag("many")
    @ParameterizedTest
    @ValueSource(ints = {LOOPS, TOO_MANY_LOOPS})
    void shouldGiveEachOfManyLoopsItsShare(int loops) throws IOException {
        Selector selector = selector();
        List<SocketChannel> servers = new ArrayList<>();
        try (ServerSocketChannel listener = listening()) {
            for (int i = 0; i < loops; i++) {
                Pair p = pair(listener);
                nonBlocking(p.client()).register(selector, SelectionKey.OP_READ, new Loop(p.client()));
                servers.add(nonBlocking(p.server()));
            }
        }
        echo(servers);
        run(selector, loops * 100);
        List<Integer> rounds = rounds(selector);
        assertTrue(rounds.get(0) >= rounds.get(loops / 2) / 2, () -> "rounds of each: " + rounds);
    }

    @Test
    void shouldServeBothTransportsInOneSelector() throws Exception {
        Selector selector = selector();
        List<SocketChannel> servers = new ArrayList<>();
        SelectorProvider plain = NioKind.plainProvider();
        try (ServerSocketChannel listener = listening();
                ServerSocketChannel tcp = plain.openServerSocketChannel().bind(anyPort())) {
            for (int i = 0; i < 4; i++) {
                Pair p = pair(listener);
                nonBlocking(p.client()).register(selector, SelectionKey.OP_READ, new Loop(p.client()));
                servers.add(nonBlocking(p.server()));
                SocketChannel client = closing(plain.openSocketChannel());
                client.connect(tcp.getLocalAddress());
                nonBlocking(client).register(selector, SelectionKey.OP_READ, new Loop(client));
                servers.add(nonBlocking(closing(tcp.accept())));
            }
        }
        echo(servers);
        run(selector, 4000);
        // One transport may be many times faster than the other, but neither stands still.
        List<Integer> rounds = rounds(selector);
        assertTrue(rounds.get(0) >= 20, () -> "rounds of each: " + rounds);
    }

    // ---- one channel in two selectors ----

    @Test
    void shouldReportToOneSelectorWhatAnotherWithoutInterestWasWokenBy() throws IOException {
        Selector without = selector();
        Selector with = selector();
        Pair p = nonBlockingPair();
        p.client().register(without, 0);
        SelectionKey key = p.client().register(with, SelectionKey.OP_READ);
        for (int i = 0; i < 10; i++) {
            settle(with);
            p.server().write(text("a"));
            assertEquals(0, without.select(30));
            assertEquals(1, with.select(20_000));
            assertTrue(key.isReadable());
            assertEquals("a", read(p.client(), 1));
            with.selectedKeys().clear();
        }
    }

    @Test
    void shouldReportToOneSelectorWhatAnotherWithOtherInterestCameUpon() throws IOException {
        Selector writing = selector();
        Selector reading = selector();
        Pair p = nonBlockingPair();
        Pair other = nonBlockingPair();
        p.client().register(writing, SelectionKey.OP_WRITE);
        other.client().register(writing, SelectionKey.OP_READ);
        SelectionKey key = p.client().register(reading, SelectionKey.OP_READ);
        for (int i = 0; i < 10; i++) {
            settle(reading);
            p.server().write(text("a"));
            other.server().write(text("b"));
            awaitReported(other.client().keyFor(writing), writing::select);
            writing.selectedKeys().clear();
            assertEquals(1, reading.select(20_000));
            assertTrue(key.isReadable());
            assertEquals("a", read(p.client(), 1));
            assertEquals("b", read(other.client(), 1));
            reading.selectedKeys().clear();
        }
    }

    @Test
    void shouldReportEverythingToOneOfTwoSelectorsThatWaitTogether() throws Exception {
        Selector without = selector();
        Selector with = selector();
        Pair p = nonBlockingPair();
        p.client().register(without, 0);
        p.client().register(with, SelectionKey.OP_READ);
        Future<?> unused = background(() -> {
            while (without.isOpen()) {
                without.select();
            }
        });
        AtomicInteger got = new AtomicInteger();
        Future<?> reader = background(() -> {
            while (got.get() < 500) {
                assertEquals(1, with.select(20_000));
                with.selectedKeys().clear();
                got.addAndGet(read(p.client(), 1).length());
            }
        });
        for (int i = 0; i < 500; i++) {
            p.server().write(text("a"));
            while (got.get() <= i && !reader.isDone()) {
                Thread.onSpinWait();
            }
        }
        get(reader);
    }

    // ---- waking up ----

    /** What the kernel counts: how often the thread went to sleep. */
    @EnabledOnOs(OS.LINUX)
    @Test
    void shouldNotBeWokenByWritesOfOthersWhileItWaitsForData() throws Exception {
        int rounds = 1000;
        Selector selector = selector();
        Pair p = nonBlockingPair();
        SelectionKey key = p.client().register(selector, SelectionKey.OP_READ);
        AtomicInteger returned = new AtomicInteger();
        FutureTask<Integer> waiting = new FutureTask<>(() -> {
            int n;
            do {
                n = selector.select();
                returned.incrementAndGet();
            } while (n == 0);
            return n;
        });
        Thread thread = new Thread(waiting, "counted");
        thread.setDaemon(true);
        thread.start();
        Path task = awaitAsleep("counted");
        ByteBuffer message = ByteBuffer.allocate(MESSAGE);
        long before = sleeps(task);
        for (int i = 0; i < rounds; i++) {
            message.clear();
            assertEquals(MESSAGE, p.client().write(message));
            assertEquals(MESSAGE, read(p.server(), MESSAGE).length());
            while (!isAsleep(task)) {
                Thread.onSpinWait(); // woken by this one, if it was: the next one is to count, too
            }
        }
        long woken = sleeps(task) - before;
        assertEquals(0, returned.get());
        // Over RDMA the peer says now and then what it can take, and that wakes whoever waits for data.
        assertTrue(woken <= rounds / 10, () -> "woken " + woken + " times by " + rounds + " writes");
        p.server().write(text("a"));
        assertEquals(1, get(waiting));
        assertTrue(key.isReadable());
    }

    /** Once the thread sleeps; its folder in /proc. */
    private static Path awaitAsleep(String name) throws IOException {
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(20);
        while (System.nanoTime() - deadline < 0) {
            try (Stream<Path> tasks = Files.list(Path.of("/proc/self/task"))) {
                for (Path task : (Iterable<Path>) tasks::iterator) {
                    if (name(task).equals(name)) {
                        long sleeps = sleeps(task);
                        pause(50);
                        if (sleeps > 0 && sleeps(task) == sleeps) {
                            return task;
                        }
                    }
                }
            }
        }
        throw new AssertionError("no thread " + name + " that sleeps");
    }

    private static String name(Path task) {
        try {
            return Files.readString(task.resolve("comm")).trim();
        } catch (IOException e) {
            return "a thread that has ended";
        }
    }

    private static boolean isAsleep(Path task) throws IOException {
        String stat = Files.readString(task.resolve("stat"));
        return stat.startsWith("S", stat.lastIndexOf(')') + 2);
    }

    private static long sleeps(Path task) throws IOException {
        return Files.readAllLines(task.resolve("status")).stream()
                .filter(line -> line.startsWith("voluntary_ctxt_switches:"))
                .mapToLong(line ->
                        Long.parseLong(line.substring(line.indexOf(':') + 1).trim()))
                .sum();
    }

    // ---- readiness of the JDK's own ----

    @Test
    void shouldReportAPipeBesideAKeyThatIsAlwaysReady() throws IOException {
        Selector selector = selector();
        nonBlockingPair().client().register(selector, SelectionKey.OP_WRITE);
        Pipe pipe = kind().provider().openPipe();
        closing(pipe.sink());
        SelectionKey key = nonBlocking(closing(pipe.source())).register(selector, SelectionKey.OP_READ);
        assertEquals(1, selector.select());
        selector.selectedKeys().clear();
        pipe.sink().write(text("a"));
        // A pipe has no latency: what was written before a selection that asks the kernel is seen by it.
        pauseUntilTheKernelIsAsked();
        assertEquals(2, selector.select());
        assertTrue(
                selector.selectedKeys().contains(key),
                () -> Arrays.toString(selector.selectedKeys().toArray()));
    }

    /** Until the next selection asks the kernel, which all do but those of event loops. */
    void pauseUntilTheKernelIsAsked() {}
}
