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
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.SocketException;
import java.net.SocketOptions;
import java.net.StandardSocketOptions;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** A TCP socket that is created when something needs it. */
class PlatformSocketTest {

    private final PlatformSocket socket = PlatformSocket.client();

    PlatformSocketTest() {
        socket.createLater();
    }

    @AfterEach
    void close() throws IOException {
        socket.close();
    }

    @Test
    void shouldKeepCommonOptionsByItself() throws Exception {
        assertEquals(false, socket.getOption(SocketOptions.TCP_NODELAY));
        assertEquals(0, socket.getOption(SocketOptions.SO_TIMEOUT));
        assertEquals(false, socket.getOption(SocketOptions.SO_LINGER));
        assertEquals(0, socket.getOption(SocketOptions.IP_TOS));
        socket.setOption(SocketOptions.TCP_NODELAY, true);
        socket.setOption(SocketOptions.SO_REUSEADDR, true);
        socket.setOption(SocketOptions.SO_TIMEOUT, 1234);
        socket.setOption(SocketOptions.SO_LINGER, 5);
        assertEquals(true, socket.getOption(SocketOptions.TCP_NODELAY));
        assertEquals(1234, socket.getOption(SocketOptions.SO_TIMEOUT));
        assertTrue(socket.isDeferred());
    }

    @Test
    void shouldHaveTheOptionsOnceItIsCreated() throws Exception {
        socket.setOption(SocketOptions.TCP_NODELAY, true);
        socket.setOption(SocketOptions.SO_LINGER, 5);
        socket.setOption(SocketOptions.SO_LINGER, 7);
        assertEquals(true, socket.getOption(StandardSocketOptions.TCP_NODELAY)); // the kernel's answer
        assertFalse(socket.isDeferred());
        assertEquals(7, socket.getOption(SocketOptions.SO_LINGER));
        assertEquals(false, socket.getOption(SocketOptions.SO_KEEPALIVE));
    }

    @Test
    void shouldBeCreatedForWhatOnlyTheKernelCanCheck() throws Exception {
        socket.setOption(SocketOptions.IP_TOS, 8);
        assertFalse(socket.isDeferred());
        assertEquals(8, socket.getOption(SocketOptions.IP_TOS));
    }

    @Test
    void shouldRefuseWhatIsNoValueOfTheOption() {
        assertThrows(SocketException.class, () -> socket.setOption(SocketOptions.TCP_NODELAY, "yes"));
    }

    @Test
    void shouldConnectWithTheOptionsItWasGiven() throws Exception {
        try (ServerSocket server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            socket.setOption(SocketOptions.SO_TIMEOUT, 50);
            socket.setOption(SocketOptions.TCP_NODELAY, true);
            socket.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), server.getLocalPort()), 10_000);
            assertEquals(true, socket.getOption(SocketOptions.TCP_NODELAY));
            assertThrows(java.net.SocketTimeoutException.class, () -> socket.getInputStream()
                    .read());
        }
    }

    @Test
    void shouldAnswerForItselfAsTheKernelDoes() throws Exception {
        PlatformSocket real = PlatformSocket.client();
        real.create(true);
        try {
            for (int option : new int[] {
                SocketOptions.TCP_NODELAY,
                SocketOptions.SO_KEEPALIVE,
                SocketOptions.SO_REUSEADDR,
                SocketOptions.SO_TIMEOUT,
                SocketOptions.SO_LINGER,
                SocketOptions.IP_TOS
            }) {
                assertEquals(real.getOption(option), socket.getOption(option), "option " + option);
            }
        } finally {
            real.close();
        }
        assertTrue(socket.isDeferred());
    }

    @Test
    void shouldStayClosed() throws Exception {
        socket.setOption(SocketOptions.TCP_NODELAY, true);
        socket.close();
        assertFalse(socket.isDeferred());
        assertEquals(
                "Socket closed",
                assertThrows(SocketException.class, () -> socket.setOption(SocketOptions.TCP_NODELAY, false))
                        .getMessage());
        assertEquals(
                "Socket closed",
                assertThrows(SocketException.class, () -> socket.getOption(SocketOptions.TCP_NODELAY))
                        .getMessage());
        assertThrows(IOException.class, () -> socket.bind(InetAddress.getLoopbackAddress(), 0));
    }
}
