/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.net;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.net.BindException;
import java.net.ConnectException;
import java.net.Inet4Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketAddress;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.net.UnknownHostException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledForJreRange;
import org.junit.jupiter.api.condition.JRE;

/** Binding and connecting a Socket, and what it says of its addresses. */
abstract class ConnectBehaviour extends SocketBehaviour {

    ConnectBehaviour(SocketKind kind) {
        super(kind);
    }

    @Test
    void shouldBeUnconnectedAtFirst() throws IOException {
        Socket socket = newSocket();
        assertFalse(socket.isConnected());
        assertFalse(socket.isBound());
        assertFalse(socket.isClosed());
        assertNull(socket.getInetAddress());
        assertEquals(0, socket.getPort());
        assertEquals(-1, socket.getLocalPort());
        assertNull(socket.getRemoteSocketAddress());
        assertNull(socket.getLocalSocketAddress());
        assertTrue(socket.getLocalAddress().isAnyLocalAddress());
        assertNull(socket.getChannel());
        assertEquals("Socket[unconnected]", socket.toString());
    }

    @Test
    void shouldConnectBeforeTheServerAccepts() throws IOException {
        ServerSocket server = listening();
        Socket client = connectTo(server);
        assertTrue(client.isConnected());
        client.getOutputStream().write(7);
        assertEquals(7, accept(server).getInputStream().read());
    }

    @Test
    void shouldKnowBothAddressesAtBothEnds() throws IOException {
        Pair pair = pair();
        assertEquals(pair.client().getLocalSocketAddress(), pair.server().getRemoteSocketAddress());
        assertEquals(pair.client().getRemoteSocketAddress(), pair.server().getLocalSocketAddress());
        assertEquals(host(), pair.client().getInetAddress());
        assertEquals(host(), pair.server().getLocalAddress());
        assertTrue(pair.client().isBound());
        assertTrue(pair.server().isBound());
        assertTrue(pair.server().isConnected());
    }

    @Test
    void shouldDescribeItselfByItsAddresses() throws IOException {
        Socket client = pair().client();
        assertEquals(
                "Socket[addr=" + client.getInetAddress() + ",port=" + client.getPort() + ",localport="
                        + client.getLocalPort() + "]",
                client.toString());
    }

    @Test
    void shouldKeepItsAddressesAfterClose() throws IOException {
        Socket client = pair().client();
        SocketAddress remote = client.getRemoteSocketAddress();
        int localPort = client.getLocalPort();
        client.close();
        assertEquals(remote, client.getRemoteSocketAddress());
        assertEquals(localPort, client.getLocalPort());
        assertTrue(client.getLocalAddress().isAnyLocalAddress());
        assertTrue(client.isConnected());
        assertTrue(client.isBound());
        assertTrue(client.isClosed());
    }

    @Test
    void shouldKeepAnAcceptedSocketsAddressesAfterClose() throws IOException {
        Socket accepted = pair().server();
        SocketAddress remote = accepted.getRemoteSocketAddress();
        int localPort = accepted.getLocalPort();
        accepted.close();
        assertEquals(remote, accepted.getRemoteSocketAddress());
        assertEquals(localPort, accepted.getLocalPort());
    }

    private int freePort() throws IOException {
        try (ServerSocket server = listening()) {
            return server.getLocalPort();
        }
    }

    @Test
    void shouldBeRefusedWhereNobodyListens() throws IOException {
        InetSocketAddress nobody = new InetSocketAddress(host(), freePort());
        Socket socket = newSocket();
        ConnectException e = assertThrows(ConnectException.class, () -> socket.connect(nobody));
        assertTrue(e.getMessage().startsWith("Connection refused"), e.getMessage());
        assertFalse(socket.isConnected());
    }

    @Test
    void shouldBeRefusedWithATimeoutToo() throws IOException {
        InetSocketAddress nobody = new InetSocketAddress(host(), freePort());
        Socket socket = newSocket();
        ConnectException e = assertThrows(ConnectException.class, () -> socket.connect(nobody, 20_000));
        assertTrue(e.getMessage().startsWith("Connection refused"), e.getMessage());
    }

    @Test
    void shouldNotBeOfUseAfterAFailedConnect() throws IOException {
        InetSocketAddress nobody = new InetSocketAddress(host(), freePort());
        ServerSocket server = listening();
        Socket socket = newSocket();
        assertThrows(ConnectException.class, () -> socket.connect(nobody));
        assertEquals(jdk() > 17, socket.isClosed());
        String closed = jdk() > 17 ? "Socket is closed" : "Socket closed";
        assertSocketException(closed, () -> socket.connect(server.getLocalSocketAddress()));
        assertSocketException(closed, () -> socket.setSoTimeout(1));
    }

    @Test
    void shouldNotResolveAnAddress() throws IOException {
        Socket socket = newSocket();
        InetSocketAddress unresolved = InetSocketAddress.createUnresolved("no-such-host.invalid", 80);
        assertThrowsSaying(UnknownHostException.class, "no-such-host.invalid", () -> socket.connect(unresolved));
    }

    @Test
    void shouldConnectOnlyOnce() throws IOException {
        ServerSocket server = listening();
        Socket client = connectTo(server);
        SocketException e = assertThrows(SocketException.class, () -> client.connect(server.getLocalSocketAddress()));
        assertEquals("already connected", e.getMessage().toLowerCase(Locale.ROOT));
        accept(server);
        assertTrue(client.isConnected());
    }

    @Test
    void shouldRejectArgumentsThatMakeNoSense() throws IOException {
        Socket socket = newSocket();
        SocketAddress address = new InetSocketAddress(host(), 1);
        assertThrows(IllegalArgumentException.class, () -> socket.connect(null));
        assertThrows(IllegalArgumentException.class, () -> socket.connect(address, -1));
        assertThrows(IllegalArgumentException.class, () -> socket.connect(new SocketAddress() {}));
        assertThrows(IllegalArgumentException.class, () -> socket.bind(new SocketAddress() {}));
    }

    @Test
    void shouldNotConnectAfterClose() throws IOException {
        ServerSocket server = listening();
        Socket socket = newSocket();
        socket.close();
        assertSocketException("Socket is closed", () -> socket.connect(server.getLocalSocketAddress()));
    }

    @Test
    void shouldConnectWithATimeoutToSpare() throws IOException {
        ServerSocket server = listening();
        Socket client = newSocket();
        client.connect(server.getLocalSocketAddress(), 20_000);
        client.getOutputStream().write(1);
        assertEquals(1, accept(server).getInputStream().read());
    }

    @Test
    void shouldReadWithoutALimitAfterConnectingWithOne() throws Exception {
        ServerSocket server = listening();
        Socket client = newSocket();
        client.connect(server.getLocalSocketAddress(), 2000);
        Socket accepted = accept(server);
        Work<Integer> reader = start(() -> client.getInputStream().read());
        Thread.sleep(2300);
        assertFalse(reader.isDone());
        accepted.getOutputStream().write(3);
        assertEquals(3, reader.get());
    }

    @Test
    void shouldTimeOutWhereNobodyAnswers() throws IOException {
        ServerSocket server = full();
        Socket socket = newSocket();
        assertThrowsSaying(
                SocketTimeoutException.class,
                "Connect timed out",
                () -> socket.connect(server.getLocalSocketAddress(), 200));
        assertEquals(jdk() > 17, socket.isClosed());
    }

    @Test
    void shouldEndAConnectByClosing() throws Exception {
        ServerSocket server = full();
        Socket socket = newSocket();
        Work<Void> connecting = start(() -> {
            socket.connect(server.getLocalSocketAddress());
            return null;
        });
        awaitWaiting(connecting);
        socket.close();
        assertSocketException("Socket closed", connecting::get);
    }

    @Test
    void shouldEndATimedConnectByClosing() throws Exception {
        ServerSocket server = full();
        Socket socket = newSocket();
        Work<Void> connecting = start(() -> {
            socket.connect(server.getLocalSocketAddress(), 50_000);
            return null;
        });
        awaitWaiting(connecting);
        socket.close();
        assertSocketException("Socket closed", connecting::get);
    }

    @Tag("jdk21")
    @EnabledForJreRange(min = JRE.JAVA_21)
    @Test
    void shouldEndAVirtualThreadsConnectByInterrupt() throws Exception {
        ServerSocket server = full();
        Socket socket = newSocket();
        Work<Boolean> connecting = startVirtual(() -> {
            assertSocketException("Closed by interrupt", () -> socket.connect(server.getLocalSocketAddress()));
            return Thread.interrupted();
        });
        awaitWaiting(connecting);
        connecting.thread.interrupt();
        assertTrue(connecting.get(), "the interrupt status stays set");
        assertTrue(socket.isClosed());
    }

    @Tag("jdk21")
    @EnabledForJreRange(min = JRE.JAVA_21)
    @Test
    void shouldConnectOnAVirtualThread() throws Exception {
        ServerSocket server = listening();
        Work<Socket> connecting = startVirtual(() -> connectTo(server));
        accept(server).getOutputStream().write(9);
        assertEquals(9, connecting.get().getInputStream().read());
    }

    @Test
    void shouldConnectAnInterruptedPlatformThread() throws Exception {
        ServerSocket server = listening();
        Work<Boolean> connecting = start(() -> {
            Thread.currentThread().interrupt();
            connectTo(server);
            return Thread.interrupted();
        });
        assertTrue(connecting.get());
        accept(server);
    }

    @Test
    void shouldConnectManyAtOnce() throws Exception {
        ServerSocket server = newServer();
        server.bind(new InetSocketAddress(host(), 0), 100);
        List<Work<Socket>> clients = new ArrayList<>();
        for (int i = 0; i < 30; i++) {
            clients.add(start(() -> connectTo(server)));
        }
        Set<SocketAddress> seen = new HashSet<>();
        for (int i = 0; i < clients.size(); i++) {
            seen.add(accept(server).getRemoteSocketAddress());
        }
        for (Work<Socket> client : clients) {
            assertTrue(seen.remove(client.get().getLocalSocketAddress()));
        }
        assertTrue(seen.isEmpty());
    }

    @Test
    void shouldReachTheLocalHostByTheWildcard() throws IOException {
        ServerSocket server = newServer();
        server.bind(new InetSocketAddress(0));
        Socket client = newSocket();
        InetSocketAddress wildcard = new InetSocketAddress(server.getLocalPort());
        InetAddress local;
        try {
            local = InetAddress.getLocalHost();
        } catch (UnknownHostException e) { // this host does not know its own name
            assertThrows(UnknownHostException.class, () -> client.connect(wildcard));
            return;
        }
        client.connect(wildcard);
        assertEquals(local, client.getInetAddress());
        closeLater(server.accept());
    }

    @Test
    void shouldBindBeforeConnecting() throws IOException {
        ServerSocket server = listening();
        Socket client = newSocket();
        client.bind(new InetSocketAddress(host(), 0));
        assertTrue(client.isBound());
        assertFalse(client.isConnected());
        int port = client.getLocalPort();
        assertNotEquals(0, port);
        assertEquals(new InetSocketAddress(host(), port), client.getLocalSocketAddress());
        client.connect(server.getLocalSocketAddress());
        assertEquals(port, client.getLocalPort());
        assertEquals(port, accept(server).getPort());
    }

    @Test
    void shouldBindToTheWildcardBeforeConnecting() throws IOException {
        ServerSocket server = listening();
        Socket client = newSocket();
        client.bind(null);
        int port = client.getLocalPort();
        assertTrue(client.getLocalAddress().isAnyLocalAddress());
        client.connect(server.getLocalSocketAddress());
        assertEquals(port, client.getLocalPort());
        assertEquals(host(), client.getLocalAddress());
        assertEquals(port, accept(server).getPort());
    }

    @Test
    void shouldBindOnlyOnce() throws IOException {
        Socket socket = newSocket();
        socket.bind(null);
        assertSocketException("Already bound", () -> socket.bind(null));
    }

    @Test
    void shouldNotBindAfterConnecting() throws IOException {
        Pair pair = pair();
        assertSocketException("Already bound", () -> pair.client().bind(null));
        assertSocketException("Already bound", () -> pair.server().bind(null));
    }

    @Test
    void shouldNotBindAfterClose() throws IOException {
        Socket socket = newSocket();
        socket.close();
        assertSocketException("Socket is closed", () -> socket.bind(null));
    }

    @Test
    void shouldNotBindToAPortInUse() throws IOException {
        ServerSocket server = listening();
        Socket socket = newSocket();
        BindException e = assertThrows(BindException.class, () -> socket.bind(server.getLocalSocketAddress()));
        assertTrue(e.getMessage().startsWith("Address already in use"), e.getMessage());
    }

    @Test
    void shouldNotBindToAnothersAddress() throws IOException {
        Socket socket = newSocket();
        BindException e = assertThrows(BindException.class, () -> socket.bind(new InetSocketAddress("192.0.2.1", 0)));
        assertTrue(e.getMessage().startsWith("Cannot assign requested address"), e.getMessage());
    }

    @Test
    void shouldNotBindToAnUnresolvedAddress() throws IOException {
        Socket socket = newSocket();
        assertSocketException(
                "Unresolved address", () -> socket.bind(InetSocketAddress.createUnresolved("localhost", 0)));
    }

    @Test
    void shouldHoldItsPortWhileConnected() throws IOException {
        ServerSocket server = listening();
        Socket client = newSocket();
        client.bind(new InetSocketAddress(host(), 0));
        client.connect(server.getLocalSocketAddress());
        Socket second = newSocket();
        assertThrows(BindException.class, () -> second.bind(new InetSocketAddress(host(), client.getLocalPort())));
        accept(server);
    }

    @Test
    void shouldConnectOverIpv6() throws IOException {
        Assumptions.assumeTrue(hasIpv6(), "no IPv6 on this host");
        ServerSocket server = newServer();
        server.bind(new InetSocketAddress(host6(), 0));
        Socket client = connectTo(server);
        Socket accepted = accept(server);
        assertEquals(client.getLocalSocketAddress(), accepted.getRemoteSocketAddress());
        accepted.getOutputStream().write(6);
        assertEquals(6, client.getInputStream().read());
    }

    @Test
    void shouldTakeAnIpv4MappedAddressAsIpv4() throws IOException {
        ServerSocket server = listening();
        Socket client = newSocket();
        byte[] v4 = host().getAddress();
        byte[] mapped = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, -1, -1, v4[0], v4[1], v4[2], v4[3]};
        client.connect(new InetSocketAddress(InetAddress.getByAddress(mapped), server.getLocalPort()));
        assertInstanceOf(Inet4Address.class, client.getInetAddress());
        assertInstanceOf(Inet4Address.class, client.getLocalAddress());
        assertInstanceOf(Inet4Address.class, accept(server).getInetAddress());
    }

    @Test
    void shouldGiveNoStreamsBeforeConnecting() throws IOException {
        Socket socket = newSocket();
        assertSocketException("Socket is not connected", socket::getInputStream);
        assertSocketException("Socket is not connected", socket::getOutputStream);
    }

    @Tag("many")
    @Test
    void shouldConnectAgainAndAgain() throws IOException {
        ServerSocket server = listening();
        for (int i = 0; i < 100; i++) {
            try (Socket client = connectTo(server);
                    Socket accepted = accept(server)) {
                client.getOutputStream().write(i);
                assertEquals(i, accepted.getInputStream().read());
            }
        }
    }
}
