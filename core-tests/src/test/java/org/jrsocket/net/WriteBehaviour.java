/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.net;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.Socket;
import java.net.SocketException;
import java.util.Arrays;
import java.util.SplittableRandom;
import java.util.zip.CRC32;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledForJreRange;
import org.junit.jupiter.api.condition.JRE;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Writing to a Socket: sizes, both directions at once, a peer that does not read or is gone, and what other threads do
 * to a writer.
 */
abstract class WriteBehaviour extends SocketBehaviour {

    WriteBehaviour(SocketKind kind) {
        super(kind);
    }

    private static byte[] pattern(int size) {
        byte[] bytes = new byte[size];
        new SplittableRandom(size).nextBytes(bytes);
        return bytes;
    }

    private static long crc(byte[] bytes) {
        CRC32 crc = new CRC32();
        crc.update(bytes);
        return crc.getValue();
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 127, 128, 129, 4095, 4096, 65535, 65536, 131072, 262143, 262145, 1_000_003, 5_000_000})
    void shouldDeliverAWriteOfAnySize(int size) throws Exception {
        Pair pair = pair();
        byte[] data = pattern(size);
        Work<Void> writer = start(() -> {
            pair.clientOut().write(data);
            return null;
        });
        assertEquals(crc(data), crc(pair.serverIn().readNBytes(size)));
        writer.get();
    }

    @Test
    void shouldDeliverBothDirectionsAtOnce() throws Exception {
        Pair pair = pair();
        int size = 8_000_000;
        byte[] data = pattern(size);
        Work<Void> up = start(() -> write(pair.clientOut(), data));
        Work<Void> down = start(() -> write(pair.serverOut(), data));
        Work<Long> upRead = start(() -> crc(pair.serverIn().readNBytes(size)));
        assertEquals(crc(data), crc(pair.clientIn().readNBytes(size)));
        assertEquals(crc(data), upRead.get());
        up.get();
        down.get();
    }

    /** In pieces of many sizes. */
    private static Void write(OutputStream out, byte[] data) throws IOException {
        SplittableRandom random = new SplittableRandom(7);
        for (int at = 0; at < data.length; ) {
            int n = Math.min(data.length - at, random.nextInt(1, 1 << random.nextInt(1, 18)));
            out.write(data, at, n);
            at += n;
        }
        return null;
    }

    @Test
    void shouldDeliverManySmallWritesInOrder() throws Exception {
        Pair pair = pair();
        int count = 20_000;
        Work<Void> writer = start(() -> {
            for (int i = 0; i < count; i++) {
                pair.clientOut().write(i);
            }
            return null;
        });
        byte[] all = pair.serverIn().readNBytes(count);
        for (int i = 0; i < count; i++) {
            assertEquals((byte) i, all[i]);
        }
        writer.get();
    }

    @Tag("many")
    @Test
    void shouldAnswerBackAndForth() throws Exception {
        Pair pair = pair();
        Work<Void> echo = start(() -> {
            for (int b = pair.serverIn().read(); b >= 0; b = pair.serverIn().read()) {
                pair.serverOut().write(b);
            }
            return null;
        });
        for (int i = 0; i < 2_000; i++) {
            pair.clientOut().write(i);
            assertEquals(i & 0xff, pair.clientIn().read());
        }
        pair.client().close();
        echo.get();
    }

    @Tag("jdk21")
    @EnabledForJreRange(min = JRE.JAVA_21)
    @Test
    void shouldAnswerBackAndForthOnVirtualThreads() throws Exception {
        Pair pair = pair();
        Work<Void> echo = startVirtual(() -> {
            for (int b = pair.serverIn().read(); b >= 0; b = pair.serverIn().read()) {
                pair.serverOut().write(b);
            }
            return null;
        });
        startVirtual(() -> {
                    for (int i = 0; i < 500; i++) {
                        pair.clientOut().write(i);
                        assertEquals(i & 0xff, pair.clientIn().read());
                    }
                    return null;
                })
                .get();
        pair.client().close();
        echo.get();
    }

    @Test
    void shouldWriteNothingWhenGivenNothing() throws IOException {
        Pair pair = pair();
        pair.clientOut().write(new byte[0]);
        pair.clientOut().write(new byte[3], 3, 0);
        pair.clientOut().flush();
        pair.clientOut().write(1);
        assertEquals(1, pair.serverIn().read());
    }

    @Test
    void shouldCheckTheBoundsOfTheSource() throws IOException {
        OutputStream out = pair().clientOut();
        assertThrows(IndexOutOfBoundsException.class, () -> out.write(new byte[5], -1, 2));
        assertThrows(IndexOutOfBoundsException.class, () -> out.write(new byte[5], 0, -1));
        assertThrows(IndexOutOfBoundsException.class, () -> out.write(new byte[5], 4, 2));
        assertThrows(NullPointerException.class, () -> out.write(null, 0, 1));
    }

    @Test
    void shouldDeliverWhatWasWrittenBeforeClose() throws Exception {
        Pair pair = pair();
        byte[] data = pattern(150_000);
        Work<Void> writer = start(() -> {
            pair.clientOut().write(data);
            pair.client().close();
            return null;
        });
        assertEquals(crc(data), crc(pair.serverIn().readAllBytes()));
        writer.get();
    }

    @Test
    void shouldNotInterleaveTheWritesOfTwoThreads() throws Exception {
        Pair pair = pair();
        int size = 400_000;
        byte[] ones = new byte[size];
        byte[] twos = new byte[size];
        Arrays.fill(ones, (byte) 1);
        Arrays.fill(twos, (byte) 2);
        Work<Void> first = start(() -> {
            pair.clientOut().write(ones);
            return null;
        });
        Work<Void> second = start(() -> {
            pair.clientOut().write(twos);
            return null;
        });
        byte[] all = pair.serverIn().readNBytes(2 * size);
        first.get();
        second.get();
        int changes = 0;
        for (int i = 1; i < all.length; i++) {
            changes += all[i] == all[i - 1] ? 0 : 1;
        }
        assertEquals(1, changes);
    }

    // ---- a peer that does not read ----

    /** A writer that waits because nobody reads. */
    private static Void fill(OutputStream out) throws IOException {
        byte[] block = new byte[1 << 16];
        while (true) {
            out.write(block);
        }
    }

    @Test
    void shouldWaitForASlowReader() throws Exception {
        Pair pair = pair();
        byte[] data = pattern(20_000_000);
        Work<Void> writer = start(() -> {
            pair.clientOut().write(data);
            return null;
        });
        awaitWaiting(writer);
        assertFalse(writer.isDone());
        assertEquals(crc(data), crc(pair.serverIn().readNBytes(data.length)));
        writer.get();
    }

    @Test
    void shouldEndAWriteByClosing() throws Exception {
        Pair pair = pair();
        Work<Void> writer = start(() -> fill(pair.clientOut()));
        awaitWaiting(writer);
        pair.client().close();
        assertSocketException("Socket closed", writer::get);
    }

    @Tag("jdk21")
    @EnabledForJreRange(min = JRE.JAVA_21)
    @Test
    void shouldEndAVirtualThreadsWriteByClosing() throws Exception {
        Pair pair = pair();
        Work<Void> writer = startVirtual(() -> fill(pair.clientOut()));
        awaitWaiting(writer);
        pair.client().close();
        assertSocketException("Socket closed", writer::get);
    }

    @Test
    void shouldReadWhileAnotherThreadWaitsToWrite() throws Exception {
        Pair pair = pair();
        Work<Void> writer = start(() -> fill(pair.clientOut()));
        awaitWaiting(writer);
        pair.serverOut().write(5);
        assertEquals(5, pair.clientIn().read());
        pair.client().close();
        assertThrows(SocketException.class, writer::get);
    }

    @Test
    void shouldNotNoticeAnInterruptWhileAPlatformThreadWrites() throws Exception {
        Pair pair = pair();
        byte[] data = pattern(20_000_000);
        Work<Boolean> writer = start(() -> {
            pair.clientOut().write(data);
            return Thread.interrupted();
        });
        awaitWaiting(writer);
        writer.thread.interrupt();
        awaitWaiting(writer);
        assertEquals(crc(data), crc(pair.serverIn().readNBytes(data.length)));
        assertTrue(writer.get());
    }

    @Tag("jdk21")
    @EnabledForJreRange(min = JRE.JAVA_21)
    @Test
    void shouldCloseWhenAWritingVirtualThreadIsInterrupted() throws Exception {
        Pair pair = pair();
        Work<Boolean> writer = startVirtual(() -> {
            assertSocketException("Closed by interrupt", () -> fill(pair.clientOut()));
            return Thread.interrupted();
        });
        awaitWaiting(writer);
        writer.thread.interrupt();
        assertTrue(writer.get());
        assertTrue(pair.client().isClosed());
    }

    // ---- a peer that is gone ----

    /** Writes until it fails. */
    private static SocketException writeUntilItFails(Socket socket) throws Exception {
        OutputStream out = socket.getOutputStream();
        for (int i = 0; i < 20_000; i++) {
            try {
                out.write(new byte[100]);
                Thread.sleep(1);
            } catch (SocketException e) {
                return e;
            }
        }
        throw new AssertionError("the write never failed");
    }

    private static void assertBrokenOrReset(SocketException e) {
        String message = e.getMessage();
        assertTrue(
                message.equals("Broken pipe")
                        || message.equals("Connection reset")
                        || message.equals("Connection reset by peer"),
                message);
    }

    @Test
    void shouldFailToWriteToAPeerThatClosed() throws Exception {
        Pair pair = pair();
        pair.server().close();
        assertBrokenOrReset(writeUntilItFails(pair.client()));
    }

    /** Some flush before they close, and do not close if that fails: H2's server. */
    @Test
    void shouldTakeOneWriteAfterThePeerHasClosed() throws Exception {
        Pair pair = pair();
        pair.server().close();
        assertEquals(-1, pair.client().getInputStream().read());
        pair.client().getOutputStream().write(new byte[100]);
        assertBrokenOrReset(writeUntilItFails(pair.client()));
        assertEquals(-1, pair.client().getInputStream().read());
    }

    /** The kernel tells of it once: if a writer hears of it, readers find the end. */
    @Test
    void shouldTellAWriterThatThePeerResetAndReadersThenOfTheEnd() throws Exception {
        Pair pair = pair();
        pair.server().setSoLinger(true, 0);
        pair.server().close();
        assertEquals(
                "Connection reset by peer", writeUntilItFails(pair.client()).getMessage());
        assertSocketException("Broken pipe", () -> pair.clientOut().write(1));
        assertEquals(-1, pair.client().getInputStream().read());
        assertEquals(-1, pair.client().getInputStream().read());
        assertSocketException("Broken pipe", () -> pair.clientOut().write(1));
    }

    @Test
    void shouldTellAReaderThatThePeerResetEachTimeAndWritersOfABrokenPipe() throws Exception {
        Pair pair = pair();
        pair.server().setSoLinger(true, 0);
        pair.server().close();
        assertSocketException(
                "Connection reset", () -> pair.client().getInputStream().read());
        assertSocketException("Broken pipe", () -> pair.clientOut().write(1));
        assertSocketException(
                "Connection reset", () -> pair.client().getInputStream().read());
    }

    /** The peer's end has come, and then a reset: no write succeeds any more. */
    @Test
    void shouldNotWriteToAPeerThatClosedWithDataUnread() throws Exception {
        Pair pair = pair();
        pair.clientOut().write(new byte[100]);
        InputStream in = pair.serverIn();
        while (in.available() < 100) {
            Thread.onSpinWait();
        }
        pair.server().close();
        aMoment();
        assertEquals(0, pair.clientIn().available()); // over RDMA a write alone does not look for what has come
        assertSocketException("Broken pipe", () -> pair.clientOut().write(1));
        assertEquals(-1, pair.clientIn().read());
    }

    /** A writer that tries again hears again that nobody reads. */
    @Test
    void shouldNotTakeAWriteAfterOneThatFailed() throws Exception {
        Pair pair = pair();
        Work<Void> writer = start(() -> fill(pair.clientOut()));
        awaitWaiting(writer);
        pair.server().close();
        assertBrokenOrReset(assertThrows(SocketException.class, writer::get));
        assertBrokenOrReset(
                assertThrows(SocketException.class, () -> pair.clientOut().write(new byte[100])));
    }

    @Test
    void shouldWakeAWaitingWriterWhenThePeerResets() throws Exception {
        Pair pair = pair();
        Work<Void> writer = start(() -> fill(pair.clientOut()));
        awaitWaiting(writer);
        pair.server().setSoLinger(true, 0);
        pair.server().close();
        assertBrokenOrReset(assertThrows(SocketException.class, writer::get));
    }

    @Test
    void shouldNotWriteAfterClose() throws IOException {
        Pair pair = pair();
        OutputStream out = pair.clientOut();
        pair.client().close();
        assertSocketException("Socket closed", () -> out.write(1));
        assertSocketException("Socket is closed", pair.client()::getOutputStream);
        out.flush();
    }

    @Test
    void shouldStillReadWhatAClosedPeerHadWritten() throws Exception {
        Pair pair = pair();
        pair.serverOut().write(pattern(1000));
        pair.server().close();
        aMoment();
        InputStream in = pair.clientIn();
        assertEquals(1000, in.readAllBytes().length);
    }
}
