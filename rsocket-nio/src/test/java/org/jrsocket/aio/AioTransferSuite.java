/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.aio;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.AsynchronousSocketChannel;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.NotYetConnectedException;
import java.nio.channels.ReadPendingException;
import java.nio.channels.WritePendingException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledForJreRange;
import org.junit.jupiter.api.condition.JRE;

/** Reading and writing that comes to something. */
abstract class AioTransferSuite extends AioSuite {

    @Test
    void shouldReadWhatComesLater() throws Exception {
        Pair pair = pair();
        ByteBuffer target = ByteBuffer.allocate(100);
        Future<Integer> reading = pair.client().read(target);
        assertFalse(reading.isDone());
        get(pair.server().write(text("later")));
        assertEquals(5, get(reading));
        assertEquals("later", text(target));
        target.clear();
        Told<Integer> told = new Told<>();
        pair.client().read(target, "attached", told);
        get(pair.server().write(text("still later")));
        assertEquals(11, told.get());
        assertEquals("attached", told.attachment);
        assertNotEquals(Thread.currentThread(), told.by);
    }

    @Test
    void shouldReadWhatIsThere() throws Exception {
        Pair pair = pair();
        get(pair.server().write(text("one")));
        assertEquals("o", read(pair.client(), 1));
        ByteBuffer target = ByteBuffer.allocateDirect(10);
        Told<Integer> told = new Told<>();
        pair.client().read(target, null, told);
        assertEquals(2, told.get());
        assertEquals(2, target.position());
    }

    @Test
    void shouldReadAndWriteAtOnce() throws Exception {
        Pair pair = pair();
        Future<Integer> one = pair.client().read(ByteBuffer.allocate(4));
        Future<Integer> two = pair.server().read(ByteBuffer.allocate(4));
        get(pair.client().write(text("ping")));
        get(pair.server().write(text("pong")));
        assertEquals(4, get(one));
        assertEquals(4, get(two));
    }

    @Test
    void shouldScatterAndGather() throws Exception {
        Pair pair = pair();
        ByteBuffer[] sources = {text("skipped"), text("one"), text(""), text("two"), text("skipped")};
        Told<Long> written = new Told<>();
        pair.client().write(sources, 1, 3, 0, TimeUnit.SECONDS, null, written);
        assertEquals(6, written.get());
        assertEquals(7, sources[0].remaining());
        assertFalse(sources[1].hasRemaining());
        ByteBuffer[] targets = {ByteBuffer.allocate(2), ByteBuffer.allocateDirect(1), ByteBuffer.allocate(10)};
        long sum = 0;
        while (sum < 6) {
            Told<Long> read = new Told<>();
            pair.server().read(targets, 0, 3, 0, TimeUnit.SECONDS, null, read);
            sum += read.get();
        }
        assertEquals("on", text(targets[0]));
        assertEquals('e', targets[1].get(0));
        assertEquals("two", text(targets[2]));
    }

    @Test
    void shouldScatterWhatComesLater() throws Exception {
        Pair pair = pair();
        ByteBuffer[] targets = {ByteBuffer.allocate(1), ByteBuffer.allocate(10)};
        Told<Long> read = new Told<>();
        pair.server().read(targets, 0, 2, 0, TimeUnit.SECONDS, "later", read);
        get(pair.client().write(text("abc")));
        assertEquals(3, read.get());
        assertEquals("bc", text(targets[1]));
        assertEquals("later", read.attachment);
    }

    @Test
    void shouldCompleteWhereThereIsNothingToDo() throws Exception {
        Pair pair = pair();
        assertEquals(0, get(pair.client().read(ByteBuffer.allocate(0))));
        assertEquals(0, get(pair.client().write(ByteBuffer.allocate(0))));
        Told<Integer> read = new Told<>();
        pair.client().read(ByteBuffer.allocate(0), null, read);
        assertEquals(0, read.get());
        Told<Long> scattered = new Told<>();
        pair.client().read(new ByteBuffer[] {ByteBuffer.allocate(0)}, 0, 1, 0, TimeUnit.SECONDS, null, scattered);
        assertEquals(0, scattered.get());
        Told<Long> none = new Told<>();
        pair.client().read(new ByteBuffer[3], 1, 0, 0, TimeUnit.SECONDS, null, none);
        assertEquals(0, none.get());
        Told<Long> gathered = new Told<>();
        pair.client().write(new ByteBuffer[] {ByteBuffer.allocate(0)}, 0, 1, 0, TimeUnit.SECONDS, null, gathered);
        assertEquals(0, gathered.get());
    }

    @Test
    void shouldRefuseWhatCannotBe() throws Exception {
        Pair pair = pair();
        AsynchronousSocketChannel client = pair.client();
        ByteBuffer readOnly = ByteBuffer.allocate(3).asReadOnlyBuffer();
        ByteBuffer[] some = {ByteBuffer.allocate(1), readOnly};
        Told<Long> told = new Told<>();
        assertThrows(IllegalArgumentException.class, () -> client.read(readOnly));
        assertThrows(IllegalArgumentException.class, () -> client.read(readOnly, null, new Told<>()));
        assertThrows(IllegalArgumentException.class, () -> client.read(some, 0, 2, 0, TimeUnit.SECONDS, null, told));
        assertThrows(IndexOutOfBoundsException.class, () -> client.read(some, 1, 2, 0, TimeUnit.SECONDS, null, told));
        assertThrows(IndexOutOfBoundsException.class, () -> client.write(some, -1, 1, 0, TimeUnit.SECONDS, null, told));
        assertThrows(NullPointerException.class, () -> client.read(ByteBuffer.allocate(1), null, null));
        assertThrows(NullPointerException.class, () -> client.write(ByteBuffer.allocate(1), null, null));
        assertThrows(NullPointerException.class, () -> client.write(null));
        assertEquals(3, get(client.write(readOnly)));
    }

    /** A handler is told of the exception itself, but the cause of what a future throws is always an IOException. */
    @Test
    @Tag("jdk21")
    @EnabledForJreRange(min = JRE.JAVA_22)
    void shouldFailToTransferMemoryThatIsGone() throws Exception {
        Pair pair = pair();
        ByteBuffer gone = ofClosedArena(10);
        get(pair.server().write(text("abc")));
        assertInstanceOf(
                IllegalStateException.class,
                assertFails(IOException.class, pair.client().read(gone)).getCause());
        assertInstanceOf(
                IllegalStateException.class,
                assertFails(IOException.class, pair.client().write(gone)).getCause());
        Told<Integer> told = new Told<>();
        pair.client().write(gone, null, told);
        assertFails(IllegalStateException.class, told.outcome);
        assertEquals("abc", read(pair.client(), 3));
    }

    /** What JDK 22 and later have: an application may free memory of which a buffer is a view. */
    private static ByteBuffer ofClosedArena(int size) throws ReflectiveOperationException {
        Class<?> type = Class.forName("java.lang.foreign.Arena");
        Object arena = type.getMethod("ofShared").invoke(null);
        Object segment = type.getMethod("allocate", long.class).invoke(arena, (long) size);
        ByteBuffer view = (ByteBuffer) Class.forName("java.lang.foreign.MemorySegment")
                .getMethod("asByteBuffer")
                .invoke(segment);
        type.getMethod("close").invoke(arena);
        return view;
    }

    @Test
    void shouldRefuseToTransferUnconnected() throws Exception {
        AsynchronousSocketChannel client = open();
        assertThrows(NotYetConnectedException.class, () -> client.read(ByteBuffer.allocate(1)));
        assertThrows(NotYetConnectedException.class, () -> client.write(ByteBuffer.allocate(1)));
        assertThrows(NotYetConnectedException.class, () -> client.write(ByteBuffer.allocate(0), null, new Told<>()));
        assertThrows(NotYetConnectedException.class, client::shutdownInput);
        assertThrows(NotYetConnectedException.class, client::shutdownOutput);
    }

    @Test
    void shouldRefuseASecondReadMeanwhile() throws Exception {
        Pair pair = pair();
        Future<Integer> reading = pair.client().read(ByteBuffer.allocate(9));
        assertThrows(ReadPendingException.class, () -> pair.client().read(ByteBuffer.allocate(9)));
        assertThrows(ReadPendingException.class, () -> pair.client().read(ByteBuffer.allocate(0)));
        assertThrows(ReadPendingException.class, () -> pair.client().read(ByteBuffer.allocate(9), null, new Told<>()));
        get(pair.server().write(text("go on")));
        assertEquals(5, get(reading));
        get(pair.server().write(text("and on")));
        assertEquals(6, get(pair.client().read(ByteBuffer.allocate(9))));
    }

    @Test
    void shouldRefuseASecondWriteMeanwhile() throws Exception {
        Pair pair = pair();
        Future<Integer> writing = fill(pair.client());
        assertThrows(WritePendingException.class, () -> pair.client().write(text("more")));
        assertThrows(WritePendingException.class, () -> pair.client().write(text("more"), null, new Told<>()));
        CompletableFuture<Void> wrong = new CompletableFuture<>();
        drain(pair.server(), ByteBuffer.allocate(1 << 16), wrong);
        assertTrue(get(writing) > 0);
        get(pair.client().write(text("more")));
    }

    /** Reads and reads. */
    private static void drain(AsynchronousSocketChannel channel, ByteBuffer into, CompletableFuture<Void> end) {
        channel.read(into.clear(), null, then(end, (Integer n) -> {
            if (n < 0) {
                end.complete(null);
            } else {
                drain(channel, into, end);
            }
        }));
    }

    @Test
    void shouldCarryEveryByteBothWaysAtOnce() throws Exception {
        Pair pair = pair();
        long bytes = 8 << 20;
        List<CompletableFuture<Long>> all = new ArrayList<>();
        for (AsynchronousSocketChannel channel : List.of(pair.client(), pair.server())) {
            CompletableFuture<Long> written = new CompletableFuture<>();
            CompletableFuture<Long> read = new CompletableFuture<>();
            write(channel, ByteBuffer.allocateDirect(70_000), 0, bytes, written);
            verify(channel, ByteBuffer.allocate(100_000), 0, bytes, read);
            all.add(written);
            all.add(read);
        }
        for (CompletableFuture<Long> each : all) {
            assertEquals(bytes, get(each));
        }
    }

    @Test
    void shouldCarryEveryByteOfManyChannels() throws Exception {
        long bytes = 200_000;
        List<CompletableFuture<Long>> all = new ArrayList<>();
        var group = fixed(2);
        for (int i = 0; i < 40; i++) {
            Pair pair = pair(group, group);
            CompletableFuture<Long> written = new CompletableFuture<>();
            CompletableFuture<Long> read = new CompletableFuture<>();
            write(pair.client(), ByteBuffer.allocate(1000 + i * 101), 0, bytes, written);
            verify(pair.server(), ByteBuffer.allocate(500 + i * 301), 0, bytes, read);
            all.add(written);
            all.add(read);
        }
        for (CompletableFuture<Long> each : all) {
            assertEquals(bytes, get(each));
        }
    }

    private static void write(
            AsynchronousSocketChannel channel, ByteBuffer buffer, long from, long to, CompletableFuture<Long> end) {
        if (from == to) {
            end.complete(to);
            return;
        }
        buffer.clear();
        for (int i = 0; i < buffer.capacity() && from + i < to; i++) {
            buffer.put(pattern(from + i));
        }
        buffer.flip();
        channel.write(buffer, null, then(end, (Integer n) -> write(channel, buffer, from + n, to, end)));
    }

    private static void verify(
            AsynchronousSocketChannel channel, ByteBuffer buffer, long from, long to, CompletableFuture<Long> end) {
        if (from == to) {
            end.complete(to);
            return;
        }
        channel.read(buffer.clear(), null, then(end, (Integer n) -> {
            for (int i = 0; i < n; i++) {
                if (buffer.get(i) != pattern(from + i)) {
                    throw new AssertionError("byte " + (from + i) + " is " + buffer.get(i));
                }
            }
            verify(channel, buffer, from + Math.max(0, n), n < 0 ? from : to, end);
        }));
    }

    // ---- half close and the end ----

    @Test
    void shouldReadToTheEnd() throws Exception {
        Pair pair = pair();
        get(pair.server().write(text("last")));
        Future<Integer> none = pair.server().read(ByteBuffer.allocate(1));
        pair.server().shutdownOutput();
        assertEquals("last", read(pair.client(), 10));
        assertEquals(-1, get(pair.client().read(ByteBuffer.allocate(1))));
        Told<Integer> told = new Told<>();
        pair.client().read(ByteBuffer.allocate(1), null, told);
        assertEquals(-1, told.get());
        get(pair.client().write(text("!")));
        assertEquals(1, get(none));
        assertTrue(pair.server().isOpen());
    }

    @Test
    void shouldTellAReadThatWaitsOfTheEnd() throws Exception {
        Pair pair = pair();
        Told<Integer> told = new Told<>();
        pair.client().read(ByteBuffer.allocate(1), null, told);
        pair.server().close();
        assertEquals(-1, told.get());
        ByteBuffer[] targets = {ByteBuffer.allocate(1)};
        Told<Long> scattered = new Told<>();
        pair.client().read(targets, 0, 1, 0, TimeUnit.SECONDS, null, scattered);
        assertEquals(-1, scattered.get());
    }

    @Test
    void shouldReadNothingAfterItsInputWasShut() throws Exception {
        Pair pair = pair();
        Future<Integer> waiting = pair.client().read(ByteBuffer.allocate(1));
        assertEquals(pair.client(), pair.client().shutdownInput());
        assertEquals(-1, get(waiting));
        pair.client().shutdownInput();
        assertEquals(-1, get(pair.client().read(ByteBuffer.allocate(1))));
        assertEquals(-1, get(pair.client().read(ByteBuffer.allocate(0))));
        Told<Long> scattered = new Told<>();
        pair.client().read(new ByteBuffer[0], 0, 0, 0, TimeUnit.SECONDS, null, scattered);
        assertEquals(-1, scattered.get());
        get(pair.client().write(text("out")));
        assertEquals("out", read(pair.server(), 3));
    }

    @Test
    void shouldWriteNothingAfterItsOutputWasShut() throws Exception {
        Pair pair = pair();
        assertEquals(pair.client(), pair.client().shutdownOutput());
        pair.client().shutdownOutput();
        assertFails(ClosedChannelException.class, pair.client().write(text("no")));
        Told<Integer> told = new Told<>();
        pair.client().write(ByteBuffer.allocate(0), null, told);
        assertFails(ClosedChannelException.class, told.outcome);
        assertEquals(-1, get(pair.server().read(ByteBuffer.allocate(1))));
        get(pair.server().write(text("in")));
        assertEquals("in", read(pair.client(), 2));
    }

    @Test
    void shouldFailAWriteThatWaitsWhenItsOutputIsShut() throws Exception {
        Pair pair = pair();
        Future<Integer> writing = fill(pair.client());
        pair.client().shutdownOutput();
        Exception failure = assertThrows(Exception.class, () -> get(writing));
        assertInstanceOf(IOException.class, failure);
        assertEquals("Broken pipe", failure.getMessage());
    }
}
