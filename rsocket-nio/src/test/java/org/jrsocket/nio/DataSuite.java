/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.nio;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.util.Random;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledForJreRange;
import org.junit.jupiter.api.condition.JRE;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Bytes in and out, blocking and not: single, scattered, gathered. */
abstract class DataSuite extends NioSuite {

    @ParameterizedTest
    @CsvSource({"10, true", "10, false", "5000, true", "5000, false"})
    void shouldSendABufferEachTimeThatItIsNamed(int size, boolean blocking) throws Exception {
        Pair p = pair();
        p.client().configureBlocking(blocking);
        ByteBuffer often = text("x".repeat(size));
        ByteBuffer once = text("-");
        assertEquals(3L * size + 1, p.client().write(new ByteBuffer[] {often, often, once, often}));
        assertEquals(0, often.remaining());
        assertEquals(0, once.remaining());
        p.client().shutdownOutput();
        String expected = "x".repeat(2 * size) + "-" + "x".repeat(size);
        assertEquals(expected, read(p.server(), expected.length() + 1));
    }

    /** Else the peer would get what lay in the send memory before. */
    @Test
    @Tag("jdk21")
    @EnabledForJreRange(min = JRE.JAVA_22)
    void shouldWriteNothingOfASourceThatCannotBeRead() throws Exception {
        for (int size : new int[] {100, 100_000}) {
            Pair p = pair();
            p.client().write(text("a"));
            ByteBuffer gone = ofClosedArena(size);
            assertThrows(IllegalStateException.class, () -> p.client().write(gone));
            p.client().write(text("b"));
            p.client().shutdownOutput();
            assertEquals("ab", read(p.server(), 3));
        }
    }

    /** The peer gets all or nothing of the others, and not only when more is written. */
    @Test
    @Tag("jdk21")
    @EnabledForJreRange(min = JRE.JAVA_22)
    void shouldNotKeepBackWhatItHasGatheredBeforeASourceThatCannotBeRead() throws Exception {
        Pair p = pair();
        ByteBuffer[] sources = {text("head"), ofClosedArena(100)};
        assertThrows(IllegalStateException.class, () -> {
            while (true) {
                p.client().write(sources); // the first one may say how much it wrote
            }
        });
        int taken = sources[0].position();
        assertTrue(taken == 0 || taken == 4, taken + " bytes taken");
        if (taken == 4) {
            assertEquals("head", read(p.server(), 4));
        }
        p.client().write(text("b"));
        assertEquals("b", read(p.server(), 1));
    }

    @Test
    @Tag("jdk21")
    @EnabledForJreRange(min = JRE.JAVA_22)
    void shouldReadNothingIntoATargetThatCannotBeWritten() throws Exception {
        for (int size : new int[] {100, 100_000}) {
            Pair p = pair();
            p.client().write(bytes(size));
            ByteBuffer gone = ofClosedArena(size);
            assertThrows(IllegalStateException.class, () -> p.server().read(gone));
            p.client().shutdownOutput();
            assertEquals(size, read(p.server(), size + 1).length());
        }
    }

    /** Either the read says how much the first target got, or that is still there. */
    @Test
    @Tag("jdk21")
    @EnabledForJreRange(min = JRE.JAVA_22)
    void shouldLoseNothingThatItScattersBeforeATargetThatCannotBeWritten() throws Exception {
        for (boolean blocking : new boolean[] {true, false}) {
            Pair p = pair();
            p.client().write(text("headtail"));
            assertEquals("h", read(p.server(), 1)); // so all has arrived
            p.server().configureBlocking(blocking);
            ByteBuffer[] targets = {bytes(3), ofClosedArena(100)};
            long n = 0;
            try {
                n = p.server().read(targets);
            } catch (IllegalStateException e) {
                assertEquals(0, targets[0].position());
            }
            assertEquals(n, targets[0].position());
            String rest = n == 3 ? "tail" : "eadtail";
            assertEquals(rest, read(p.server(), rest.length()));
        }
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
    void shouldCarryBytesBothWays() throws IOException {
        Pair p = pair();
        assertEquals(4, p.client().write(text("ping")));
        assertEquals("ping", read(p.server(), 4));
        assertEquals(5, p.server().write(text("pong!")));
        assertEquals("pong!", read(p.client(), 5));
    }

    @Test
    void shouldReadZeroWhenNothingIsThere() throws IOException {
        Pair p = nonBlockingPair();
        ByteBuffer b = ByteBuffer.allocate(10);
        assertEquals(0, p.client().read(b));
        assertEquals(0, b.position());
    }

    @Test
    void shouldReadAtMostWhatFits() throws IOException {
        Pair p = pair();
        p.server().write(text("abcdef"));
        ByteBuffer b = ByteBuffer.allocate(10).position(2).limit(5);
        assertTrue(p.client().read(b) > 0);
        while (b.hasRemaining()) {
            p.client().read(b);
        }
        assertEquals(5, b.position());
        assertEquals("def", read(p.client(), 3));
    }

    @Test
    void shouldReadNothingIntoAFullBuffer() throws IOException {
        Pair p = pair();
        assertEquals(0, p.client().read(ByteBuffer.allocate(0)));
    }

    @Test
    void shouldWriteNothingFromAnEmptyBuffer() throws IOException {
        Pair p = pair();
        assertEquals(0, p.client().write(ByteBuffer.allocate(0)));
        assertEquals(0, p.client().write(new ByteBuffer[0]));
        assertEquals(0, p.client().write(new ByteBuffer[] {ByteBuffer.allocate(0)}));
    }

    @Test
    void shouldTakeDirectAndReadOnlyBuffers() throws IOException {
        Pair p = pair();
        ByteBuffer direct = ByteBuffer.allocateDirect(6);
        direct.put(text("direct")).flip();
        p.client().write(direct.asReadOnlyBuffer());
        p.client().write(text("heap").asReadOnlyBuffer());
        assertEquals("directheap", read(p.server(), 10));
        ByteBuffer in = ByteBuffer.allocateDirect(4);
        p.server().write(text("back"));
        while (in.hasRemaining()) {
            p.client().read(in);
        }
        assertEquals(text("back"), in.flip());
    }

    @Test
    void shouldTakeSlicesOfBuffers() throws IOException {
        Pair p = pair();
        byte[] array = "0123456789".getBytes(UTF_8);
        p.client().write(ByteBuffer.wrap(array, 2, 5).slice());
        assertEquals("23456", read(p.server(), 5));
        byte[] target = new byte[10];
        ByteBuffer slice = ByteBuffer.wrap(target, 4, 3).slice();
        p.server().write(text("xyz"));
        while (slice.hasRemaining()) {
            p.client().read(slice);
        }
        assertArrayEquals(new byte[] {0, 0, 0, 0, 'x', 'y', 'z', 0, 0, 0}, target);
    }

    @Test
    void shouldRefuseToReadIntoAReadOnlyBuffer() throws IOException {
        Pair p = pair();
        p.server().write(text("a"));
        ByteBuffer readOnly = ByteBuffer.allocate(1).asReadOnlyBuffer();
        Exception e =
                assertThrows(IllegalArgumentException.class, () -> p.client().read(readOnly));
        assertEquals("Read-only buffer", e.getMessage());
        assertEquals("a", read(p.client(), 1));
        nonBlocking(p.client());
        // whether or not there is anything to read
        assertThrows(IllegalArgumentException.class, () -> p.client().read(readOnly));
        assertThrows(IllegalArgumentException.class, () -> p.client()
                .read(new ByteBuffer[] {ByteBuffer.allocate(1), readOnly}));
        p.client().shutdownInput();
        assertEquals(-1, p.client().read(readOnly));
    }

    @Test
    void shouldScatterWhatCameBeforeAReset() throws IOException {
        Pair p = pair();
        p.server().write(text("first"));
        p.server().setOption(StandardSocketOptions.SO_LINGER, 0);
        p.server().close();
        pause(100); // until both have arrived; if they have not, this test is weaker
        assertEquals(5, p.client().read(new ByteBuffer[] {ByteBuffer.allocate(5), ByteBuffer.allocate(5)}));
        assertEquals(
                "Connection reset",
                assertThrows(IOException.class, () -> p.client().read(bytes(1))).getMessage());
    }

    @Test
    void shouldRefuseNullBuffers() throws IOException {
        Pair p = pair();
        assertThrows(NullPointerException.class, () -> p.client().read((ByteBuffer) null));
        assertThrows(NullPointerException.class, () -> p.client().write((ByteBuffer) null));
    }

    @Test
    void shouldRefuseBadRangesOfBuffers() throws IOException {
        Pair p = pair();
        ByteBuffer[] two = {ByteBuffer.allocate(1), ByteBuffer.allocate(1)};
        assertThrows(IndexOutOfBoundsException.class, () -> p.client().read(two, 1, 2));
        assertThrows(IndexOutOfBoundsException.class, () -> p.client().write(two, -1, 1));
    }

    @Test
    void shouldGatherOnWrite() throws IOException {
        Pair p = pair();
        ByteBuffer[] parts = {
            text("one"),
            ByteBuffer.allocate(0),
            text("two"),
            ByteBuffer.allocateDirect(3).put(text("six")).flip()
        };
        assertEquals(9, p.client().write(parts));
        assertEquals("onetwosix", read(p.server(), 9));
        for (ByteBuffer part : parts) {
            assertFalse(part.hasRemaining());
        }
    }

    @Test
    void shouldGatherARange() throws IOException {
        Pair p = pair();
        ByteBuffer[] parts = {text("a"), text("b"), text("c"), text("d")};
        assertEquals(2, p.client().write(parts, 1, 2));
        assertEquals("bc", read(p.server(), 2));
        assertTrue(parts[0].hasRemaining());
        assertTrue(parts[3].hasRemaining());
    }

    @Test
    void shouldScatterOnRead() throws IOException {
        Pair p = pair();
        p.server().write(text("headerbody"));
        pause(30);
        ByteBuffer[] parts = {ByteBuffer.allocate(6), ByteBuffer.allocateDirect(10)};
        long sum = 0;
        while (sum < 10) {
            sum += p.client().read(parts);
        }
        assertEquals(text("header"), parts[0].flip());
        assertEquals(text("body"), parts[1].flip());
    }

    @Test
    void shouldGatherManyBuffers() throws Exception {
        Pair p = pair();
        ByteBuffer[] parts = new ByteBuffer[3000];
        for (int i = 0; i < parts.length; i++) {
            parts[i] = ByteBuffer.wrap(new byte[] {pattern(i)});
        }
        Future<?> reader = background(() -> {
            ByteBuffer in = ByteBuffer.allocate(parts.length);
            while (in.hasRemaining()) {
                p.server().read(in);
            }
            for (int i = 0; i < parts.length; i++) {
                assertEquals(pattern(i), in.get(i));
            }
        });
        long sum = 0;
        while (sum < parts.length) {
            sum += p.client().write(parts, (int) sum, parts.length - (int) sum);
        }
        get(reader);
    }

    @Test
    void shouldWriteAllOfABigBufferWhenBlocking() throws Exception {
        Pair p = pair();
        int size = 5 << 20;
        Future<Integer> reader = background(() -> {
            ByteBuffer in = ByteBuffer.allocate(size);
            while (in.hasRemaining()) {
                p.server().read(in);
            }
            return in.flip().equals(bytes(size)) ? size : -1;
        });
        assertEquals(size, p.client().write(bytes(size)));
        assertEquals(size, get(reader));
    }

    @Test
    void shouldCarryRandomPiecesBothWaysAtOnce() throws Exception {
        Pair p = pair();
        int size = 3 << 20;
        Future<?> up = background(() -> sendRandomly(p.client(), size, 1));
        Future<?> down = background(() -> sendRandomly(p.server(), size, 2));
        Future<?> left = background(() -> receiveRandomly(p.client(), size, 3));
        receiveRandomly(p.server(), size, 4);
        get(left);
        get(up);
        get(down);
    }

    private static void sendRandomly(SocketChannel channel, int size, long seed) throws IOException {
        Random random = new Random(seed);
        ByteBuffer all = bytes(size);
        while (all.position() < size) {
            all.limit(Math.min(size, all.position() + 1 + random.nextInt(random.nextBoolean() ? 100 : 100_000)));
            while (all.hasRemaining()) {
                channel.write(all);
            }
        }
    }

    private static void receiveRandomly(SocketChannel channel, int size, long seed) throws IOException {
        Random random = new Random(seed);
        for (int at = 0; at < size; ) {
            ByteBuffer b = random.nextBoolean()
                    ? ByteBuffer.allocate(1 + random.nextInt(70_000))
                    : ByteBuffer.allocateDirect(1 + random.nextInt(500));
            int n = channel.read(b);
            assertTrue(n > 0);
            for (int i = 0; i < n; i++) {
                assertEquals(pattern(at + i), b.get(i));
            }
            at += n;
        }
    }

    @Test
    void shouldWriteWhatFitsWhenNotBlocking() throws IOException {
        Pair p = nonBlockingPair();
        ByteBuffer big = ByteBuffer.allocate(64 << 20);
        long n = p.client().write(big);
        assertTrue(n > 0 && n < big.capacity(), "wrote " + n);
        assertEquals(n, big.position());
    }

    @Test
    void shouldDeliverAllThatWasTakenWhenNotBlocking() throws Exception {
        Pair p = nonBlockingPair();
        long sent = fill(p.client());
        p.client().shutdownOutput();
        p.server().configureBlocking(true);
        long got = 0;
        ByteBuffer b = ByteBuffer.allocate(100_000);
        for (int n = p.server().read(b); n >= 0; n = p.server().read(b.clear())) {
            got += n;
        }
        assertEquals(sent, got);
    }
}
