/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.net;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.net.BindException;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketAddress;
import java.net.SocketException;
import java.net.SocketOption;
import java.net.SocketTimeoutException;
import java.net.StandardSocketOptions;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledForJreRange;
import org.junit.jupiter.api.condition.JRE;

/** ServerSocket: binding, accepting, its options, and its end. */
abstract class ServerBehaviour extends SocketBehaviour {

    ServerBehaviour(SocketKind kind) {
        super(kind);
    }

    // ---- binding ----

    @Test
    void shouldBeUnboundAtFirst() throws IOException {
        ServerSocket server = newServer();
        assertFalse(server.isBound());
        assertEquals(-1, server.getLocalPort());
        assertNull(server.getInetAddress());
        assertNull(server.getLocalSocketAddress());
        assertNull(server.getChannel());
        assertEquals("ServerSocket[unbound]", server.toString());
    }

    @Test
    void shouldGetAPortOfItsOwn() throws IOException {
        ServerSocket server = listening();
        assertTrue(server.isBound());
        assertTrue(server.getLocalPort() > 0);
        assertEquals(host(), server.getInetAddress());
        assertEquals(new InetSocketAddress(host(), server.getLocalPort()), server.getLocalSocketAddress());
        assertNotEquals(server.getLocalPort(), listening().getLocalPort());
    }

    @Test
    void shouldDescribeItselfByItsAddress() throws IOException {
        ServerSocket server = listening();
        assertEquals(
                "ServerSocket[addr=" + server.getInetAddress() + ",localport=" + server.getLocalPort() + "]",
                server.toString());
    }

    @Test
    void shouldBindToAGivenPort() throws IOException {
        int port;
        try (ServerSocket first = listening()) {
            port = first.getLocalPort();
        }
        ServerSocket server = newServer();
        server.bind(new InetSocketAddress(host(), port));
        assertEquals(port, server.getLocalPort());
        Socket client = connectTo(server);
        accept(server).getOutputStream().write(1);
        assertEquals(1, client.getInputStream().read());
    }

    @Test
    void shouldBindAgainAtOnceWhileOldConnectionsLive() throws IOException {
        ServerSocket first = listening();
        Socket client = connectTo(first);
        Socket accepted = accept(first);
        first.close();
        ServerSocket second = newServer();
        second.bind(new InetSocketAddress(host(), first.getLocalPort()));
        connectTo(second);
        accept(second);
        accepted.getOutputStream().write(4);
        assertEquals(4, client.getInputStream().read());
    }

    @Test
    void shouldBindAgainAtOnceAfterItsConnectionsClosed() throws IOException {
        ServerSocket first = listening();
        Socket client = connectTo(first);
        accept(first).close();
        client.close();
        first.close();
        ServerSocket second = newServer();
        second.bind(new InetSocketAddress(host(), first.getLocalPort()));
        connectTo(second);
        accept(second);
    }

    @Test
    void shouldNotBindToAPortInUse() throws IOException {
        ServerSocket first = listening();
        ServerSocket second = newServer();
        BindException e = assertThrows(BindException.class, () -> second.bind(first.getLocalSocketAddress()));
        assertTrue(e.getMessage().startsWith("Address already in use"), e.getMessage());
        assertFalse(second.isBound());
        connectTo(first);
        accept(first);
    }

    @Test
    void shouldNotBindToAnothersAddress() throws IOException {
        ServerSocket server = newServer();
        BindException e = assertThrows(BindException.class, () -> server.bind(new InetSocketAddress("192.0.2.1", 0)));
        assertTrue(e.getMessage().startsWith("Cannot assign requested address"), e.getMessage());
    }

    @Test
    void shouldBindOnlyOnce() throws IOException {
        ServerSocket server = listening();
        assertSocketException("Already bound", () -> server.bind(null));
    }

    @Test
    void shouldNotBindAfterClose() throws IOException {
        ServerSocket server = newServer();
        server.close();
        assertSocketException("Socket is closed", () -> server.bind(null));
    }

    @Test
    void shouldNotBindToAnUnresolvedAddress() throws IOException {
        ServerSocket server = newServer();
        assertSocketException(
                "Unresolved address", () -> server.bind(InetSocketAddress.createUnresolved("localhost", 0)));
        assertThrows(IllegalArgumentException.class, () -> server.bind(new SocketAddress() {}));
    }

    @Test
    void shouldListenOnAllAddresses() throws IOException {
        ServerSocket server = newServer();
        server.bind(null);
        assertTrue(server.getInetAddress().isAnyLocalAddress());
        Socket client = newSocket();
        client.connect(new InetSocketAddress(host(), server.getLocalPort()));
        Socket accepted = accept(server);
        assertEquals(host(), accepted.getLocalAddress());
        accepted.getOutputStream().write(1);
        assertEquals(1, client.getInputStream().read());
    }

    @Test
    void shouldServeBothFamiliesOnAllAddresses() throws IOException {
        Assumptions.assumeTrue(hasIpv6(), "no IPv6 on this host");
        ServerSocket server = newServer();
        server.bind(new InetSocketAddress(0));
        for (InetAddress address : List.of(host(), host6())) {
            Socket client = newSocket();
            client.connect(new InetSocketAddress(address, server.getLocalPort()));
            Socket accepted = accept(server);
            assertEquals(address, accepted.getLocalAddress());
            assertEquals(client.getLocalSocketAddress(), accepted.getRemoteSocketAddress());
        }
    }

    // ---- accepting ----

    @Test
    void shouldNotAcceptUnbound() throws IOException {
        ServerSocket server = newServer();
        assertSocketException("Socket is not bound yet", server::accept);
    }

    @Test
    void shouldNotAcceptAfterClose() throws IOException {
        ServerSocket server = listening();
        server.close();
        assertSocketException("Socket is closed", server::accept);
    }

    @Test
    void shouldWaitForAClient() throws Exception {
        ServerSocket server = listening();
        Work<Socket> acceptor = start(() -> accept(server));
        awaitWaiting(acceptor);
        assertFalse(acceptor.isDone());
        Socket client = connectTo(server);
        assertEquals(client.getLocalPort(), acceptor.get().getPort());
    }

    @Tag("jdk21")
    @EnabledForJreRange(min = JRE.JAVA_21)
    @Test
    void shouldAcceptOnAVirtualThread() throws Exception {
        ServerSocket server = listening();
        Work<Socket> acceptor = startVirtual(() -> accept(server));
        awaitWaiting(acceptor);
        Socket client = connectTo(server);
        assertEquals(client.getLocalPort(), acceptor.get().getPort());
    }

    @Tag("many")
    @Test
    void shouldAcceptOneAfterTheOther() throws IOException {
        ServerSocket server = listening();
        for (int i = 0; i < 50; i++) {
            Socket client = connectTo(server);
            assertEquals(client.getLocalPort(), accept(server).getPort());
        }
    }

    @Test
    void shouldAcceptAllThatWait() throws IOException {
        ServerSocket server = listening();
        List<Integer> ports = new ArrayList<>();
        for (int i = 0; i < 20; i++) {
            ports.add(connectTo(server).getLocalPort());
        }
        for (int i = 0; i < 20; i++) {
            assertTrue(ports.remove((Integer) accept(server).getPort()));
        }
    }

    @Test
    void shouldAcceptInManyThreads() throws Exception {
        ServerSocket server = listening();
        List<Work<Socket>> acceptors = new ArrayList<>();
        for (int i = 0; i < 8; i++) {
            acceptors.add(start(() -> accept(server)));
        }
        List<Integer> ports = new ArrayList<>();
        for (int i = 0; i < 8; i++) {
            ports.add(connectTo(server).getLocalPort());
        }
        for (Work<Socket> acceptor : acceptors) {
            assertTrue(ports.remove((Integer) acceptor.get().getPort()));
        }
    }

    @Test
    void shouldAcceptAClientThatIsGoneAlready() throws IOException {
        ServerSocket server = listening();
        Socket client = connectTo(server);
        client.getOutputStream().write(new byte[] {1, 2, 3});
        client.close();
        assertEquals(3, accept(server).getInputStream().readAllBytes().length);
    }

    @Test
    void shouldAcceptWithTimeToSpare() throws IOException {
        ServerSocket server = listening();
        server.setSoTimeout(40_000);
        Socket client = connectTo(server);
        Socket accepted = accept(server);
        assertEquals(client.getLocalPort(), accepted.getPort());
        assertEquals(0, accepted.getSoTimeout(), "the server's timeout is for accept");
    }

    @Test
    void shouldGiveUpAcceptingInTime() throws IOException {
        ServerSocket server = listening();
        server.setSoTimeout(50);
        assertThrowsSaying(SocketTimeoutException.class, "Accept timed out", server::accept);
        assertThrowsSaying(SocketTimeoutException.class, "Accept timed out", server::accept);
        assertFalse(server.isClosed());
        server.setSoTimeout(0); // a client that has connected may be a while on its way to the server
        connectTo(server);
        accept(server);
    }

    @Tag("jdk21")
    @EnabledForJreRange(min = JRE.JAVA_21)
    @Test
    void shouldGiveUpAcceptingOnAVirtualThread() throws Exception {
        ServerSocket server = listening();
        server.setSoTimeout(50);
        assertThrowsSaying(SocketTimeoutException.class, "Accept timed out", () -> startVirtual(server::accept)
                .get());
    }

    @Test
    void shouldGiveEveryAcceptorItsTimeout() throws Exception {
        ServerSocket server = listening();
        server.setSoTimeout(100);
        Work<Socket> first = start(server::accept);
        Work<Socket> second = start(server::accept);
        assertThrows(SocketTimeoutException.class, first::get);
        assertThrows(SocketTimeoutException.class, second::get);
    }

    @Test
    void shouldEndAnAcceptByClosing() throws Exception {
        ServerSocket server = listening();
        Work<Socket> acceptor = start(server::accept);
        awaitWaiting(acceptor);
        server.close();
        assertSocketException("Socket closed", acceptor::get);
    }

    @Test
    void shouldEndATimedAcceptByClosing() throws Exception {
        ServerSocket server = listening();
        server.setSoTimeout(50_000);
        Work<Socket> acceptor = start(server::accept);
        awaitWaiting(acceptor);
        server.close();
        assertSocketException("Socket closed", acceptor::get);
    }

    @Tag("jdk21")
    @EnabledForJreRange(min = JRE.JAVA_21)
    @Test
    void shouldEndAVirtualThreadsAcceptByClosing() throws Exception {
        ServerSocket server = listening();
        Work<Socket> acceptor = startVirtual(server::accept);
        awaitWaiting(acceptor);
        server.close();
        assertSocketException("Socket closed", acceptor::get);
    }

    @Test
    void shouldEndAllAcceptsByClosing() throws Exception {
        ServerSocket server = listening();
        Work<Socket> first = start(server::accept);
        Work<Socket> second = start(server::accept);
        awaitWaiting(first, second);
        server.close();
        assertSocketException("Socket closed", first::get);
        assertSocketException("Socket closed", second::get);
    }

    @Test
    void shouldNotNoticeAnInterruptOnAPlatformThread() throws Exception {
        ServerSocket server = listening();
        Work<Boolean> acceptor = start(() -> {
            accept(server);
            return Thread.interrupted();
        });
        awaitWaiting(acceptor);
        acceptor.thread.interrupt();
        awaitWaiting(acceptor);
        assertFalse(acceptor.isDone());
        connectTo(server);
        assertTrue(acceptor.get());
    }

    @Test
    void shouldAcceptOnAPlatformThreadThatIsInterruptedAlready() throws Exception {
        ServerSocket server = listening();
        Work<Boolean> acceptor = start(() -> {
            Thread.currentThread().interrupt();
            accept(server);
            return Thread.interrupted();
        });
        awaitWaiting(acceptor);
        connectTo(server);
        assertTrue(acceptor.get());
    }

    @Test
    void shouldGiveUpNoSoonerOnAPlatformThreadThatIsInterruptedAlready() throws Exception {
        ServerSocket server = listening();
        server.setSoTimeout(100);
        Work<Boolean> acceptor = start(() -> {
            Thread.currentThread().interrupt();
            return givesUpNoSoonerThan(100, server) && Thread.interrupted();
        });
        assertTrue(acceptor.get(), "the interrupt status stays set");
    }

    @Test
    void shouldGiveUpNoSoonerOnAPlatformThreadThatIsInterruptedMeanwhile() throws Exception {
        ServerSocket server = listening();
        server.setSoTimeout(600);
        Work<Boolean> acceptor = start(() -> givesUpNoSoonerThan(600, server) && Thread.interrupted());
        while (!acceptor.isDone()) { // one of them at least comes while it waits
            acceptor.thread.interrupt();
            aMoment();
        }
        assertTrue(acceptor.get(), "the interrupt status stays set");
    }

    private static boolean givesUpNoSoonerThan(int millis, ServerSocket server) {
        long start = System.nanoTime();
        assertThrowsSaying(SocketTimeoutException.class, "Accept timed out", server::accept);
        long waited = System.nanoTime() - start;
        assertTrue(waited >= millis * 1_000_000L, () -> "gave up after " + waited + " ns of " + millis + " ms");
        return true;
    }

    @Tag("jdk21")
    @EnabledForJreRange(min = JRE.JAVA_21)
    @Test
    void shouldCloseWhenAnAcceptingVirtualThreadIsInterrupted() throws Exception {
        ServerSocket server = listening();
        Work<Boolean> acceptor = startVirtual(() -> {
            assertSocketException("Closed by interrupt", server::accept);
            return Thread.interrupted();
        });
        awaitWaiting(acceptor);
        acceptor.thread.interrupt();
        assertTrue(acceptor.get());
        assertTrue(server.isClosed());
    }

    // ---- options ----

    @Test
    void shouldReadEverySupportedOption() throws IOException {
        for (ServerSocket server : List.of(newServer(), listening())) {
            assertTrue(server.supportedOptions().contains(StandardSocketOptions.SO_RCVBUF));
            for (SocketOption<?> option : server.supportedOptions()) {
                assertNotNull(server.getOption(option), option.name());
            }
        }
    }

    @Test
    void shouldReuseItsAddressByDefault() throws IOException {
        ServerSocket server = newServer();
        assertTrue(server.getReuseAddress());
        server.setReuseAddress(false);
        assertFalse(server.getReuseAddress());
    }

    @Test
    void shouldRememberItsTimeout() throws IOException {
        for (ServerSocket server : List.of(newServer(), listening())) {
            assertEquals(0, server.getSoTimeout());
            server.setSoTimeout(500);
            assertEquals(500, server.getSoTimeout());
            assertThrows(IllegalArgumentException.class, () -> server.setSoTimeout(-1));
        }
    }

    @Test
    void shouldKeepATimeoutSetBeforeBinding() throws IOException {
        ServerSocket server = newServer();
        server.setSoTimeout(60);
        server.bind(new InetSocketAddress(host(), 0));
        assertEquals(60, server.getSoTimeout());
        assertThrows(SocketTimeoutException.class, server::accept);
    }

    @Test
    void shouldPassItsReceiveBufferOn() throws IOException {
        ServerSocket server = newServer();
        server.setReceiveBufferSize(40_000);
        assertEquals(40_000, server.getReceiveBufferSize());
        server.bind(new InetSocketAddress(host(), 0));
        connectTo(server);
        assertEquals(40_000, accept(server).getReceiveBufferSize());
    }

    @Test
    void shouldRejectOptionsThatMakeNoSense() throws IOException {
        ServerSocket server = listening();
        assertThrows(
                UnsupportedOperationException.class, () -> server.setOption(StandardSocketOptions.TCP_NODELAY, true));
        assertThrows(UnsupportedOperationException.class, () -> server.getOption(StandardSocketOptions.SO_LINGER));
        assertThrows(IllegalArgumentException.class, () -> server.setReceiveBufferSize(0));
        assertThrows(IllegalArgumentException.class, () -> server.setOption(StandardSocketOptions.SO_RCVBUF, -1));
    }

    @Test
    void shouldRefuseOptionsOnceClosed() throws IOException {
        ServerSocket server = listening();
        server.close();
        assertSocketException("Socket is closed", server::getSoTimeout);
        assertSocketException("Socket is closed", () -> server.setSoTimeout(1));
        assertSocketException("Socket is closed", server::getReuseAddress);
        assertSocketException("Socket is closed", server::getReceiveBufferSize);
    }

    // ---- the end ----

    @Test
    void shouldKeepItsAddressAfterClose() throws IOException {
        ServerSocket server = listening();
        SocketAddress address = server.getLocalSocketAddress();
        server.close();
        server.close();
        assertTrue(server.isClosed());
        assertTrue(server.isBound());
        assertEquals(address, server.getLocalSocketAddress());
    }

    @Test
    void shouldRefuseClientsOnceClosed() throws IOException {
        ServerSocket server = listening();
        server.close();
        Socket client = newSocket();
        assertThrows(ConnectException.class, () -> client.connect(server.getLocalSocketAddress()));
    }

    @Test
    void shouldLeaveAcceptedConnectionsOpen() throws IOException {
        ServerSocket server = listening();
        Socket client = connectTo(server);
        Socket accepted = accept(server);
        server.close();
        client.getOutputStream().write(5);
        assertEquals(5, accepted.getInputStream().read());
    }

    @Test
    void shouldResetConnectionsThatNobodyAccepted() throws IOException {
        ServerSocket server = listening();
        Socket client = connectTo(server);
        server.close();
        assertThrows(SocketException.class, () -> {
            for (int i = 0; i < 1000; i++) {
                client.getOutputStream().write(1);
                client.setSoTimeout(20);
                try {
                    client.getInputStream().read();
                } catch (SocketTimeoutException e) {
                    // not reset yet
                }
            }
        });
    }
}
