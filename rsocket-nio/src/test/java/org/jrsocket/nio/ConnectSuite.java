/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.nio;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertThrowsExactly;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.net.BindException;
import java.net.ConnectException;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.net.SocketException;
import java.net.StandardProtocolFamily;
import java.net.StandardSocketOptions;
import java.nio.channels.AlreadyBoundException;
import java.nio.channels.AlreadyConnectedException;
import java.nio.channels.AsynchronousCloseException;
import java.nio.channels.ClosedByInterruptException;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.ConnectionPendingException;
import java.nio.channels.NoConnectionPendingException;
import java.nio.channels.NotYetConnectedException;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.channels.UnresolvedAddressException;
import java.nio.channels.UnsupportedAddressTypeException;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Binding, connecting, and what comes before. */
abstract class ConnectSuite extends NioSuite {

    @Test
    void shouldConnectBlockingAndBeConnected() throws IOException {
        ServerSocketChannel listener = listening();
        SocketChannel client = open();
        assertFalse(client.isConnected());
        assertTrue(client.connect(listener.getLocalAddress()));
        assertTrue(client.isConnected());
        assertFalse(client.isConnectionPending());
    }

    @Test
    void shouldConnectBeforeAnybodyAccepts() throws IOException {
        ServerSocketChannel listener = listening();
        SocketChannel client = open();
        client.connect(listener.getLocalAddress());
        client.write(text("hello"));
        SocketChannel server = closing(listener.accept());
        assertEquals("hello", read(server, 5));
    }

    @Test
    void shouldKnowBothAddressesOnceConnected() throws IOException {
        ServerSocketChannel listener = listening();
        Pair p = pair(listener);
        assertEquals(listener.getLocalAddress(), p.client().getRemoteAddress());
        assertEquals(p.client().getLocalAddress(), p.server().getRemoteAddress());
        assertEquals(p.client().getRemoteAddress(), p.server().getLocalAddress());
    }

    @Test
    void shouldFailAtOnceFromAnAddressOfTheOtherFamily() throws IOException {
        InetSocketAddress other = new InetSocketAddress("::1", 0);
        SocketAddress listener =
                openServer().bind(new InetSocketAddress("127.0.0.1", 0)).getLocalAddress();
        SocketChannel client = open();
        client.configureBlocking(false);
        try {
            client.bind(other);
        } catch (IOException | UnsupportedAddressTypeException e) {
            assumeTrue(false, "no IPv6: " + e);
        }
        SocketException e = assertThrows(SocketException.class, () -> client.connect(listener));
        assertEquals("Network is unreachable", e.getMessage());
        assertFalse(client.isOpen());
    }

    @Test
    void shouldHaveNoAddressesBeforeAnythingHappens() throws IOException {
        SocketChannel client = open();
        assertNull(client.getLocalAddress());
        assertNull(client.getRemoteAddress());
    }

    @Test
    void shouldBeOpenBlockingAndUnregisteredWhenNew() throws IOException {
        SocketChannel client = open();
        assertTrue(client.isOpen());
        assertTrue(client.isBlocking());
        assertFalse(client.isRegistered());
        assertFalse(client.isConnectionPending());
        assertEquals(SelectionKey.OP_CONNECT | SelectionKey.OP_READ | SelectionKey.OP_WRITE, client.validOps());
        assertSame(kind().provider(), client.provider());
    }

    @Test
    void shouldRefuseConnectingTwice() throws IOException {
        ServerSocketChannel listener = listening();
        Pair p = pair(listener);
        assertThrows(AlreadyConnectedException.class, () -> p.client().connect(listener.getLocalAddress()));
        assertTrue(p.client().isOpen());
    }

    @Test
    void shouldRefuseConnectingAnAcceptedChannel() throws IOException {
        ServerSocketChannel listener = listening();
        Pair p = pair(listener);
        assertThrows(AlreadyConnectedException.class, () -> p.server().connect(listener.getLocalAddress()));
    }

    @Test
    void shouldThrowConnectExceptionAndCloseWhenRefused() throws IOException {
        SocketChannel client = open();
        SocketAddress dead = deadPort();
        ConnectException e = assertThrows(ConnectException.class, () -> client.connect(dead));
        assertEquals("Connection refused", e.getMessage());
        assertFalse(client.isOpen());
    }

    @Test
    void shouldRefuseUnresolvedAddresses() throws IOException {
        SocketChannel client = open();
        assertThrows(
                UnresolvedAddressException.class,
                () -> client.connect(InetSocketAddress.createUnresolved("nowhere.invalid", 1)));
        assertTrue(client.isOpen());
    }

    @Test
    void shouldRefuseUnknownAddressTypes() throws IOException {
        SocketChannel client = open();
        assertThrows(UnsupportedAddressTypeException.class, () -> client.connect(new SocketAddress() {}));
        assertTrue(client.isOpen());
    }

    @Test
    void shouldRefuseANullAddress() throws IOException {
        SocketChannel client = open();
        assertThrows(NullPointerException.class, () -> client.connect(null));
    }

    /** One for each state in which it refuses to connect. */
    private SocketChannel[] unableToConnect() throws IOException {
        ServerSocketChannel listener = listening();
        Pair p = pair(listener);
        Pair closed = pair(listener);
        closed.client().close();
        closed.server().close();
        SocketChannel pending = nonBlocking(open());
        pending.connect(listener.getLocalAddress());
        return new SocketChannel[] {p.client(), p.server(), pending, closed.client(), closed.server()};
    }

    @Test
    void shouldCheckTheAddressBeforeItsOwnState() throws IOException {
        for (SocketChannel channel : unableToConnect()) {
            boolean open = channel.isOpen();
            assertThrowsExactly(NullPointerException.class, () -> channel.connect(null));
            assertThrowsExactly(UnsupportedAddressTypeException.class, () -> channel.connect(new SocketAddress() {}));
            assertThrowsExactly(
                    UnresolvedAddressException.class,
                    () -> channel.connect(InetSocketAddress.createUnresolved("nowhere.invalid", 1)));
            assertEquals(open, channel.isOpen());
        }
    }

    @Test
    void shouldCheckTheAddressBeforeItsOwnStateThroughTheSocketToo() throws IOException {
        for (SocketChannel channel : unableToConnect()) {
            for (int millis : new int[] {0, 1000}) {
                SocketException e = assertThrowsExactly(
                        SocketException.class,
                        () -> channel.socket().connect(new SocketAddress() {}, millis),
                        channel::toString);
                assertEquals("Unsupported address type", e.getMessage());
            }
        }
    }

    @Test
    void shouldRefuseConnectingWhenClosed() throws IOException {
        ServerSocketChannel listener = listening();
        SocketChannel client = open();
        client.close();
        assertThrows(ClosedChannelException.class, () -> client.connect(listener.getLocalAddress()));
    }

    @Test
    void shouldFailAConnectOfAClosedChannelAsTheJdkDoes() throws IOException {
        ServerSocketChannel listener = listening();
        SocketAddress address = listener.getLocalAddress();
        Pair p = pair(listener);
        Class<? extends Exception> ofTheChannel =
                Runtime.version().feature() >= 24 ? ClosedChannelException.class : AsynchronousCloseException.class;
        for (SocketChannel channel : new SocketChannel[] {open(), p.client(), p.server()}) {
            channel.close();
            assertThrowsExactly(ofTheChannel, () -> channel.connect(address));
            for (int millis : new int[] {0, 1000}) {
                assertThrowsExactly(
                        AsynchronousCloseException.class, () -> channel.socket().connect(address, millis));
            }
        }
    }

    @Test
    void shouldNotReadBeforeItIsConnected() throws IOException {
        SocketChannel client = open();
        assertThrows(NotYetConnectedException.class, () -> client.read(bytes(1)));
    }

    @Test
    void shouldNotWriteBeforeItIsConnected() throws IOException {
        SocketChannel client = open();
        assertThrows(NotYetConnectedException.class, () -> client.write(bytes(1)));
    }

    @Test
    void shouldNotShutDownBeforeItIsConnected() throws IOException {
        SocketChannel client = open();
        assertThrows(NotYetConnectedException.class, client::shutdownInput);
        assertThrows(NotYetConnectedException.class, client::shutdownOutput);
    }

    @Test
    void shouldRefuseToFinishWhatWasNotStarted() throws IOException {
        SocketChannel client = open();
        assertThrows(NoConnectionPendingException.class, client::finishConnect);
        assertTrue(client.isOpen());
    }

    @Test
    void shouldFinishAtOnceWhatIsFinished() throws IOException {
        Pair p = pair();
        assertTrue(p.client().finishConnect());
        assertTrue(p.server().finishConnect());
    }

    @Test
    void shouldRefuseToFinishWhenClosed() throws IOException {
        SocketChannel client = open();
        client.close();
        assertThrows(ClosedChannelException.class, client::finishConnect);
    }

    /** As OpenJDK's CloseDuringConnect. */
    @Test
    void shouldSayThatItIsClosedWhereverAnotherThreadClosesIt() throws Exception {
        InetSocketAddress dead = deadPort();
        CyclicBarrier bothAreThere = new CyclicBarrier(2);
        for (int i = 0; i < 2000; i++) {
            SocketChannel client = nonBlocking(kind().provider().openSocketChannel());
            int later = i;
            Future<?> closed = background(() -> {
                bothAreThere.await(30, TimeUnit.SECONDS);
                for (int turn = 0; turn < later; turn++) {
                    Thread.onSpinWait();
                }
                client.close();
            });
            bothAreThere.await(30, TimeUnit.SECONDS);
            assertThrows(IOException.class, () -> {
                client.connect(dead);
                while (!client.finishConnect()) {
                    Thread.onSpinWait();
                }
            });
            assertFalse(client.isConnected());
            get(closed);
        }
    }

    @Test
    void shouldConnectWithASelector() throws IOException {
        ServerSocketChannel listener = listening();
        Selector selector = selector();
        SocketChannel client = nonBlocking(open());
        assertFalse(client.connect(listener.getLocalAddress()));
        SelectionKey key = client.register(selector, SelectionKey.OP_CONNECT);
        await(selector, key, SelectionKey.OP_CONNECT);
        assertTrue(client.isConnectionPending());
        assertTrue(client.finishConnect());
        assertTrue(client.isConnected());
        assertFalse(client.isConnectionPending());
        kind().check(client);
    }

    @Test
    void shouldConnectWithASelectorItJoinedBefore() throws IOException {
        ServerSocketChannel listener = listening();
        Selector selector = selector();
        SocketChannel client = nonBlocking(open());
        SelectionKey key = client.register(selector, 0);
        selector.selectNow();
        assertFalse(client.connect(listener.getLocalAddress()));
        key.interestOps(SelectionKey.OP_CONNECT);
        await(selector, key, SelectionKey.OP_CONNECT);
        assertTrue(client.finishConnect());
        client.write(text("x"));
        SocketChannel server = closing(listener.accept());
        assertEquals("x", read(server, 1));
    }

    @Test
    void shouldPollForTheConnection() throws IOException {
        ServerSocketChannel listener = listening();
        SocketChannel client = nonBlocking(open());
        assertFalse(client.connect(listener.getLocalAddress()));
        while (!client.finishConnect()) {
            pause(1);
        }
        assertTrue(client.isConnected());
    }

    @Test
    void shouldFinishBlockingWhatBeganNonBlocking() throws IOException {
        ServerSocketChannel listener = listening();
        SocketChannel client = nonBlocking(open());
        boolean connected = client.connect(listener.getLocalAddress());
        client.configureBlocking(true);
        assertTrue(connected || client.finishConnect());
        client.write(text("y"));
        assertEquals("y", read(closing(listener.accept()), 1));
    }

    /** Nobody answers it. */
    private SocketChannel pending() throws IOException {
        InetSocketAddress nobody = SilentPort.address();
        kind().silence(nobody);
        SocketChannel client = nonBlocking(open());
        assertFalse(client.connect(nobody));
        assertTrue(client.isConnectionPending());
        return client;
    }

    @Test
    void shouldRefuseASecondConnectWhileOneIsPending() throws IOException {
        SocketAddress another = listening().getLocalAddress();
        SocketChannel client = pending();
        assertThrows(ConnectionPendingException.class, () -> client.connect(another));
        assertTrue(client.isOpen());
    }

    @Test
    void shouldRefuseToBindWhileAConnectionIsPending() throws IOException {
        SocketChannel client = pending();
        assertThrows(ConnectionPendingException.class, () -> client.bind(null));
    }

    @Test
    void shouldNotReadOrWriteWhileAConnectionIsPending() throws IOException {
        SocketChannel client = pending();
        assertThrows(NotYetConnectedException.class, () -> client.read(bytes(1)));
        assertThrows(NotYetConnectedException.class, () -> client.write(bytes(1)));
    }

    @Test
    void shouldReportARefusalThroughFinishConnect() throws IOException {
        Selector selector = selector();
        SocketChannel client = nonBlocking(open());
        SocketAddress dead = deadPort();
        ConnectException e = assertThrows(ConnectException.class, () -> {
            if (!client.connect(dead)) {
                SelectionKey key = client.register(selector, SelectionKey.OP_CONNECT);
                await(selector, key, SelectionKey.OP_CONNECT);
                client.finishConnect();
            }
        });
        assertEquals(refusalOfTheJdks(dead), e.getMessage());
        assertFalse(client.isOpen());
    }

    /** Returns what a channel of the JDK's says of the same refusal: later ones say more. */
    private static String refusalOfTheJdks(SocketAddress dead) {
        return assertThrows(ConnectException.class, () -> {
                    try (SocketChannel plain = NioKind.plainProvider().openSocketChannel();
                            Selector selector = NioKind.plainProvider().openSelector()) {
                        plain.configureBlocking(false);
                        if (!plain.connect(dead)) {
                            plain.register(selector, SelectionKey.OP_CONNECT);
                            selector.select();
                            plain.finishConnect();
                        }
                    }
                })
                .getMessage();
    }

    @Test
    void shouldReportARefusalThroughABlockingFinishConnect() throws IOException {
        SocketChannel client = nonBlocking(open());
        SocketAddress dead = deadPort();
        assertThrows(ConnectException.class, () -> {
            client.connect(dead);
            client.configureBlocking(true);
            client.finishConnect();
        });
        assertFalse(client.isOpen());
    }

    @Test
    void shouldCloseWhileAConnectionIsPending() throws IOException {
        ServerSocketChannel listener = listening();
        for (int i = 0; i < 20; i++) {
            SocketChannel client = nonBlocking(open());
            client.connect(listener.getLocalAddress());
            client.close();
            assertFalse(client.isConnectionPending());
            assertThrows(ClosedChannelException.class, client::finishConnect);
        }
    }

    @Test
    void shouldEndThePeersInputWhenClosedBeforeItIsFinished() throws IOException {
        ServerSocketChannel listener = listening();
        SocketChannel client = nonBlocking(open());
        client.connect(listener.getLocalAddress());
        SocketChannel server = closing(listener.accept());
        client.close();
        assertEquals(-1, server.read(bytes(1)));
    }

    @Test
    void shouldSayThatAnAcceptedChannelIsClosedWhateverWasSetBefore() throws IOException {
        Pair p = nonBlockingPair();
        p.server().setOption(StandardSocketOptions.TCP_NODELAY, true);
        SocketAddress remote = p.server().getRemoteAddress();
        p.server().close();
        assertEquals(
                ClosedChannelException.class,
                assertThrows(IOException.class, () -> p.server().connect(remote))
                        .getClass());
    }

    @Test
    void shouldBeClosedByAnInterruptThatCameBeforeConnecting() throws Exception {
        ServerSocketChannel listener = listening();
        SocketChannel client = open();
        Failing f = new Failing(() -> {
            Thread.currentThread().interrupt();
            client.connect(listener.getLocalAddress());
        });
        assertInstanceOf(ClosedByInterruptException.class, f.join());
        assertTrue(f.interrupted);
        assertFalse(client.isOpen());
    }

    @Test
    void shouldBindBeforeConnecting() throws IOException {
        ServerSocketChannel listener = listening();
        SocketChannel client = open();
        assertSame(client, client.bind(anyPort()));
        InetSocketAddress bound = (InetSocketAddress) client.getLocalAddress();
        assertTrue(bound.getPort() > 0);
        client.connect(listener.getLocalAddress());
        assertEquals(bound, client.getLocalAddress());
        assertEquals(bound, closing(listener.accept()).getRemoteAddress());
    }

    @Test
    void shouldBindToAnyAddressBeforeConnecting() throws IOException {
        ServerSocketChannel listener = listening();
        SocketChannel client = open();
        client.bind(null);
        int port = ((InetSocketAddress) client.getLocalAddress()).getPort();
        client.connect(listener.getLocalAddress());
        assertEquals(port, ((InetSocketAddress) client.getLocalAddress()).getPort());
    }

    @Test
    void shouldRefuseToBindTwice() throws IOException {
        SocketChannel client = open();
        client.bind(anyPort());
        assertThrows(AlreadyBoundException.class, () -> client.bind(anyPort()));
    }

    @Test
    void shouldRefuseToBindWhenConnected() throws IOException {
        Pair p = pair();
        assertThrows(AlreadyBoundException.class, () -> p.client().bind(null));
        assertThrows(AlreadyBoundException.class, () -> p.server().bind(null));
    }

    @Test
    void shouldRefuseToBindWhenClosed() throws IOException {
        SocketChannel client = open();
        client.close();
        assertThrows(ClosedChannelException.class, () -> client.bind(null));
    }

    @Test
    void shouldRefuseToBindToAPortInUse() throws IOException {
        ServerSocketChannel listener = listening();
        SocketChannel client = open();
        assertThrows(BindException.class, () -> client.bind(listener.getLocalAddress()));
        assertTrue(client.isOpen());
    }

    @Test
    void shouldRefuseToBindToAnAddressThatIsNotOurs() throws IOException {
        SocketChannel client = open();
        assertThrows(BindException.class, () -> client.bind(new InetSocketAddress("192.0.2.1", 0)));
    }

    @Tag("many")
    @Test
    void shouldConnectAgainAndAgain() throws IOException {
        ServerSocketChannel listener = listening();
        for (int i = 0; i < 50; i++) {
            try (SocketChannel client = kind().provider().openSocketChannel()) {
                client.connect(listener.getLocalAddress());
                try (SocketChannel server = listener.accept()) {
                    client.write(text("" + i % 10));
                    assertEquals("" + i % 10, read(server, 1));
                }
            }
        }
    }

    @Test
    void shouldOpenChannelsOfAFamily() throws IOException {
        ServerSocketChannel listener = closing(kind().provider().openServerSocketChannel(StandardProtocolFamily.INET));
        listener.bind(new InetSocketAddress("127.0.0.1", 0));
        SocketChannel client = closing(kind().provider().openSocketChannel(StandardProtocolFamily.INET));
        client.connect(listener.getLocalAddress());
        client.write(text("4"));
        assertEquals("4", read(closing(listener.accept()), 1));
    }

    @Test
    void shouldRefuseAddressesOfAnotherFamily() throws IOException {
        SocketChannel client = closing(kind().provider().openSocketChannel(StandardProtocolFamily.INET));
        assertThrows(UnsupportedAddressTypeException.class, () -> client.connect(new InetSocketAddress("::1", 1)));
    }

    @Test
    void shouldConnectToAWildcardAsToThisHost() throws IOException {
        ServerSocketChannel listener = openServer().bind(null);
        int port = ((InetSocketAddress) listener.getLocalAddress()).getPort();
        SocketChannel client = open();
        client.connect(new InetSocketAddress(port));
        client.write(text("w"));
        assertEquals("w", read(closing(listener.accept()), 1));
    }

    @Test
    void shouldDescribeItself() throws IOException {
        SocketChannel client = open();
        assertTrue(client.toString().contains("unconnected"), client.toString());
        Pair p = pair();
        assertTrue(
                p.client().toString().contains("connected local=/"), p.client().toString());
        p.client().shutdownInput().shutdownOutput();
        assertTrue(
                p.client().toString().contains("connected ishut oshut local=/"),
                p.client().toString());
        client.close();
        assertTrue(client.toString().contains("closed"), client.toString());
    }

    @Test
    void shouldSayInTheJdksOwnWayThatItIsClosed() throws IOException {
        for (boolean blocking : new boolean[] {true, false}) {
            Class<?> expected = blocking && Runtime.version().feature() < 24
                    ? AsynchronousCloseException.class
                    : ClosedChannelException.class;
            Pair p = pair();
            for (SocketChannel each : new SocketChannel[] {open(), p.client(), p.server()}) {
                each.configureBlocking(blocking);
                each.close();
                assertEquals(
                        expected,
                        assertThrows(ClosedChannelException.class, each::finishConnect)
                                .getClass());
                assertEquals(
                        expected,
                        assertThrows(
                                        ClosedChannelException.class,
                                        () -> each.connect(new InetSocketAddress("127.0.0.1", 1)))
                                .getClass());
            }
        }
    }

    @Test
    void shouldForgetItsAddressesWhenClosed() throws IOException {
        Pair p = pair();
        p.client().close();
        assertThrows(ClosedChannelException.class, p.client()::getLocalAddress);
        assertThrows(ClosedChannelException.class, p.client()::getRemoteAddress);
        assertFalse(p.client().isConnected());
        assertNotNull(p.server().getRemoteAddress());
    }
}
