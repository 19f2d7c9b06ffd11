/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.nio;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** How a stream ends: half closes, closes and resets, as reads and writes of either end meet them. */
abstract class StreamEndSuite extends NioSuite {

    @Test
    void shouldReadTheEndWhenThePeerCloses() throws IOException {
        Pair p = pair();
        p.server().write(text("last"));
        p.server().close();
        assertEquals("last", read(p.client(), 4));
        assertEquals(-1, p.client().read(bytes(1)));
        assertEquals(-1, p.client().read(new ByteBuffer[] {bytes(1)}));
    }

    @Test
    void shouldReadTheEndAgainAndAgain() throws IOException {
        Pair p = nonBlockingPair();
        p.server().close();
        p.client().configureBlocking(true);
        for (int i = 0; i < 3; i++) {
            assertEquals(-1, p.client().read(bytes(1)));
        }
    }

    @Test
    void shouldReadAfterThePeerShutItsOutputAndWriteOn() throws IOException {
        Pair p = pair();
        p.client().write(text("question"));
        p.client().shutdownOutput();
        assertEquals("question", read(p.server(), 8));
        assertEquals(-1, p.server().read(bytes(1)));
        p.server().write(text("answer"));
        assertEquals("answer", read(p.client(), 6));
    }

    @Test
    void shouldNotWriteAfterShuttingItsOutput() throws IOException {
        Pair p = pair();
        p.client().shutdownOutput();
        assertThrows(ClosedChannelException.class, () -> p.client().write(text("x")));
        assertThrows(ClosedChannelException.class, () -> p.client().write(new ByteBuffer[] {text("x")}));
        assertTrue(p.client().isOpen());
        assertTrue(p.client().isConnected());
    }

    @Test
    void shouldReadTheEndAfterShuttingItsInput() throws IOException {
        Pair p = pair();
        p.client().shutdownInput();
        assertEquals(-1, p.client().read(bytes(1)));
        p.client().write(text("fine"));
        assertEquals("fine", read(p.server(), 4));
    }

    @Test
    void shouldShutDownTwice() throws IOException {
        Pair p = pair();
        assertEquals(p.client(), p.client().shutdownInput().shutdownInput());
        assertEquals(p.client(), p.client().shutdownOutput().shutdownOutput());
    }

    @Test
    void shouldEndABlockedReadByShuttingTheInput() throws Exception {
        Pair p = pair();
        Future<Integer> reader = blocked(() -> p.client().read(bytes(1)));
        p.client().shutdownInput();
        assertEquals(-1, get(reader));
        assertTrue(p.client().isOpen());
    }

    @Test
    void shouldNotDoAnythingOnceClosed() throws IOException {
        Pair p = pair();
        p.client().close();
        p.client().close();
        assertThrows(ClosedChannelException.class, () -> p.client().read(bytes(1)));
        assertThrows(ClosedChannelException.class, () -> p.client().write(bytes(1)));
        assertThrows(ClosedChannelException.class, p.client()::shutdownInput);
        assertThrows(ClosedChannelException.class, p.client()::shutdownOutput);
        assertThrows(ClosedChannelException.class, () -> p.client().configureBlocking(false));
        assertFalse(p.client().isOpen());
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void shouldTakeOneWriteAfterThePeerHasClosed(boolean gathering) throws IOException {
        Pair p = pair();
        p.server().close();
        assertEquals(-1, p.client().read(bytes(1)));
        assertEquals(
                5,
                gathering
                        ? p.client().write(new ByteBuffer[] {bytes(0), bytes(2), bytes(3)})
                        : p.client().write(bytes(5)));
        assertThrows(IOException.class, () -> {
            for (int i = 0; i < 1000; i++) {
                p.client().write(bytes(5));
                pause(2);
            }
        });
        assertEquals(-1, p.client().read(bytes(1)));
    }

    @Test
    void shouldFailToWriteWhenThePeerIsGone() throws IOException {
        Pair p = pair();
        p.server().close();
        IOException e = assertThrows(IOException.class, () -> {
            for (int i = 0; i < 1000; i++) {
                p.client().write(bytes(1000));
                pause(2);
            }
        });
        assertEquals(IOException.class, e.getClass()); // a SocketException is what sockets throw
        assertTrue(e.getMessage().matches("Broken pipe|Connection reset by peer"), e.getMessage());
        assertTrue(p.client().isOpen());
    }

    @Test
    void shouldSayConnectionResetWhenThePeerLingersZero() throws IOException {
        Pair p = pair();
        p.server().setOption(StandardSocketOptions.SO_LINGER, 0);
        p.server().close();
        IOException e = assertThrows(IOException.class, () -> p.client().read(bytes(1)));
        assertEquals("Connection reset", e.getMessage());
        assertEquals(
                "Connection reset",
                assertThrows(IOException.class, () -> p.client().read(bytes(1))).getMessage());
    }

    /** Whatever it asks for: the JDK looks for the reset before it looks at the buffer. */
    @Test
    void shouldSayConnectionResetToAReadOfNothingOnceAReaderHasHeardOfIt() throws IOException {
        Pair p = pair();
        p.server().setOption(StandardSocketOptions.SO_LINGER, 0);
        p.server().close();
        assertEquals(0, p.client().read(bytes(0)));
        assertThrows(IOException.class, () -> p.client().read(bytes(1)));
        for (ByteBuffer nothing : new ByteBuffer[] {bytes(0), bytes(0).asReadOnlyBuffer()}) {
            assertEquals(
                    "Connection reset",
                    assertThrows(IOException.class, () -> p.client().read(nothing))
                            .getMessage());
            assertEquals(
                    "Connection reset",
                    assertThrows(IOException.class, () -> p.client().read(new ByteBuffer[] {nothing}))
                            .getMessage());
        }
    }

    @Test
    void shouldResetWhenClosedWithUnreadData() throws IOException {
        Pair p = pair();
        p.client().write(text("unread"));
        assertEquals("u", read(p.server(), 1)); // so the rest has arrived
        p.server().close();
        IOException e = assertThrows(IOException.class, () -> p.client().read(bytes(1)));
        assertEquals("Connection reset", e.getMessage());
    }

    /** What its selector has not let go of can only be shut, not closed. */
    @Test
    void shouldEndThePeersInputWhenClosedWithUnreadDataWhileRegistered() throws IOException {
        Pair p = nonBlockingPair();
        Selector selector = selector();
        p.server().register(selector, SelectionKey.OP_READ);
        p.client().configureBlocking(true);
        p.client().write(text("unread"));
        assertEquals(1, selector.select());
        p.server().write(text("last"));
        p.server().close();
        assertEquals("last", read(p.client(), 4));
        assertEquals(-1, p.client().read(bytes(1)));
    }

    @Test
    void shouldResetWhenClosedAfterItsInputWasShutOnUnreadData() throws IOException {
        Pair p = pair();
        p.client().write(text("unread"));
        assertEquals("u", read(p.server(), 1)); // so the rest has arrived
        p.server().shutdownInput();
        p.server().close();
        IOException e = assertThrows(IOException.class, () -> p.client().read(bytes(1)));
        assertEquals("Connection reset", e.getMessage());
    }

    @Test
    void shouldDeliverEverythingBeforeALingeringClose() throws Exception {
        Pair p = pair();
        p.client().setOption(StandardSocketOptions.SO_LINGER, 10);
        Future<Long> reader = background(() -> {
            long n = 0;
            ByteBuffer b = ByteBuffer.allocate(10_000);
            for (int r = p.server().read(b); r >= 0; r = p.server().read(b.clear())) {
                n += r;
            }
            return n;
        });
        p.client().write(bytes(1_000_000));
        p.client().close();
        assertEquals(1_000_000L, get(reader));
    }

    @Tag("many")
    @Test
    void shouldDeliverEverythingBeforeAClose() throws Exception {
        for (int i = 0; i < 30; i++) {
            Pair p = pair();
            int size = 1 + i * 10_000;
            Future<?> writer = background(() -> {
                p.client().write(bytes(size));
                p.client().close();
            });
            ByteBuffer b = ByteBuffer.allocate(size + 1);
            while (p.server().read(b) >= 0) {
                assertTrue(b.hasRemaining());
            }
            assertEquals(size, b.position());
            get(writer);
        }
    }
}
