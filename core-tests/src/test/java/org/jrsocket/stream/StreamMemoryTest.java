/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.stream;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import org.jrsocket.stream.HookedVerbs.Point;
import org.jrsocket.verbs.VerbsProvider;
import org.jrsocket.verbs.loopback.LoopbackProvider;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Registered memory follows what a connection needs, within the process's bound. */
class StreamMemoryTest extends RawPeerTests {

    private static final StreamConfig DEFAULT = StreamConfig.DEFAULT.withSpinNanos(0);

    /** A peer need not give back grants of less than 32 KiB. */
    private static final long IDLE = 64 << 10;

    private HookedVerbs hooked;

    @Override
    VerbsProvider wrap(LoopbackProvider provider) {
        hooked = new HookedVerbs(provider);
        return hooked;
    }

    private StreamPair pair(StreamConfig config) throws IOException {
        return later(StreamPair.connect(transport, HERE, config));
    }

    /** Writes at one end and reads at the other, as fast as both can, and compares. */
    private void stream(StreamPair p, int bytes) throws Exception {
        byte[] sent = bytes(bytes);
        Future<?> writer = background(() -> {
            p.client.write(sent, 0, sent.length, PATIENCE);
            return null;
        });
        assertArrayEquals(sent, read(p.server, bytes));
        get(writer);
    }

    @Test
    void shouldHoldLittleWhileItIsIdleOrConversing() throws Exception {
        StreamPair p = pair(DEFAULT);
        for (int i = 0; i < 1000; i++) {
            p.client.write(bytes(100), 0, 100, PATIENCE);
            assertEquals(100, read(p.server, 100).length);
            p.server.write(bytes(100), 0, 100, PATIENCE);
            assertEquals(100, read(p.client, 100).length);
        }
        assertEquals(DEFAULT.leastBytes(), p.client.registeredBytes());
        assertEquals(DEFAULT.leastBytes(), p.server.registeredBytes());
        assertTrue(DEFAULT.leastBytes() <= IDLE);
    }

    @Test
    void shouldGrowWithAStreamAndBeSmallAgainWhenItIsQuiet() throws Exception {
        StreamPair p = pair(DEFAULT);
        stream(p, 16 << 20);
        assertTrue(p.client.registeredBytes() > 4L * DEFAULT.leastBytes(), p.client.registeredBytes() + " to send");
        assertTrue(p.server.registeredBytes() > 4L * DEFAULT.leastBytes(), p.server.registeredBytes() + " to receive");

        awaitSmall(p);
        stream(p, 4 << 20); // and it goes on
    }

    /** As in a pool of connections: sweeps alone look at either end. */
    private static void awaitSmall(StreamPair p) throws Exception {
        RawPeer.await(
                () -> {
                    sweep(p);
                    return p.client.registeredBytes() <= IDLE && p.server.registeredBytes() <= IDLE;
                },
                () -> p.client.registeredBytes() + " to send and " + p.server.registeredBytes() + " to receive");
    }

    private static void sweep(StreamPair p) {
        p.client.core().sweep.look();
        p.server.core().sweep.look();
    }

    /** By then the writer has been quiet for long. */
    @Test
    void shouldBeSmallAgainAfterAReaderThatCameLate() throws Exception {
        StreamPair p = pair(DEFAULT);
        int written = 0;
        for (int n = 1; n > 0; written += n) {
            n = p.client.write(ByteBuffer.allocate(64 << 10));
        }
        assertTrue(p.client.registeredBytes() > IDLE);
        for (int rounds = 0; rounds < 30; rounds++) {
            sweep(p);
        }
        assertEquals(written, read(p.server, written).length);
        awaitSmall(p);
    }

    /** It sends all at once, rests, and is granted more while its peer reads. */
    @Test
    void shouldGiveBackGrantsThatCameWhileItRested() throws Exception {
        StreamPair p = pair(DEFAULT);
        stream(p, 16 << 20);
        int granted = p.client.write(ByteBuffer.allocate(1 << 20));
        RawPeer.await(
                () -> {
                    p.client.poll(); // else only a sweep would, seconds later
                    return p.client.core().out.acknowledged()
                            == p.client.core().out.written();
                },
                () -> "not sent");
        for (int rounds = 0; rounds < 30; rounds++) {
            p.client.core().sweep.look();
        }
        assertEquals(granted, read(p.server, granted).length);
        awaitSmall(p);
    }

    /** Of ten thousand idle connections each look costs. */
    @Test
    void shouldNotBeEnteredBySweepsWhileItIsAtRest() throws Exception {
        StreamPair p = pair(DEFAULT);
        StreamSweep sweep = p.client.core().sweep;
        awaitRest(sweep);
        p.client.write(bytes(100), 0, 100, PATIENCE);
        assertTrue(sweep.look(), "something was written");
        awaitRest(sweep);
        p.server.write(bytes(100), 0, 100, PATIENCE);
        read(p.client, 100);
        assertTrue(sweep.look(), "something was read");
        awaitRest(sweep);
        p.client.close();
        assertTrue(sweep.look(), "it was closed");
    }

    /** Lack of memory may be over long before the connection is quiet. */
    @Test
    void shouldMakeRoomForAWholeMessageOnceThereIsMemoryAgain() throws Exception {
        StreamPair p = pair(DEFAULT);
        transport.limitMemory(1);
        byte[] message = bytes(60_000);
        Future<?> writer = background(() -> {
            p.client.write(message, 0, message.length, PATIENCE);
            return null;
        });
        RawPeer.await(() -> available(p) == 16 << 10, () -> "less than an idle connection has room for");
        for (int i = 0; i < 10; i++) {
            assertEquals(16 << 10, p.server.available());
        }
        transport.limitMemory(Long.MAX_VALUE);
        RawPeer.await(() -> available(p) == message.length, () -> "not all of it");
        assertArrayEquals(message, read(p.server, message.length));
        get(writer);
    }

    private static int available(StreamPair p) {
        try {
            return p.server.available();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** A C peer's connection, for example, whose grants never come back. */
    @Test
    void shouldRestWithMemoryThatCannotBeGivenBack() throws Exception {
        StreamPair p = pair(DEFAULT);
        stream(p, 16 << 20);
        p.client.write(ByteBuffer.allocate(64 << 10)); // which nobody reads
        RawPeer.await(
                () -> p.client.core().out.acknowledged() == p.client.core().out.written(), () -> "not sent");
        RawPeer.await(
                () -> {
                    for (int looks = 0; p.server.core().sweep.look(); looks++) {
                        if (looks == 20) {
                            return false; // a reaper may be slow
                        }
                    }
                    return p.server.registeredBytes() > IDLE;
                },
                () -> "still not at rest");
    }

    private static void awaitRest(StreamSweep sweep) {
        for (int looks = 0; sweep.look(); looks++) {
            assertTrue(looks < 10, "still not at rest");
        }
    }

    @Test
    void shouldBeLookedAtWhileItsDeviceHasSomethingToSay() throws Exception {
        StreamPair p = pair(DEFAULT);
        awaitRest(p.client.core().sweep);
        verbs.faults().holdAcks(true);
        p.client.write(bytes(100), 0, 100, PATIENCE);
        for (int looks = 0; looks < 10; looks++) {
            assertTrue(p.client.core().sweep.look(), "an acknowledgement is awaited");
        }
        verbs.faults().holdAcks(false);
        awaitRest(p.client.core().sweep);
    }

    /** Here, as on rxe, all of it is acknowledged whenever the writer looks. */
    @Test
    void shouldGrowWithAStreamOfSmallWrites() throws Exception {
        StreamPair p = pair(DEFAULT);
        for (int i = 0; i < 1000; i++) {
            p.client.write(bytes(1000), 0, 1000, PATIENCE);
            assertEquals(1000, read(p.server, 1000).length);
        }
        assertTrue(p.client.registeredBytes() > DEFAULT.leastBytes(), "one slab is filled while the other travels");
    }

    /** The only slab is not full, and the device was not asked to say when it has sent what is in there. */
    @Test
    void shouldTellAWriterWhenItsOnlySlabIsFree() throws Exception {
        StreamPair p = pair(DEFAULT.withBuffers(8192, 64 << 10));
        int unasked = 0;
        for (int i = 0; i < 4; i++) {
            assertEquals(7000, p.client.write(ByteBuffer.allocate(7000)));
            assertEquals(7000, read(p.server, 7000).length);
            p.client.poll();
            unasked += p.client.isWritable() ? 0 : 1;
            for (int looks = 0; !p.client.isWritable(); looks++) {
                assertTrue(looks < 1000, "not before a sweep, although everything was read");
                p.client.arm(true); // as a selector does before it sleeps
                p.client.takeEvent();
            }
        }
        assertTrue(unasked > 0, "no write was one of those that are not asked about");
    }

    /** A part of the window that is no whole number of pages would never be what it was registered as. */
    @ParameterizedTest
    @ValueSource(ints = {40_000, 87_380, 200_000, 1_000_000})
    void shouldGrantTheSameMemoryAgain(int receiveBuffer) throws Exception {
        StreamPair p = pair(DEFAULT.withBuffers(1 << 20, receiveBuffer));
        stream(p, 8 << 20); // until it is as large as it gets
        AtomicInteger registrations = new AtomicInteger();
        hooked.hook = (point, cookie) -> registrations.addAndGet(point == Point.BEFORE_REGISTER ? 1 : 0);
        stream(p, 8 << 20);
        assertTrue(registrations.get() < 20, registrations + " registrations for 8 MiB");
    }

    /** Each piece that is lent comes back before the next one is. */
    @Test
    void shouldGrantTheSameMemoryAgainToAReaderThatBorrows() throws Exception {
        StreamPair p = pair(DEFAULT.withBuffers(1 << 20, 1 << 20));
        borrow(p, 16 << 20); // until it is as large as it gets
        AtomicInteger registrations = new AtomicInteger();
        hooked.hook = (point, cookie) -> registrations.addAndGet(point == Point.BEFORE_REGISTER ? 1 : 0);
        borrow(p, 16 << 20);
        assertTrue(registrations.get() < 20, registrations + " registrations for 16 MiB");
    }

    private void borrow(StreamPair p, int bytes) throws Exception {
        byte[] sent = bytes(bytes);
        Future<?> writer = background(() -> {
            p.client.write(sent, 0, sent.length, PATIENCE);
            return null;
        });
        ByteBuffer got = ByteBuffer.allocate(bytes);
        while (got.hasRemaining()) {
            assertTrue(p.server.awaitReadable(PATIENCE));
            try (BorrowedBytes borrowed = p.server.borrow(bytes)) {
                if (borrowed != null) {
                    got.put(borrowed.bytes());
                }
            }
            if (p.server.available() < 512) {
                p.server.read(got);
            }
        }
        assertArrayEquals(sent, got.array());
        get(writer);
    }

    @Test
    void shouldNotPassTheBound() throws Exception {
        transport.limitMemory(4L * DEFAULT.leastBytes());
        StreamPair p = pair(DEFAULT);
        stream(p, 8 << 20);
        assertTrue(transport.registeredMemory() <= 4L * DEFAULT.leastBytes());
        transport.limitMemory(Long.MAX_VALUE);
        // A refusal is not repeated for a while, which doubles with each that follows.
        long start = System.nanoTime();
        while (p.server.registeredBytes() <= 2L * DEFAULT.leastBytes() && System.nanoTime() - start < PATIENCE) {
            stream(p, 64 << 10);
        }
        assertTrue(p.server.registeredBytes() > 2L * DEFAULT.leastBytes(), "it may grow again");
    }

    /** Memory that is given up cannot be had again while it is short. */
    @Test
    void shouldKeepItsSlabsWhileThereIsNoMemoryForLargerOnes() throws Exception {
        StreamPair p = pair(DEFAULT);
        while (p.server.registeredBytes() < 4L * (64 << 10)) {
            fillAndRead(p);
        }
        for (int i = 0; i < 64; i++) { // until all slabs have the size that they are to have by now
            writeAndRead(p, 8 << 10);
        }
        awaitReapers(p.server.core().endpoint.device());
        transport.limitMemory(transport.registeredMemory());
        long before = p.server.registeredBytes();
        for (int i = 0; i < 10; i++) {
            fillAndRead(p);
            assertEquals(before, p.server.registeredBytes(), "after " + i);
        }
    }

    /** Uses up all that was granted, and reads it: then receive memory grows, once. */
    private static void fillAndRead(StreamPair p) throws IOException {
        p.client.poll();
        writeAndRead(p, (int) p.client.core().out.peerRoom());
    }

    private static void writeAndRead(StreamPair p, int n) throws IOException {
        byte[] all = bytes(n);
        p.client.write(all, 0, n, PATIENCE);
        assertArrayEquals(all, read(p.server, n));
    }

    @Test
    void shouldRefuseAConnectionThatCannotHaveItsLeast() throws Exception {
        StreamPair p = pair(DEFAULT);
        long registered = transport.registeredMemory();
        transport.limitMemory(registered);
        RdmaListener listener = listen(DEFAULT);
        IOException e = assertThrows(
                IOException.class,
                () -> transport.connect(null, listener.localAddress(), DEFAULT).await(PATIENCE));
        String kib = registered / 1024 + " KiB";
        assertEquals(
                "no memory for another connection on lo0 (memory.registered=" + kib + " is used up: " + kib
                        + " registered, " + DEFAULT.leastBytes() / 1024
                        + " KiB wanted on lo0); raise memory.registered",
                e.getMessage());
        stream(p, 1 << 20); // the others are none the worse
    }

    @Test
    void shouldGiveEverythingBackWhenClosedAtItsLargest() throws Exception {
        StreamPair p = pair(DEFAULT);
        stream(p, 16 << 20);
        byte[] left = new byte[1 << 20];
        Arrays.fill(left, (byte) 1);
        p.client.write(left, 0, left.length / 2, PATIENCE);
        p.client.abort();
        p.server.abort();
        RawPeer.await(() -> transport.liveStreams() == 0, () -> "not freed");
        transport.freeIdle();
        RawPeer.await(() -> transport.registeredMemory() == 0, () -> transport.registeredMemory() + " bytes left");
    }
}
