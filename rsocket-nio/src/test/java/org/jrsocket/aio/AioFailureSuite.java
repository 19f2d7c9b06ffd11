/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.aio;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.Closeable;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.channels.AsynchronousCloseException;
import java.nio.channels.AsynchronousServerSocketChannel;
import java.nio.channels.AsynchronousSocketChannel;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.InterruptedByTimeoutException;
import java.util.concurrent.CancellationException;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** Time limits, cancelled futures, channels that are closed meanwhile. */
abstract class AioFailureSuite extends AioSuite {

    @Test
    void shouldEndAReadAfterItsTime() throws Exception {
        Pair pair = pair();
        Told<Integer> told = new Told<>();
        pair.client().read(ByteBuffer.allocate(1), 50, TimeUnit.MILLISECONDS, "late", told);
        assertFails(InterruptedByTimeoutException.class, told.outcome);
        assertEquals("late", told.attachment);
        assertTrue(pair.client().isOpen());
        assertEquals(
                "Reading not allowed due to timeout or cancellation",
                assertThrows(IllegalStateException.class, () -> pair.client().read(ByteBuffer.allocate(1)))
                        .getMessage());
        get(pair.client().write(text("still")));
        assertEquals("still", read(pair.server(), 5));
    }

    @Test
    void shouldEndAScatteringReadAfterItsTime() throws Exception {
        Pair pair = pair();
        Told<Long> told = new Told<>();
        pair.client().read(new ByteBuffer[] {ByteBuffer.allocate(1)}, 0, 1, 50, TimeUnit.MILLISECONDS, null, told);
        assertFails(InterruptedByTimeoutException.class, told.outcome);
    }

    @Test
    void shouldEndAWriteAfterItsTime() throws Exception {
        Pair pair = pair();
        Told<Integer> told;
        do {
            told = new Told<>();
            pair.client().write(ByteBuffer.allocate(1 << 16), 500, TimeUnit.MILLISECONDS, null, told);
            told.outcome.exceptionally(failure -> 0).get(60, TimeUnit.SECONDS);
        } while (!told.outcome.isCompletedExceptionally());
        assertFails(InterruptedByTimeoutException.class, told.outcome);
        assertThrows(IllegalStateException.class, () -> pair.client().write(text("more")));
        get(pair.server().write(text("in")));
        assertEquals("in", read(pair.client(), 2));
    }

    @Test
    void shouldForgetATimeThatWasNotNeeded() throws Exception {
        Pair pair;
        Told<Integer> first;
        long millis = 25;
        do { // until the machine is not too busy for it
            millis *= 2;
            pair = pair();
            first = new Told<>();
            pair.client().read(ByteBuffer.allocate(1), millis, TimeUnit.MILLISECONDS, null, first);
            get(pair.server().write(text("x")));
            first.outcome.exceptionally(late -> 0).get(60, TimeUnit.SECONDS);
        } while (first.outcome.isCompletedExceptionally());
        Told<Integer> unlimited = new Told<>();
        pair.client().read(ByteBuffer.allocate(1), -1, TimeUnit.SECONDS, null, unlimited);
        Told<Integer> later = new Told<>(); // its group is the same, and so the first one's time is over before
        pair().client().read(ByteBuffer.allocate(1), millis, TimeUnit.MILLISECONDS, null, later);
        assertFails(InterruptedByTimeoutException.class, later.outcome);
        get(pair.server().write(text("x")));
        assertEquals(1, unlimited.get());
    }

    @Test
    void shouldReadNoMoreAfterACancel() throws Exception {
        Pair pair = pair();
        Future<Integer> reading = pair.client().read(ByteBuffer.allocate(1));
        assertTrue(reading.cancel(false));
        assertTrue(reading.isCancelled());
        assertThrows(CancellationException.class, reading::get);
        assertFalse(reading.cancel(false));
        assertTrue(pair.client().isOpen());
        get(pair.server().write(text("x")));
        assertThrows(IllegalStateException.class, () -> pair.client().read(ByteBuffer.allocate(1)));
        get(pair.client().write(text("still")));
        assertEquals("still", read(pair.server(), 5));
    }

    @Test
    void shouldWriteNoMoreAfterACancel() throws Exception {
        Pair pair = pair();
        assertTrue(fill(pair.client()).cancel(false));
        assertThrows(IllegalStateException.class, () -> pair.client().write(text("more")));
        assertTrue(pair.client().isOpen());
    }

    @Test
    void shouldCloseWhenACancelInterrupts() throws Exception {
        Pair pair = pair();
        Future<Integer> reading = pair.client().read(ByteBuffer.allocate(1));
        assertTrue(reading.cancel(true));
        assertFalse(pair.client().isOpen());
        assertThrows(CancellationException.class, reading::get);
        assertEquals(-1, get(pair.server().read(ByteBuffer.allocate(1))));
    }

    @Test
    void shouldNotCancelWhatIsDone() throws Exception {
        Pair pair = pair();
        Future<Integer> written = pair.client().write(text("x"));
        get(written);
        assertFalse(written.cancel(true));
        assertTrue(pair.client().isOpen());
        assertTrue(written.isDone());
        assertFalse(written.isCancelled());
    }

    @Test
    void shouldFailWhatWaitsWhenItIsClosed() throws Exception {
        Pair pair = pair();
        Future<Integer> reading = pair.client().read(ByteBuffer.allocate(1));
        Future<Integer> writing = fill(pair.client());
        pair.client().close();
        assertFails(AsynchronousCloseException.class, reading);
        assertFails(AsynchronousCloseException.class, writing);
        Told<Integer> told = new Told<>();
        pair.server().shutdownInput();
        ByteBuffer one = ByteBuffer.allocate(1);
        Pair other = pair();
        other.server().read(one, null, told);
        other.server().close();
        assertFails(AsynchronousCloseException.class, told.outcome);
    }

    @Test
    void shouldRefuseWhatComesAfterTheClose() throws Exception {
        AsynchronousSocketChannel client = pair().client();
        client.close();
        assertFails(ClosedChannelException.class, client.read(ByteBuffer.allocate(1)));
        assertFails(ClosedChannelException.class, client.write(ByteBuffer.allocate(1)));
        Told<Integer> told = new Told<>();
        client.read(ByteBuffer.allocate(0), null, told);
        assertFails(ClosedChannelException.class, told.outcome);
        Told<Long> gathered = new Told<>();
        client.write(new ByteBuffer[0], 0, 0, 0, TimeUnit.SECONDS, null, gathered);
        assertFails(ClosedChannelException.class, gathered.outcome);
        assertThrows(ClosedChannelException.class, client::shutdownInput);
        assertThrows(ClosedChannelException.class, client::shutdownOutput);
        assertFalse(client.isOpen());
    }

    @Test
    void shouldHearOfAPeerThatIsGone() throws Exception {
        Pair pair = pair();
        get(pair.client().write(text("never read")));
        Future<Integer> writing = fill(pair.server());
        pair.client().close(); // with what the other wrote
        assertThrows(IOException.class, () -> get(writing));
        assertTrue(pair.server().isOpen());
    }

    /** Its action resets the connection. */
    private record Resettable(AsynchronousSocketChannel server, Closeable reset) {}

    /** Over RDMA the peer closes with something unread. What the JDK's selectors do is no reset then, at first. */
    private Resettable resettable() throws Exception {
        if (kind().isRdma()) {
            Pair pair = pair();
            get(pair.server().write(text("12")));
            assertEquals("1", read(pair.client(), 1));
            return new Resettable(pair.server(), pair.client());
        }
        AsynchronousServerSocketChannel listener = listening();
        InetSocketAddress address = (InetSocketAddress) listener.getLocalAddress();
        Socket peer = closing(new Socket(address.getAddress(), address.getPort()));
        peer.setSoLinger(true, 0);
        return new Resettable(closing(get(listener.accept())), peer);
    }

    @Test
    void shouldTellOfAResetOnceAndThenOfTheEnd() throws Exception {
        Resettable pair = resettable();
        Future<Integer> waiting = pair.server.read(ByteBuffer.allocate(1));
        pair.reset.close();
        assertEquals("Connection reset", assertFails(IOException.class, waiting).getMessage());
        assertEquals(-1, get(pair.server.read(ByteBuffer.allocate(1))));
        assertEquals(-1, get(pair.server.read(ByteBuffer.allocate(1))));
        assertTrue(pair.server.isOpen());
    }

    @Test
    void shouldTellAScatteringReadOfAResetOnceAndThenOfTheEnd() throws Exception {
        Resettable pair = resettable();
        ByteBuffer[] targets = {ByteBuffer.allocate(1), ByteBuffer.allocate(1)};
        Told<Long> waiting = new Told<>();
        pair.server.read(targets, 0, 2, 0, TimeUnit.SECONDS, null, waiting);
        pair.reset.close();
        assertEquals(
                "Connection reset",
                assertFails(IOException.class, waiting.outcome).getMessage());
        Told<Long> next = new Told<>();
        pair.server.read(targets, 0, 2, 0, TimeUnit.SECONDS, null, next);
        assertEquals(-1L, next.get());
        Told<Long> withoutRoom = new Told<>();
        ByteBuffer[] full = {ByteBuffer.allocate(0)};
        pair.server.read(full, 0, 1, 0, TimeUnit.SECONDS, null, withoutRoom);
        assertEquals(0L, withoutRoom.get());
    }
}
