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
import java.io.InputStream;
import java.io.OutputStream;
import java.net.SocketException;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.AsynchronousCloseException;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import java.util.SplittableRandom;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Closing and half closing under threads that wait: what they are told, and what the peer gets. */
abstract class CloseSuite extends NioSuite {

    /** Everything until the end of the stream. */
    private static long drain(SocketChannel channel) throws IOException {
        ByteBuffer b = ByteBuffer.allocate(64 * 1024);
        long sum = 0;
        for (int n; (n = channel.read(b.clear())) >= 0; ) {
            sum += n;
        }
        return sum;
    }

    /** Writes until it fails. */
    private static final class Writer {
        private final SocketChannel channel;
        private long sum;
        private final Failing thread;

        Writer(SocketChannel channel) {
            this.channel = channel;
            this.thread = new Failing(this::write);
        }

        private void write() throws IOException {
            while (true) {
                sum += channel.write(ByteBuffer.allocate(1 << 20));
            }
        }

        /** @return how much it was told that it had written */
        long join() throws InterruptedException {
            Throwable e = thread.join();
            assertTrue(e instanceof ClosedChannelException, String.valueOf(e));
            return sum;
        }
    }

    // ---- what the peer gets ----

    @Test
    void shouldEndThePeersInputWhenAReaderIsClosedByAnother() throws Exception {
        Pair p = pair();
        Failing reader = new Failing(() -> p.client().read(bytes(1)));
        p.client().close();
        assertEquals(-1, p.server().read(bytes(1)));
        assertFails(AsynchronousCloseException.class, reader);
    }

    @Test
    void shouldEndThePeersInputWhenAStreamReaderIsClosedByAnother() throws Exception {
        for (int timeout : new int[] {0, 60_000}) {
            Pair p = pair();
            p.client().socket().setSoTimeout(timeout);
            InputStream in = p.client().socket().getInputStream();
            Failing reader = new Failing(in::read);
            p.client().socket().close();
            assertEquals(-1, p.server().socket().getInputStream().read());
            assertFails(AsynchronousCloseException.class, reader);
        }
    }

    @Test
    void shouldGiveThePeerAllThatABlockedWriterHadWrittenWhenClosedByAnother() throws Exception {
        Pair p = pair();
        Writer writer = new Writer(p.client());
        p.client().close();
        assertEquals(writer.join(), drain(p.server()));
    }

    @Test
    void shouldGiveThePeerAllThatABlockedWriterHadWrittenWhenInterrupted() throws Exception {
        Pair p = pair();
        Writer writer = new Writer(p.client());
        writer.thread.thread.interrupt();
        long told = writer.join();
        assertTrue(drain(p.server()) >= told); // what a write had written when it was interrupted it does not tell
    }

    @Test
    void shouldGiveAPeerThatReadsMeanwhileAllThatABlockedWriterHadWritten() throws Exception {
        Pair p = pair();
        Writer writer = new Writer(p.client());
        Future<Long> received = background(() -> drain(p.server()));
        p.client().close();
        assertEquals(writer.join(), get(received));
    }

    /** A thread in the midst of a write when another one closes; unlike the above it need not be waiting. */
    @ParameterizedTest
    @EnumSource(Way.class)
    void shouldTellAWriterNoMoreThanItsPeerGets(Way way) throws Exception {
        SplittableRandom random = new SplittableRandom(way.ordinal());
        for (int round = 0; round < 20; round++) {
            Pair p = pair();
            p.client().configureBlocking(way != Way.NON_BLOCKING);
            AtomicLong told = new AtomicLong();
            Future<Long> received = background(() -> drain(p.server()));
            Future<?> writer = background(() -> {
                try {
                    for (; ; ) {
                        told.addAndGet(way.write(p.client()));
                    }
                } catch (ClosedChannelException e) {
                    // the end of it
                }
            });
            long some = random.nextInt(4 << 20);
            while (told.get() < some) {
                Thread.onSpinWait();
            }
            p.client().close();
            get(writer);
            assertEquals(told.get(), get(received));
        }
    }

    enum Way {
        SINGLE,
        GATHERING,
        NON_BLOCKING;

        private long write(SocketChannel channel) throws IOException {
            ByteBuffer source = ByteBuffer.allocate(300_000);
            return this == GATHERING
                    ? channel.write(new ByteBuffer[] {source, ByteBuffer.allocateDirect(100_000)})
                    : channel.write(source);
        }
    }

    // ---- half closing ----

    @Test
    void shouldFailABlockedWriterWhenItsOutputIsShutByAnother() throws Exception {
        Pair p = pair();
        long before = full(p.client());
        ByteBuffer source = bytes(5000);
        long[] more = new long[1];
        Failing writer = new Failing(() -> {
            while (true) { // a kernel may find room for some of it after all
                more[0] += p.client().write(source.clear());
            }
        });
        p.client().shutdownOutput();
        assertFails(AsynchronousCloseException.class, writer);
        assertEquals(0, source.position());
        assertTrue(p.client().isOpen());
        assertEquals(before + more[0], drain(p.server()));
        p.server().write(text("back"));
        assertEquals("back", read(p.client(), 4));
    }

    @Test
    void shouldFailABlockedGatheringWriterWhenItsOutputIsShutByAnother() throws Exception {
        Pair p = pair();
        long before = full(p.client());
        long[] more = new long[1];
        Failing writer = new Failing(() -> {
            while (true) { // as above
                more[0] += p.client().write(new ByteBuffer[] {bytes(5000), bytes(7)});
            }
        });
        p.client().shutdownOutput();
        assertFails(AsynchronousCloseException.class, writer);
        assertTrue(p.client().isOpen());
        assertEquals(before + more[0], drain(p.server()));
    }

    @Test
    void shouldGiveThePeerAllThatABlockedWriterHadWrittenWhenItsOutputIsShut() throws Exception {
        Pair p = pair();
        Writer writer = new Writer(p.client());
        p.client().shutdownOutput();
        assertEquals(writer.join(), drain(p.server()));
        assertTrue(p.client().isOpen());
    }

    @Test
    void shouldBreakAStreamWritersPipeWhenItsOutputIsShutByAnother() throws Exception {
        Pair p = pair();
        OutputStream out = p.client().socket().getOutputStream();
        Failing writer = new Failing(() -> out.write(new byte[64 << 20])); // more than any kernel takes
        p.client().socket().shutdownOutput();
        Throwable e = writer.join();
        assertTrue(e instanceof IOException && !(e instanceof ClosedChannelException), String.valueOf(e));
        assertEquals("Broken pipe", e.getMessage());
        assertTrue(p.client().isOpen());
        assertFails(ClosedChannelException.class, new Failing(() -> out.write(1)));
    }

    @Test
    void shouldFailEveryWriteOnceItsOutputIsShut() throws Exception {
        Pair p = pair();
        p.client().shutdownOutput();
        for (boolean blocking : new boolean[] {true, false}) {
            p.client().configureBlocking(blocking);
            assertFails(AsynchronousCloseException.class, new Failing(() -> p.client()
                    .write(bytes(1).clear())));
            assertFails(AsynchronousCloseException.class, new Failing(() -> p.client()
                    .write(ByteBuffer.allocate(0))));
            assertFails(AsynchronousCloseException.class, new Failing(() -> p.client()
                    .write(new ByteBuffer[] {bytes(1).clear()})));
            assertFails(
                    AsynchronousCloseException.class,
                    new Failing(() -> p.client().socket().sendUrgentData(1)));
        }
        assertTrue(p.client().isOpen());
        p.client().close();
        assertFails(ClosedChannelException.class, new Failing(() -> p.client().write(bytes(1).clear())));
    }

    @Test
    void shouldEndABlockedReadersInputWhenItIsShutByAnother() throws Exception {
        Pair p = pair();
        Future<Integer> reader = background(() -> p.client().read(bytes(1).clear()));
        new Failing(() -> p.server().read(bytes(1).clear())); // waits, so the other does too
        p.client().shutdownInput();
        assertEquals(-1, get(reader));
        p.server().shutdownInput();
        assertTrue(p.client().isOpen());
        p.client().write(text("still"));
    }

    @Test
    void shouldEndABlockedStreamReadersInputWhenItIsShutByAnother() throws Exception {
        for (int timeout : new int[] {0, 60_000}) {
            Pair p = pair();
            p.client().socket().setSoTimeout(timeout);
            InputStream in = p.client().socket().getInputStream();
            int[] result = new int[1];
            Failing reader = new Failing(() -> result[0] = in.read());
            p.client().socket().shutdownInput();
            assertSame(null, reader.join());
            assertEquals(-1, result[0]);
            assertTrue(p.client().isOpen());
        }
    }

    @Test
    void shouldNotReadOnceItsInputIsShut() throws Exception {
        Pair p = pair();
        p.client().shutdownInput();
        for (boolean blocking : new boolean[] {true, false}) {
            p.client().configureBlocking(blocking);
            assertEquals(-1, p.client().read(ByteBuffer.allocate(1)));
            assertEquals(-1, p.client().read(ByteBuffer.allocate(0)));
            assertEquals(-1, p.client().read(new ByteBuffer[] {ByteBuffer.allocate(0), ByteBuffer.allocate(1)}));
        }
    }

    // ---- a peer that goes away ----

    @Test
    void shouldTellWhatItHasWrittenWhenThePeerResetsAndFailTheNextWrite() throws Exception {
        Pair p = pair();
        p.client().write(text("unread"));
        ByteBuffer source = ByteBuffer.allocate(64 << 20);
        long[] written = new long[1];
        Failing writer = new Failing(() -> written[0] = p.client().write(source));
        p.server().setOption(StandardSocketOptions.SO_LINGER, 0);
        p.server().close();
        assertSame(null, writer.join());
        assertTrue(written[0] > 0 && written[0] < source.capacity(), written[0] + " bytes written");
        assertEquals(written[0], source.position());
        assertThrows(IOException.class, () -> p.client().write(source));
        assertTrue(p.client().isOpen());
    }

    /** The server resets the connection, and the client's end has it; blocking as before. */
    private void resetArrives(Pair p) throws IOException {
        Selector selector = selector();
        SelectionKey key = nonBlocking(p.client()).register(selector, SelectionKey.OP_READ);
        p.server().setOption(StandardSocketOptions.SO_LINGER, 0);
        p.server().close();
        await(selector, key, SelectionKey.OP_READ);
        selector.close();
        p.client().configureBlocking(true);
    }

    private SocketChannel reset() throws IOException {
        Pair p = pair();
        resetArrives(p);
        return nonBlocking(p.client());
    }

    /** Of this class and no other: a SocketException is what sockets throw, not channels that write. */
    private static void assertFailsToWrite(String message, Action write) {
        IOException e = assertThrows(IOException.class, write::run);
        assertSame(IOException.class, e.getClass());
        assertEquals(message, e.getMessage());
    }

    @Test
    void shouldTellAWriterOfTheResetOnceAndThenThatThePipeIsBroken() throws Exception {
        SocketChannel client = reset();
        assertFailsToWrite("Connection reset by peer", () -> client.write(bytes(1)));
        assertFailsToWrite("Broken pipe", () -> client.write(bytes(1)));
        assertFailsToWrite("Broken pipe", () -> client.write(new ByteBuffer[] {bytes(1), bytes(2)}));
        assertTrue(client.isOpen());
    }

    @Test
    void shouldTellAGatheringWriterOfTheReset() throws Exception {
        SocketChannel client = reset();
        assertFailsToWrite("Connection reset by peer", () -> client.write(new ByteBuffer[] {bytes(1), bytes(2)}));
    }

    @Test
    void shouldBreakAWritersPipeOnceAReaderHasHeardOfTheReset() throws Exception {
        SocketChannel client = reset();
        assertThrows(SocketException.class, () -> client.read(bytes(1)));
        assertFailsToWrite("Broken pipe", () -> client.write(bytes(1)));
        assertThrows(SocketException.class, () -> client.read(bytes(1)));
    }

    /** As with the kernel, which tells of it once. */
    @Test
    void shouldGiveAReaderTheEndOnceAWriterHasHeardOfTheReset() throws Exception {
        for (boolean blocking : new boolean[] {true, false}) {
            SocketChannel client = reset();
            assertFailsToWrite("Connection reset by peer", () -> client.write(bytes(1)));
            client.configureBlocking(blocking);
            assertEquals(-1, client.read(bytes(1)));
            assertEquals(-1, client.read(new ByteBuffer[] {bytes(1), bytes(1)}));
            if (blocking) {
                assertEquals(-1, client.socket().getInputStream().read());
            }
            assertFailsToWrite("Broken pipe", () -> client.write(bytes(1)));
        }
    }

    /** A write that does not block asks the kernel, which tells of the reset, although the channel tells of the end. */
    @Test
    void shouldGiveAReaderTheEndOnceAWriteAfterTheEndOfItsOutputHasHeardOfTheReset() throws Exception {
        for (boolean gathering : new boolean[] {false, true}) {
            SocketChannel client = reset();
            client.shutdownOutput();
            assertThrows(AsynchronousCloseException.class, () -> client.write(bytes(0))); // asks nobody
            Action write = gathering ? () -> client.write(new ByteBuffer[] {bytes(1)}) : () -> client.write(bytes(1));
            assertThrows(AsynchronousCloseException.class, write::run);
            assertEquals(-1, client.read(bytes(1)));
        }
    }

    @Test
    void shouldTellAReaderOfTheResetAfterABlockingWriteThatCameAfterTheEndOfItsOutput() throws Exception {
        Pair p = pair();
        resetArrives(p);
        p.client().shutdownOutput();
        assertThrows(AsynchronousCloseException.class, () -> p.client().write(bytes(1)));
        IOException e = assertThrows(SocketException.class, () -> p.client().read(bytes(1)));
        assertEquals("Connection reset", e.getMessage());
    }

    @Test
    void shouldTellABlockingWriterOfTheReset() throws Exception {
        for (boolean stream : new boolean[] {false, true}) {
            Pair p = pair();
            resetArrives(p);
            OutputStream out = p.client().socket().getOutputStream();
            Action write = stream ? () -> out.write(1) : () -> p.client().write(bytes(1));
            assertFailsToWrite("Connection reset by peer", write);
            assertFailsToWrite("Broken pipe", write);
        }
    }

    @Test
    void shouldWriteNothingToAPeerThatIsGone() throws Exception {
        for (boolean told : new boolean[] {false, true}) {
            SocketChannel client = reset();
            if (told) {
                assertFailsToWrite("Connection reset by peer", () -> client.write(bytes(1)));
            }
            assertEquals(0, client.write(bytes(0)));
            assertEquals(0, client.write(new ByteBuffer[] {bytes(0), bytes(0)}));
            client.configureBlocking(true);
            assertEquals(0, client.write(bytes(0)));
        }
    }

    // ---- lingering ----

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void shouldNotLingerWhileAnotherThreadIsInside(boolean interrupt) throws Exception {
        for (boolean reads : new boolean[] {false, true}) {
            Pair p = pair();
            p.client().setOption(StandardSocketOptions.SO_LINGER, 600);
            long written = full(p.client());
            Failing inside = new Failing(
                    reads
                            ? () -> p.client().read(bytes(1))
                            : () -> {
                                while (true) {
                                    p.client().write(bytes(1 << 20));
                                }
                            });
            get(background(interrupt ? inside.thread::interrupt : p.client()::close));
            Throwable told = inside.join();
            assertTrue(told instanceof ClosedChannelException, String.valueOf(told));
            assertTrue(drain(p.server()) >= written, "it lingered until it gave the rest up");
        }
    }

    /** As close(2) does: what a thread has written is not to be lost because somebody wants the thread. */
    @Test
    void shouldLingerInAThreadThatIsInterrupted() throws Exception {
        Pair p = pair();
        full(p.client());
        p.client().setOption(StandardSocketOptions.SO_LINGER, 2);
        Thread.currentThread().interrupt();
        long start = System.nanoTime();
        p.client().close();
        long took = System.nanoTime() - start;
        assertTrue(Thread.interrupted());
        assertTrue(took >= 1_500_000_000L, took + " ns");
    }

    @Test
    void shouldNotLingerInASelectorsThread() throws Exception {
        Pair p = nonBlockingPair();
        p.client().setOption(StandardSocketOptions.SO_LINGER, 600);
        p.client().register(selector(), SelectionKey.OP_READ);
        fill(p.client());
        get(background(p.client()::close));
    }
}
