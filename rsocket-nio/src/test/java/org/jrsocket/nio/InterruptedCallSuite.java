/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.nio;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.channels.ClosedByInterruptException;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import org.junit.jupiter.api.Test;

/** Blocking calls of a thread that is interrupted already: the JDK closes the channel before it does anything else. */
abstract class InterruptedCallSuite extends NioSuite {

    private void assertClosed(SocketChannel channel, Action call) throws Exception {
        Failing failing = new Failing(() -> {
            Thread.currentThread().interrupt();
            call.run();
        });
        assertInstanceOf(ClosedByInterruptException.class, failing.join());
        assertTrue(failing.interrupted);
        assertFalse(channel.isOpen());
    }

    @Test
    void shouldBeClosedRatherThanRefusedWhenConnectingTwice() throws Exception {
        ServerSocketChannel listener = listening();
        Pair p = pair(listener);
        assertClosed(p.client(), () -> p.client().connect(listener.getLocalAddress()));
    }

    @Test
    void shouldBeClosedRatherThanRefusedWhenWritingAfterItsOutputWasShut() throws Exception {
        Pair p = pair();
        p.client().shutdownOutput();
        assertClosed(p.client(), () -> p.client().write(bytes(1)));
    }

    @Test
    void shouldBeClosedRatherThanReadTheEnd() throws Exception {
        Pair p = pair();
        p.client().shutdownInput();
        assertClosed(p.client(), () -> p.client().read(bytes(1)));
    }

    @Test
    void shouldLeaveNoConnectionToAcceptWhenConnecting() throws Exception {
        ServerSocketChannel listener = listening();
        SocketChannel client = open();
        assertClosed(client, () -> client.connect(listener.getLocalAddress()));
        Pair next = pair(listener);
        assertEquals(next.client().getLocalAddress(), next.server().getRemoteAddress());
    }

    @Test
    void shouldWriteNothing() throws Exception {
        Pair p = pair();
        assertClosed(p.client(), () -> p.client().write(bytes(1)));
        assertEquals(-1, p.server().read(bytes(1)));
    }
}
