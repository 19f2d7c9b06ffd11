/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.nio;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertThrowsExactly;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.nio.channels.AsynchronousCloseException;
import java.nio.channels.ClosedByInterruptException;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.IllegalBlockingModeException;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** {@code socket()} of server channels: a ServerSocket that goes through the channel. */
abstract class ServerAdaptorSuite extends NioSuite {

    @Test
    void shouldKnowTheStateOfAServerSocket() throws IOException {
        ServerSocketChannel listener = openServer();
        ServerSocket socket = listener.socket();
        assertFalse(socket.isBound());
        assertEquals(-1, socket.getLocalPort());
        assertNull(socket.getInetAddress());
        assertNull(socket.getLocalSocketAddress());
        assertEquals("ServerSocket[unbound]", socket.toString());
        socket.bind(anyPort(), 5);
        assertTrue(socket.isBound());
        assertEquals(listener.getLocalAddress(), socket.getLocalSocketAddress());
        assertTrue(socket.toString().contains("localport=" + socket.getLocalPort()), socket.toString());
        int port = socket.getLocalPort();
        socket.close();
        assertTrue(socket.isClosed());
        assertFalse(listener.isOpen());
        assertTrue(socket.isBound());
        assertEquals(port, socket.getLocalPort());
    }

    @Test
    void shouldAcceptThroughAServerSocket() throws Exception {
        ServerSocketChannel listener = listening();
        Future<Socket> accepting = background(() -> listener.socket().accept());
        SocketChannel client = open();
        client.connect(listener.getLocalAddress());
        Socket accepted = closing(get(accepting));
        assertInstanceOf(SocketChannel.class, accepted.getChannel());
        assertSame(kind().provider(), accepted.getChannel().provider());
        client.write(text("z"));
        assertEquals('z', accepted.getInputStream().read());
    }

    @Test
    void shouldTimeOutAnAcceptAndGoOn() throws IOException {
        ServerSocketChannel listener = listening();
        ServerSocket socket = listener.socket();
        socket.setSoTimeout(80);
        assertEquals(80, socket.getSoTimeout());
        long start = System.nanoTime();
        assertEquals(
                "Accept timed out",
                assertThrows(SocketTimeoutException.class, socket::accept).getMessage());
        assertTrue(System.nanoTime() - start >= TimeUnit.MILLISECONDS.toNanos(79));
        SocketChannel client = open();
        client.connect(listener.getLocalAddress());
        closing(socket.accept());
        assertThrows(IllegalArgumentException.class, () -> socket.setSoTimeout(-1));
    }

    @Test
    void shouldAcceptThroughAServerSocketThatDoesNotBlock() throws IOException {
        ServerSocketChannel listener = nonBlocking(listening());
        assertThrows(IllegalBlockingModeException.class, () -> listener.socket().accept());
        SocketChannel client = open();
        client.connect(listener.getLocalAddress());
        Socket accepted = null;
        while (accepted == null) {
            try {
                accepted = closing(listener.socket().accept());
            } catch (IllegalBlockingModeException e) {
                pause(1);
            }
        }
        assertTrue(accepted.isConnected());
    }

    @Test
    void shouldTranslateWhatGoesWrongWithAServerSocket() throws IOException {
        ServerSocket unbound = openServer().socket();
        assertEquals(
                "Socket is not bound yet",
                assertThrows(SocketException.class, unbound::accept).getMessage());
        ServerSocket socket = listening().socket();
        assertEquals(
                "Already bound",
                assertThrows(SocketException.class, () -> socket.bind(anyPort()))
                        .getMessage());
        assertEquals(
                "Unresolved address",
                assertThrows(
                                SocketException.class,
                                () -> unbound.bind(InetSocketAddress.createUnresolved("nowhere.invalid", 1)))
                        .getMessage());
        socket.close();
        assertThrows(IOException.class, socket::accept);
        assertEquals(
                "Socket is closed",
                assertThrows(SocketException.class, socket::getReuseAddress).getMessage());
        assertEquals(
                "Socket is closed",
                assertThrows(SocketException.class, () -> socket.setSoTimeout(5))
                        .getMessage());
    }

    private static void assertAcceptFails(Class<? extends Exception> expected, ServerSocket socket, int millis)
            throws IOException {
        assertThrowsExactly(expected, socket::accept, () -> socket.getChannel() + ", " + millis + " ms");
    }

    @Test
    void shouldFailAnAcceptAsItsModeAndStateSay() throws IOException {
        boolean looksFirst = Runtime.version().feature() >= 24;
        for (int millis : new int[] {0, 1000}) {
            ServerSocketChannel unbound = openServer();
            unbound.socket().setSoTimeout(millis);
            assertAcceptFails(SocketException.class, unbound.socket(), millis);
            nonBlocking(unbound);
            assertAcceptFails(
                    millis == 0 ? SocketException.class : IllegalBlockingModeException.class, unbound.socket(), millis);
            ServerSocketChannel silent = nonBlocking(listening());
            silent.socket().setSoTimeout(millis);
            silent.close();
            assertAcceptFails(
                    millis == 0 ? ClosedChannelException.class : IllegalBlockingModeException.class,
                    silent.socket(),
                    millis);
            for (ServerSocketChannel closed : new ServerSocketChannel[] {openServer(), listening()}) {
                closed.socket().setSoTimeout(millis);
                closed.close();
                assertAcceptFails(
                        millis == 0 && looksFirst ? ClosedChannelException.class : AsynchronousCloseException.class,
                        closed.socket(),
                        millis);
            }
        }
    }

    @Test
    void shouldKeepOptionsOfAServerSocket() throws IOException {
        ServerSocket socket = openServer().socket();
        assertTrue(socket.getReuseAddress());
        socket.setReuseAddress(false);
        assertFalse(socket.getReuseAddress());
        socket.setReceiveBufferSize(50_000);
        assertTrue(socket.getReceiveBufferSize() > 0);
        assertThrows(IllegalArgumentException.class, () -> socket.setReceiveBufferSize(0));
        socket.setPerformancePreferences(1, 1, 1);
        assertEquals(socket.getChannel().supportedOptions(), socket.supportedOptions());
    }

    @Test
    void shouldCloseAnAcceptingServerSocketByInterrupt() throws Exception {
        ServerSocketChannel listener = listening();
        listener.socket().setSoTimeout(20_000);
        Failing f = new Failing(() -> listener.socket().accept());
        f.thread.interrupt();
        assertInstanceOf(ClosedByInterruptException.class, f.join());
        assertFalse(listener.isOpen());
    }
}
