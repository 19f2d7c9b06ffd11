/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.net;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Random;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledForJreRange;
import org.junit.jupiter.api.condition.JRE;

/** Reading from a Socket: data, the end, time limits, and what other threads do to a reader. */
abstract class ReadBehaviour extends SocketBehaviour {

    ReadBehaviour(SocketKind kind) {
        super(kind);
    }

    @Test
    void shouldReadWhatThePeerWrote() throws IOException {
        Pair pair = pair();
        pair.clientOut().write("hello".getBytes(StandardCharsets.US_ASCII));
        assertEquals("hello", new String(pair.serverIn().readNBytes(5), StandardCharsets.US_ASCII));
        pair.serverOut().write("world".getBytes(StandardCharsets.US_ASCII));
        assertEquals("world", new String(pair.clientIn().readNBytes(5), StandardCharsets.US_ASCII));
    }

    @Test
    void shouldReadEachValueOfAByte() throws IOException {
        Pair pair = pair();
        for (int i = 0; i < 256; i++) {
            pair.clientOut().write(i);
            assertEquals(i, pair.serverIn().read());
        }
    }

    @Test
    void shouldReadIntoTheMiddleOfAnArray() throws IOException {
        Pair pair = pair();
        pair.clientOut().write(new byte[] {1, 2, 3});
        byte[] target = new byte[6];
        assertEquals(3, pair.serverIn().readNBytes(target, 2, 3));
        assertArrayEquals(new byte[] {0, 0, 1, 2, 3, 0}, target);
    }

    @Test
    void shouldReadWhatIsThereWithoutWaitingForTheRest() throws IOException {
        Pair pair = pair();
        pair.clientOut().write(new byte[10]);
        assertTrue(pair.serverIn().read(new byte[100]) <= 10);
    }

    @Test
    void shouldReadNothingWhenAskedForNothing() throws IOException {
        Pair pair = pair();
        assertEquals(0, pair.serverIn().read(new byte[0]));
        assertEquals(0, pair.serverIn().read(new byte[5], 2, 0));
        pair.client().close();
        assertEquals(-1, pair.serverIn().read());
        assertEquals(0, pair.serverIn().read(new byte[0]));
    }

    @Test
    void shouldCheckTheBoundsOfTheTarget() throws IOException {
        InputStream in = pair().clientIn();
        assertThrows(IndexOutOfBoundsException.class, () -> in.read(new byte[5], -1, 2));
        assertThrows(IndexOutOfBoundsException.class, () -> in.read(new byte[5], 0, -1));
        assertThrows(IndexOutOfBoundsException.class, () -> in.read(new byte[5], 4, 2));
        assertThrows(IndexOutOfBoundsException.class, () -> in.read(new byte[5], 1, Integer.MAX_VALUE));
        assertThrows(NullPointerException.class, () -> in.read(null, 0, 1));
    }

    @Test
    void shouldReadTheDataBeforeTheEnd() throws IOException {
        Pair pair = pair();
        pair.clientOut().write(new byte[1000]);
        pair.client().close();
        assertEquals(1000, pair.serverIn().readAllBytes().length);
    }

    @Test
    void shouldReportTheEndAgainAndAgain() throws IOException {
        Pair pair = pair();
        pair.client().close();
        for (int i = 0; i < 3; i++) {
            assertEquals(-1, pair.serverIn().read());
            assertEquals(-1, pair.serverIn().read(new byte[10]));
        }
    }

    @Test
    void shouldReportTheEndEvenAfterClose() throws IOException {
        Pair pair = pair();
        InputStream in = pair.serverIn();
        pair.client().close();
        assertEquals(-1, in.read());
        pair.server().close();
        assertEquals(-1, in.read());
    }

    @Test
    void shouldWakeAWaitingReaderAtTheEnd() throws Exception {
        Pair pair = pair();
        Work<Integer> reader = start(() -> pair.serverIn().read());
        awaitWaiting(reader);
        pair.client().close();
        assertEquals(-1, reader.get());
    }

    @Test
    void shouldSayHowMuchIsAvailable() throws Exception {
        Pair pair = pair();
        InputStream in = pair.serverIn();
        assertEquals(0, in.available());
        pair.clientOut().write(new byte[100]);
        await(() -> in.available() == 100);
        in.readNBytes(30);
        assertEquals(70, in.available());
        in.readNBytes(70);
        assertEquals(0, in.available());
    }

    /** Programs wait for a whole message that way. */
    @Test
    void shouldSayThatMoreIsAvailable() throws Exception {
        Pair pair = pair();
        InputStream in = pair.serverIn();
        pair.clientOut().write(new byte[100]);
        await(() -> in.available() == 100);
        pair.clientOut().write(1);
        await(() -> in.available() == 101);
    }

    /** A connection that was idle has room for less. TCP's default holds this much. */
    @Test
    void shouldHaveAWholeMessageAvailableBeforeAnythingIsRead() throws Exception {
        Pair pair = pair();
        InputStream in = pair.serverIn();
        byte[] message = new byte[60_000];
        new Random(1).nextBytes(message);
        Work<Void> writer = start(() -> {
            pair.clientOut().write(message);
            return null;
        });
        await(() -> in.available() == message.length);
        assertArrayEquals(message, in.readNBytes(message.length));
        writer.get();
    }

    @Test
    void shouldSayWhatIsAvailableAfterThePeerClosed() throws Exception {
        Pair pair = pair();
        pair.clientOut().write(new byte[100]);
        pair.client().close();
        InputStream in = pair.serverIn();
        await(() -> in.available() == 100);
        in.readNBytes(100);
        assertEquals(-1, in.read());
        assertEquals(0, in.available());
    }

    private interface Check {
        boolean holds() throws IOException;
    }

    private static void await(Check check) throws Exception {
        for (int i = 0; i < 20_000 && !check.holds(); i++) {
            Thread.sleep(1);
        }
        assertTrue(check.holds());
    }

    @Test
    void shouldSkipAndTransfer() throws IOException {
        Pair pair = pair();
        pair.clientOut().write("skipped and taken".getBytes(StandardCharsets.US_ASCII));
        pair.client().close();
        pair.serverIn().skipNBytes(8);
        ByteArrayOutputStream taken = new ByteArrayOutputStream();
        assertEquals(9, pair.serverIn().transferTo(taken));
        assertEquals("and taken", taken.toString(StandardCharsets.US_ASCII));
    }

    @Test
    void shouldGiveTheSameStreamEachTime() throws IOException {
        Socket client = pair().client();
        assertEquals(client.getInputStream(), client.getInputStream());
        assertEquals(client.getOutputStream(), client.getOutputStream());
    }

    // ---- SO_TIMEOUT ----

    @Test
    void shouldGiveUpReadingInTime() throws IOException {
        Pair pair = pair();
        pair.server().setSoTimeout(50);
        assertThrowsSaying(SocketTimeoutException.class, "Read timed out", () -> pair.serverIn()
                .read());
    }

    @Test
    void shouldStayOfUseAfterATimeout() throws IOException {
        Pair pair = pair();
        pair.server().setSoTimeout(20);
        for (int i = 0; i < 3; i++) {
            assertThrows(SocketTimeoutException.class, () -> pair.serverIn().read());
            pair.clientOut().write(i);
            pair.serverOut().write(i);
            pair.server().setSoTimeout(20_000);
            assertEquals(i, pair.serverIn().read());
            assertEquals(i, pair.clientIn().read());
            pair.server().setSoTimeout(20);
        }
        assertFalse(pair.server().isClosed());
    }

    @Test
    void shouldReadInTimeWhatComesInTime() throws Exception {
        Pair pair = pair();
        pair.server().setSoTimeout(40_000);
        Work<Integer> reader = start(() -> pair.serverIn().read());
        awaitWaiting(reader);
        pair.clientOut().write(4);
        assertEquals(4, reader.get());
    }

    @Test
    void shouldReadTheEndWithATimeout() throws Exception {
        Pair pair = pair();
        pair.server().setSoTimeout(40_000);
        Work<Integer> reader = start(() -> pair.serverIn().read());
        awaitWaiting(reader);
        pair.client().close();
        assertEquals(-1, reader.get());
    }

    @Test
    void shouldRememberItsTimeout() throws IOException {
        Socket socket = newSocket();
        assertEquals(0, socket.getSoTimeout());
        socket.setSoTimeout(1234);
        assertEquals(1234, socket.getSoTimeout());
        assertThrows(IllegalArgumentException.class, () -> socket.setSoTimeout(-1));
        assertEquals(1234, socket.getSoTimeout());
        socket.setSoTimeout(0);
        assertEquals(0, socket.getSoTimeout());
    }

    @Test
    void shouldUseATimeoutSetBeforeConnecting() throws IOException {
        var server = listening();
        Socket client = newSocket();
        client.setSoTimeout(30);
        client.connect(server.getLocalSocketAddress());
        accept(server);
        assertEquals(30, client.getSoTimeout());
        assertThrows(SocketTimeoutException.class, () -> client.getInputStream().read());
    }

    @EnabledForJreRange(min = JRE.JAVA_21) // before, a reader waited for its turn without a limit
    @Test
    void shouldGiveEveryReaderItsTimeout() throws Exception {
        Pair pair = pair();
        Work<Integer> first = start(() -> pair.serverIn().read());
        awaitWaiting(first);
        pair.server().setSoTimeout(50);
        assertThrowsSaying(SocketTimeoutException.class, "Read timed out", () -> pair.serverIn()
                .read());
        pair.clientOut().write(1);
        assertEquals(1, first.get());
    }

    @Tag("jdk21")
    @EnabledForJreRange(min = JRE.JAVA_21)
    @Test
    void shouldTimeOutOnAVirtualThread() throws Exception {
        Pair pair = pair();
        pair.server().setSoTimeout(50);
        assertThrowsSaying(SocketTimeoutException.class, "Read timed out", () -> startVirtual(
                        () -> pair.serverIn().read())
                .get());
        pair.clientOut().write(5);
        assertEquals(5, startVirtual(() -> pair.serverIn().read()).get());
    }

    // ---- other threads ----

    @Test
    void shouldEndAReadByClosing() throws Exception {
        Pair pair = pair();
        Work<Integer> reader = start(() -> pair.serverIn().read());
        awaitWaiting(reader);
        pair.server().close();
        assertSocketException("Socket closed", reader::get);
    }

    @Test
    void shouldEndATimedReadByClosing() throws Exception {
        Pair pair = pair();
        pair.server().setSoTimeout(50_000);
        Work<Integer> reader = start(() -> pair.serverIn().read());
        awaitWaiting(reader);
        pair.server().close();
        assertSocketException("Socket closed", reader::get);
    }

    @Tag("jdk21")
    @EnabledForJreRange(min = JRE.JAVA_21)
    @Test
    void shouldEndAVirtualThreadsReadByClosing() throws Exception {
        Pair pair = pair();
        Work<Integer> reader = startVirtual(() -> pair.serverIn().read());
        awaitWaiting(reader);
        pair.server().close();
        assertSocketException("Socket closed", reader::get);
    }

    @Test
    void shouldEndAllReadsByClosing() throws Exception {
        Pair pair = pair();
        Work<Integer> first = start(() -> pair.serverIn().read());
        Work<Integer> second = start(() -> pair.serverIn().read());
        awaitWaiting(first, second);
        pair.server().close();
        assertSocketException("Socket closed", first::get);
        assertSocketException("Socket closed", second::get);
    }

    @Test
    void shouldNotReadAfterClose() throws IOException {
        Pair pair = pair();
        InputStream in = pair.clientIn();
        pair.client().close();
        assertSocketException("Socket closed", in::read);
        assertSocketException("Socket closed", in::available);
        assertSocketException("Socket is closed", pair.client()::getInputStream);
    }

    @Test
    void shouldNotNoticeAnInterruptOnAPlatformThread() throws Exception {
        Pair pair = pair();
        Work<Boolean> reader = start(() -> pair.serverIn().read() == 8 && Thread.interrupted());
        awaitWaiting(reader);
        reader.thread.interrupt();
        awaitWaiting(reader);
        assertFalse(reader.isDone());
        pair.clientOut().write(8);
        assertTrue(reader.get(), "the byte is read and the interrupt status kept");
    }

    @Test
    void shouldReadOnAPlatformThreadThatIsInterruptedAlready() throws Exception {
        Pair pair = pair();
        Work<Boolean> reader = start(() -> {
            Thread.currentThread().interrupt();
            return pair.serverIn().read() == 8 && Thread.interrupted();
        });
        awaitWaiting(reader);
        pair.clientOut().write(8);
        assertTrue(reader.get());
    }

    @Test
    void shouldTimeOutOnAPlatformThreadThatIsInterrupted() throws Exception {
        Pair pair = pair();
        pair.server().setSoTimeout(100);
        Work<Boolean> reader = start(() -> {
            Thread.currentThread().interrupt();
            assertThrows(SocketTimeoutException.class, () -> pair.serverIn().read());
            return Thread.interrupted();
        });
        assertTrue(reader.get());
    }

    @Tag("jdk21")
    @EnabledForJreRange(min = JRE.JAVA_21)
    @Test
    void shouldCloseWhenAReadingVirtualThreadIsInterrupted() throws Exception {
        Pair pair = pair();
        Work<Boolean> reader = startVirtual(() -> {
            assertSocketException("Closed by interrupt", () -> pair.serverIn().read());
            return Thread.interrupted();
        });
        awaitWaiting(reader);
        reader.thread.interrupt();
        assertTrue(reader.get(), "the interrupt status stays set");
        assertTrue(pair.server().isClosed());
        assertEquals(-1, pair.clientIn().read());
    }

    @Tag("jdk21")
    @EnabledForJreRange(min = JRE.JAVA_21)
    @Test
    void shouldReadOnAVirtualThread() throws Exception {
        Pair pair = pair();
        Work<Integer> reader = startVirtual(() -> pair.serverIn().read());
        awaitWaiting(reader);
        pair.clientOut().write(11);
        assertEquals(11, reader.get());
    }

    @Test
    void shouldLetReadersTakeTurns() throws Exception {
        Pair pair = pair();
        int perReader = 5_000;
        Work<Integer> first = start(() -> readSome(pair.serverIn(), perReader));
        Work<Integer> second = start(() -> readSome(pair.serverIn(), perReader));
        byte[] ones = new byte[2 * perReader];
        Arrays.fill(ones, (byte) 1);
        pair.clientOut().write(ones);
        assertEquals(2 * perReader, first.get() + second.get());
    }

    private static int readSome(InputStream in, int count) throws IOException {
        int sum = 0;
        for (int i = 0; i < count; i++) {
            sum += in.read();
        }
        return sum;
    }

    // ---- resets ----

    @Test
    void shouldSayThatThePeerReset() throws Exception {
        Pair pair = pair();
        pair.client().setSoLinger(true, 0);
        pair.client().close();
        assertSocketException("Connection reset", () -> pair.serverIn().read());
        assertSocketException("Connection reset", () -> pair.serverIn().read());
    }

    @Test
    void shouldWakeAWaitingReaderWhenThePeerResets() throws Exception {
        Pair pair = pair();
        Work<Integer> reader = start(() -> pair.serverIn().read());
        awaitWaiting(reader);
        pair.client().setSoLinger(true, 0);
        pair.client().close();
        assertSocketException("Connection reset", reader::get);
    }

    /**
     * The JDK shuts the output before it closes, so the peer sees an end and not the reset that close(2) alone would
     * send.
     */
    @Test
    void shouldReadTheEndOfAPeerThatClosedWithDataUnread() throws Exception {
        Pair pair = pair();
        pair.clientOut().write(new byte[100]);
        InputStream in = pair.serverIn();
        await(() -> in.available() == 100);
        pair.serverOut().write(new byte[10]);
        pair.server().close();
        assertEquals(10, pair.clientIn().readAllBytes().length);
        assertEquals(-1, pair.clientIn().read());
    }
}
