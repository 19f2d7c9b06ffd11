/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.nio;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertThrowsExactly;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.ConnectException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketAddress;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.net.UnknownHostException;
import java.nio.channels.AlreadyConnectedException;
import java.nio.channels.AsynchronousCloseException;
import java.nio.channels.ClosedByInterruptException;
import java.nio.channels.IllegalBlockingModeException;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** {@code socket()} of socket channels: a Socket that goes through the channel. */
abstract class AdaptorSuite extends NioSuite {

    @Test
    void shouldGiveTheSameSocketAlways() throws IOException {
        SocketChannel client = open();
        assertSame(client.socket(), client.socket());
        assertSame(client, client.socket().getChannel());
        ServerSocketChannel listener = openServer();
        assertSame(listener.socket(), listener.socket());
        assertSame(listener, listener.socket().getChannel());
    }

    @Test
    void shouldCarryBytesThroughStreams() throws Exception {
        Pair p = pair();
        OutputStream out = p.client().socket().getOutputStream();
        InputStream in = p.server().socket().getInputStream();
        Future<?> writer = background(() -> {
            out.write(7);
            out.write(bytes(500_000).array());
            out.flush();
            out.close();
        });
        assertEquals(7, in.read());
        assertArrayEquals(bytes(500_000).array(), in.readAllBytes());
        assertEquals(-1, in.read());
        get(writer);
        assertFalse(p.client().isOpen());
    }

    @Test
    void shouldReadAndWriteAtTheSameTimeThroughStreams() throws Exception {
        Pair p = pair();
        InputStream in = p.client().socket().getInputStream();
        Future<Integer> reader = blocked(() -> in.read());
        p.client().socket().getOutputStream().write(1);
        assertEquals(1, p.server().socket().getInputStream().read());
        p.server().socket().getOutputStream().write(2);
        assertEquals(2, get(reader));
    }

    @Test
    void shouldSayWhatIsAvailable() throws IOException {
        Pair p = pair();
        InputStream in = p.client().socket().getInputStream();
        assertEquals(0, in.available());
        p.server().write(text("four"));
        while (in.available() < 4) {
            pause(1);
        }
        assertEquals(4, in.available());
    }

    @Test
    void shouldReadNothingOfLengthZero() throws IOException {
        Pair p = pair();
        assertEquals(0, p.client().socket().getInputStream().read(new byte[0]));
        assertThrows(
                IndexOutOfBoundsException.class,
                () -> p.client().socket().getInputStream().read(new byte[1], 0, 2));
    }

    @Test
    void shouldTimeOutAReadAndGoOn() throws IOException {
        Pair p = pair();
        Socket socket = p.client().socket();
        socket.setSoTimeout(80);
        assertEquals(80, socket.getSoTimeout());
        InputStream in = socket.getInputStream();
        long start = System.nanoTime();
        SocketTimeoutException e = assertThrows(SocketTimeoutException.class, in::read);
        assertTrue(System.nanoTime() - start >= TimeUnit.MILLISECONDS.toNanos(79));
        assertTrue(e.getMessage().startsWith("Read timed out"), e.getMessage());
        p.server().write(text("k"));
        assertEquals('k', in.read());
        socket.setSoTimeout(0);
        assertThrows(IllegalArgumentException.class, () -> socket.setSoTimeout(-1));
    }

    @Test
    void shouldRefuseStreamsBeforeItIsConnected() throws IOException {
        Socket socket = open().socket();
        assertEquals(
                "Socket is not connected",
                assertThrows(SocketException.class, socket::getInputStream).getMessage());
        assertEquals(
                "Socket is not connected",
                assertThrows(SocketException.class, socket::getOutputStream).getMessage());
    }

    @Test
    void shouldRefuseStreamsOfHalvesThatAreShut() throws IOException {
        Socket socket = pair().client().socket();
        socket.shutdownInput();
        socket.shutdownOutput();
        assertTrue(socket.isInputShutdown());
        assertTrue(socket.isOutputShutdown());
        assertEquals(
                "Socket input is shutdown",
                assertThrows(SocketException.class, socket::getInputStream).getMessage());
        assertEquals(
                "Socket output is shutdown",
                assertThrows(SocketException.class, socket::getOutputStream).getMessage());
    }

    @Test
    void shouldRefuseStreamsWhenNotBlocking() throws IOException {
        Pair p = pair();
        InputStream in = p.client().socket().getInputStream();
        OutputStream out = p.client().socket().getOutputStream();
        p.client().configureBlocking(false);
        assertThrows(IllegalBlockingModeException.class, in::read);
        assertThrows(IllegalBlockingModeException.class, () -> out.write(1));
    }

    @Test
    void shouldCloseByInterruptThroughStreamsToo() throws Exception {
        Pair p = pair();
        InputStream in = p.client().socket().getInputStream();
        Failing f = new Failing(in::read);
        f.thread.interrupt();
        assertInstanceOf(ClosedByInterruptException.class, f.join());
        assertFalse(p.client().isOpen());
        assertTrue(p.client().socket().isClosed());
    }

    @Test
    void shouldCloseByInterruptDuringATimedRead() throws Exception {
        Pair p = pair();
        p.client().socket().setSoTimeout(20_000);
        InputStream in = p.client().socket().getInputStream();
        Failing f = new Failing(in::read);
        f.thread.interrupt();
        assertInstanceOf(ClosedByInterruptException.class, f.join());
        assertFalse(p.client().isOpen());
    }

    @Test
    void shouldFailAStreamReaderWhenClosedByAnother() throws Exception {
        Pair p = pair();
        InputStream in = p.client().socket().getInputStream();
        Failing f = new Failing(in::read);
        p.client().socket().close();
        assertInstanceOf(AsynchronousCloseException.class, f.join());
    }

    @Test
    void shouldFailAStreamWriterWhenClosedByAnother() throws Exception {
        Pair p = pair();
        OutputStream out = p.client().socket().getOutputStream();
        Failing f = new Failing(() -> out.write(new byte[32 << 20]));
        p.client().socket().close();
        assertInstanceOf(AsynchronousCloseException.class, f.join());
    }

    @Test
    void shouldKnowItsState() throws IOException {
        SocketChannel channel = open();
        Socket socket = channel.socket();
        assertFalse(socket.isBound());
        assertFalse(socket.isConnected());
        assertFalse(socket.isClosed());
        assertFalse(socket.isInputShutdown());
        assertFalse(socket.isOutputShutdown());
        assertNull(socket.getInetAddress());
        assertEquals(0, socket.getPort());
        assertEquals(-1, socket.getLocalPort());
        assertNull(socket.getRemoteSocketAddress());
        assertNull(socket.getLocalSocketAddress());
        assertTrue(socket.getLocalAddress().isAnyLocalAddress());
        assertEquals("Socket[unconnected]", socket.toString());
    }

    @Test
    void shouldKnowItsAddressesOnceConnected() throws IOException {
        Pair p = pair();
        for (SocketChannel channel : new SocketChannel[] {p.client(), p.server()}) {
            Socket socket = channel.socket();
            InetSocketAddress remote = (InetSocketAddress) channel.getRemoteAddress();
            InetSocketAddress local = (InetSocketAddress) channel.getLocalAddress();
            assertTrue(socket.isBound());
            assertTrue(socket.isConnected());
            assertEquals(remote.getAddress(), socket.getInetAddress());
            assertEquals(remote.getPort(), socket.getPort());
            assertEquals(local.getAddress(), socket.getLocalAddress());
            assertEquals(local.getPort(), socket.getLocalPort());
            assertEquals(remote, socket.getRemoteSocketAddress());
            assertEquals(local, socket.getLocalSocketAddress());
            assertTrue(socket.toString().startsWith("Socket[addr="), socket.toString());
        }
    }

    @Test
    void shouldStillKnowItsPeerWhenClosed() throws IOException {
        Pair p = pair();
        Socket socket = p.client().socket();
        int port = socket.getPort();
        socket.close();
        assertTrue(socket.isClosed());
        assertTrue(socket.isBound());
        assertEquals(port, socket.getPort());
        assertNotNull(socket.getInetAddress());
        assertEquals(
                "Socket is closed",
                assertThrows(SocketException.class, socket::getInputStream).getMessage());
        assertEquals(
                "Socket is closed",
                assertThrows(SocketException.class, () -> socket.setSoTimeout(1))
                        .getMessage());
        assertEquals(
                "Socket is closed",
                assertThrows(SocketException.class, socket::getTcpNoDelay).getMessage());
        assertThrows(IOException.class, socket::shutdownInput);
        assertTrue(socket.getLocalAddress().isAnyLocalAddress());
    }

    private static void assertPeer(InetSocketAddress expected, Socket socket) {
        assertEquals(expected.getAddress(), socket.getInetAddress());
        assertEquals(expected.getPort(), socket.getPort());
        assertEquals(expected, socket.getRemoteSocketAddress());
        assertFalse(socket.isConnected());
    }

    @Test
    void shouldKnowItsPeerWhileItConnectsAndAfterwards() throws IOException {
        InetSocketAddress nobody = SilentPort.address();
        kind().silence(nobody);
        SocketChannel client = nonBlocking(open());
        assertFalse(client.connect(nobody));
        assertPeer(nobody, client.socket());
        assertEquals(nobody, client.getRemoteAddress());
        client.close();
        assertPeer(nobody, client.socket());
    }

    @Test
    void shouldStillKnowAPeerThatRefused() throws IOException {
        InetSocketAddress dead = deadPort();
        SocketChannel client = open();
        assertThrows(ConnectException.class, () -> client.connect(dead));
        assertPeer(dead, client.socket());
    }

    @Test
    void shouldConnectThroughTheSocket() throws IOException {
        ServerSocketChannel listener = listening();
        SocketChannel client = open();
        client.socket().connect(listener.getLocalAddress());
        assertTrue(client.isConnected());
        client.write(text("s"));
        assertEquals("s", read(closing(listener.accept()), 1));
        kind().check(client);
    }

    @Test
    void shouldConnectWithATimeLimit() throws IOException {
        ServerSocketChannel listener = listening();
        SocketChannel client = open();
        client.socket().connect(listener.getLocalAddress(), 20_000);
        assertTrue(client.socket().isConnected());
        client.write(text("s"));
        assertEquals("s", read(closing(listener.accept()), 1));
    }

    @Test
    void shouldFailToConnectThroughTheSocket() throws IOException {
        SocketChannel client = open();
        InetSocketAddress dead = deadPort();
        assertThrows(ConnectException.class, () -> client.socket().connect(dead, 5000));
        assertFalse(client.isOpen());
    }

    @Test
    void shouldReportARefusalInTheWordsOfTheJdksAdaptor() throws Exception {
        SocketAddress dead = deadPort();
        for (int millis : new int[] {0, 5000}) {
            String message = refusal(NioKind.plainProvider().openSocketChannel(), dead, millis);
            assertTrue(message.startsWith("Connection refused"), message);
            assertEquals(message, refusal(open(), dead, millis));
        }
    }

    private static String refusal(SocketChannel client, SocketAddress dead, int millis) {
        return assertThrows(ConnectException.class, () -> client.socket().connect(dead, millis))
                .getMessage();
    }

    @Test
    void shouldCheckWhatItIsToConnectTo() throws IOException {
        Socket socket = open().socket();
        assertThrows(IllegalArgumentException.class, () -> socket.connect(null));
        assertThrows(IllegalArgumentException.class, () -> socket.connect(anyPort(), -1));
        assertThrows(
                UnknownHostException.class,
                () -> socket.connect(InetSocketAddress.createUnresolved("nowhere.invalid", 1)));
        SocketException e =
                assertThrows(SocketException.class, () -> open().socket().connect(new SocketAddress() {}));
        assertEquals("Unsupported address type", e.getMessage());
    }

    @Test
    void shouldNotConnectThroughTheSocketWhenNotBlocking() throws IOException {
        ServerSocketChannel listener = listening();
        SocketChannel client = nonBlocking(open());
        assertThrows(IllegalBlockingModeException.class, () -> client.socket().connect(listener.getLocalAddress()));
    }

    @Test
    void shouldLookAtItsModeBeforeItsStateWhenItConnectsThroughTheSocket() throws IOException {
        ServerSocketChannel listener = listening();
        InetSocketAddress address = (InetSocketAddress) listener.getLocalAddress();
        Pair p = nonBlockingPair();
        Pair closed = nonBlockingPair();
        closed.client().close();
        closed.server().close();
        SocketChannel pending = nonBlocking(open());
        pending.connect(address);
        for (SocketChannel channel :
                new SocketChannel[] {p.client(), p.server(), pending, closed.client(), closed.server()}) {
            for (int millis : new int[] {0, 1000}) {
                assertThrowsExactly(
                        IllegalBlockingModeException.class,
                        () -> channel.socket().connect(address, millis),
                        channel::toString);
            }
        }
    }

    @Test
    void shouldBindThroughTheSocket() throws IOException {
        SocketChannel client = open();
        client.socket().bind(anyPort());
        assertTrue(client.socket().isBound());
        assertEquals(client.socket().getLocalSocketAddress(), client.getLocalAddress());
        assertEquals(
                "Already bound",
                assertThrows(SocketException.class, () -> client.socket().bind(anyPort()))
                        .getMessage());
        InetSocketAddress nowhere = InetSocketAddress.createUnresolved("nowhere.invalid", 1);
        SocketException e =
                assertThrows(SocketException.class, () -> open().socket().bind(nowhere));
        assertEquals("Unresolved address", e.getMessage());
    }

    @Test
    void shouldNotConnectAgainThroughTheSocket() throws IOException {
        Pair p = pair();
        for (int millis : new int[] {0, 1000}) {
            Exception e = assertThrows(
                    Exception.class,
                    () -> p.client().socket().connect(p.server().getLocalAddress(), millis));
            if (Runtime.version().feature() < 24) {
                assertSame(AlreadyConnectedException.class, e.getClass());
            } else {
                assertSame(SocketException.class, e.getClass());
                assertEquals("Already connected", e.getMessage());
            }
        }
        assertEquals(1, p.client().write(bytes(1)));
    }

    @Test
    void shouldKeepOptionsOfTheSocket() throws IOException {
        Pair p = pair();
        for (Socket socket :
                new Socket[] {open().socket(), p.client().socket(), p.server().socket()}) {
            socket.setTcpNoDelay(true);
            assertTrue(socket.getTcpNoDelay());
            socket.setKeepAlive(true);
            assertTrue(socket.getKeepAlive());
            socket.setReuseAddress(true);
            assertTrue(socket.getReuseAddress());
            socket.setOOBInline(true);
            assertTrue(socket.getOOBInline());
            socket.setSoLinger(true, 4);
            assertEquals(4, socket.getSoLinger());
            socket.setSoLinger(false, 4);
            assertEquals(-1, socket.getSoLinger());
            socket.setTrafficClass(8);
            assertEquals(8, socket.getTrafficClass());
            boolean settled = kind().isRdma() && socket.isConnected(); // when it connected
            int sendBuffer = socket.getSendBufferSize();
            int receiveBuffer = socket.getReceiveBufferSize();
            socket.setSendBufferSize(40_000);
            socket.setReceiveBufferSize(40_000);
            assertEquals(settled ? sendBuffer : 40_000, socket.getSendBufferSize());
            assertEquals(settled ? receiveBuffer : 40_000, socket.getReceiveBufferSize());
            assertThrows(IllegalArgumentException.class, () -> socket.setSendBufferSize(0));
            assertThrows(IllegalArgumentException.class, () -> socket.setReceiveBufferSize(0));
            socket.setPerformancePreferences(1, 2, 3);
            assertEquals(socket.getChannel().supportedOptions(), socket.supportedOptions());
        }
    }

    /** Programs ask so whether a connection is alive. The first is taken, as of a write. */
    @Test
    void shouldNoticeByUrgentDataThatThePeerIsGone() throws IOException {
        Pair p = pair();
        p.server().close();
        assertEquals(-1, p.client().read(bytes(1))); // so the end has arrived
        p.client().socket().sendUrgentData(1);
        IOException e = assertThrows(IOException.class, () -> {
            for (int i = 0; i < 1000; i++) {
                p.client().socket().sendUrgentData(1);
                pause(2);
            }
        });
        assertEquals("java.io.IOException: Broken pipe", e.toString());
    }

    @Test
    void shouldTakeUrgentDataWithoutHarm() throws IOException {
        Pair p = pair();
        p.client().socket().sendUrgentData(1);
        p.client().write(text("after"));
        assertEquals("after", read(p.server(), 5));
    }
}
